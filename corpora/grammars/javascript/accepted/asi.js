// Where a line break ends a statement, and comments do so, too.
var a = 1
var b = a /* one
two */ b = 2
let c
const d = function () { return a }
a = b
/re/.test(c)
return_: while (1) { break return_ }
if (a) { b } c
;[1].map(f)
import.meta
