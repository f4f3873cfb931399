#!/usr/bin/lua
local a, b = 1, 2
local c
a, b = b, a
a = a; ;
do local x = a end
while a < b do a = a + 1 end
repeat a = a - 1 until a <= 0
if a then b = 1 elseif b then b = 2 elseif c then b = 3 else b = 4 end
if a then end
for i = 1, 10 do print(i) end
for i = 10, 1, -1 do if i == 5 then break end end
for k, v in pairs(t) do t[k] = nil end
goto done
::done::
local function f() return end
function g(x, y, ...) return x, y, ... end
function m.n.o(...) return (...) end
function m.n:p(x) return self, x; end
