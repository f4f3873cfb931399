local function f.g() end
