{ function f() { let x = 1 } }
let last
