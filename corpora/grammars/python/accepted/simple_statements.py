import shelf
import shelf.row as row, shelf.row.slot
from shelf import *
from shelf import row
from .shelf import row as r, slot
from . import (
    match, case as c,
)
from ....deep.shelf import type
from ... import slot

pass; pass;
a = b = c = 1, *d
a, *b = c
(a) = [b, (c)] = *d,
[] = () = a
(a, b) = [c]
(a,) = b
a.b[c].d = yield
a[b] += 1
(a) -= yield a
a *= 1; a @= 1; a /= 1; a %= 1; a &= 1; a |= 1; a ^= 1; a <<= 1; a >>= 1; a **= 1; a //= 1
a: int
a: int = 1
a: int = yield
(a.b): int = *c, d
a.b: int
a[0]: (int, str) = 1
del a, b.c, d[0], (e), [f, g], (h, i), (j,), [], ()
assert a
assert a, "no"
global_names = None
type Pair = tuple[int, int]
type Pair[A: (int, str), *B, **C] = dict[A, B]
yield
await a
raise
