local n = { 0, 3.0, 3., .5, 314.16e-2, 0.31416E+1, 34e1, 0xff, 0xBEBADA, 0x0.1E, 0xA.p1, 0X1.921FB54442D18P+1, 0x.8p-1 }
local s = { "a\a\b\f\n\r\t\v\\\"\'", 'it"s', "\z
    blanks are left out", "\x41\065\10\u{48}", "two \
lines", [[long
string]], [=[with ]] in it]=], [==[ ]=] ]==], [===[ ]==] ]===] }
