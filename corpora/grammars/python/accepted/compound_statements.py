@shelf
@shelf.row(1)
class A:
    pass

class B(A, metaclass=M): a = 1
class C[T](): ...

def f(): return
@f
async def g[T: int, *U, **V](a: T) -> int:
    global x, y
    def h():
        nonlocal z
        return z, *z
    async for a, b in c: break
    else:
        pass
    async with a as b: pass
    return await a

if a: b
elif (c := d): e
elif f:
    g
else: h

while a:
    continue
else:
    pass

for a in b, *c:
    pass
for a, *b in c: pass
for (a.b) in c: pass
for [a, b[0]] in c: pass

with a, b as c, d as (e, f): pass
with (a as b, c,):
    pass
with (a): pass
with (yield): pass

try: a
finally: b
try: a
except: b
try:
    a
except A:
    b
except (A, B) as c:
    d
else:
    e
finally:
    f
try: a
except* A: b
except* B as c: d
