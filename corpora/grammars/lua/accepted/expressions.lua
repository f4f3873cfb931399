local x = a or b and c < d
local y = a > b == (c <= d) ~= (e >= f)
local bits = a | b ~ c & d << 1 >> 2
local text = "a" .. 'b' .. [[c]]
local sum = 1 + 2 - 3 * 4 / 5 // 6 % 7
local signs = not a, #t, -x, ~y, - - x
local power = -x ^ 2 ^ -y
local words = { nil, false, true, function(...) return ... end }
f() g { } h "text" (1) : method "x" [1].field = 1
obj:method(1, 2):other { 1 } [ [[k]] ] = (f)(x)
