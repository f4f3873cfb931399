def f(a): pass
def f(a,): pass
def f(a, b: int, /, c, d=1, e: int = 2, *f, g, h=3, **i): pass
def f(a, b=1, /, c=2, *, d, e=3): pass
def f(a=1, /): pass
def f(a=1, b=2, *c: int): pass
def f(a, /, *, b, **c,): pass
def f(*a: *b): pass
def f(*, a): pass
def f(**a: int): pass
a = lambda: 0
a = lambda a: 0
a = lambda a, b, /, c, d=1, *e, f, g=2, **h: 0
a = lambda a, b=1, /, c=2, *, d, e=3: 0
a = lambda a=1, *b: 0
a = lambda *, a: 0
a = lambda **a: 0
a = lambda a,: lambda *b,: (yield)
