[#inst]
