match a:
    case 1 | -2 | 3.5 | 1 + 2j | -1 - 2j: pass
    case "a" "b" | None | True | False: pass
    case _: pass
    case a.b.c: pass
    case (a): pass
    case (a | b) as c if c > 1: pass
match a, *b:
    case [a, *_]: pass
    case []: pass
    case (): pass
    case (a,): pass
    case (a, *b, c): pass
    case a, b: pass
    case *a,: pass
match (a):
    case {}: pass
    case {"a": 1, -1: b, c.d: e, **f}: pass
    case {**a,}: pass
    case A(): pass
    case A.B(c, d, e=f, g=1,): pass
    case A(b=c): pass
match a := b:
    case case if match:
        pass
match a,:
    case match: pass
