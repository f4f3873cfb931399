f"{a"
