a if b else c if d else e
a or b and not c
a < b <= c == d != e >= f > g
a in b; a not in b; a is b; a is not b
a | b ^ c & d << e >> f
a + b - c * d / e // f % g @ h
-a ** -b; +a; ~a; not not a
await_ = a.b(c)[d].e
()
(a)
(a,)
(a, *b)
(a := b)
(yield)
(yield from a)
(yield a, b)
[]
[a, *b,]
[a := 1, b]
{a, *b}
{a: b, **c, d: e,}
{}
[a for b in c]
[a for b, in c if d if e for f in g]
{a for b in c}
{a: b for c, d in e}
(a async for b in c)
f(a for b in c)
f()
f(a, b, *c, d := e,)
f(a, *b, c=d, *e, f=g, **h, i=j)
f(a=1)
f(**a, **b, c=1)
f(a)(b)[c].d
a[b]; a[b, c]; a[b:c]; a[b:c:d]; a[:]; a[::]; a[::b]; a[*b]; a[b:, ..., c := d]
True; False; None; ...; 1
match(a); match[a]; match.a; match = case = type = _ = 1
type(a); case.b; type
*a, b
lambda: a
