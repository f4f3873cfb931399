-- a line
--[ no bracket
--[=no bracket either
--[[ two
lines ]] local a = 1
--[==[ with ]] and ]=] in it ]==]
--
return a --[[at the end]]
