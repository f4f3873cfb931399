void f(void) {
  a * b;
  a * b = c;
  a (b);
  a (*b)(void) = c;
  a b, *c, (d);
  a b[2] = { 1 };
  a (b), c;
  x = (a) * b + (a) & b - (a) + b - (a) - b;
  x = (a)(b);
  x = (a)(b, c)->d;
  (a)(b)->c = d;
  x = (a)();
  x = (a)b + (a)1 + (a)"s" + (a)~b + (a)!b + (a)++b + (a)sizeof b;
  x = (a *)b + (a **)(b) + (a (*)(int))b + (a const)b + (const a)b + (a *(*)[2])-b + (int)-b + (struct s *)&b;
  x = (a)(b)c + (a)(int)c + (int)(a)(c);
  x = (a (*(*)(int))[3])b;
  x = sizeof(a) + sizeof(a) * b + sizeof(a *) + sizeof a + sizeof(int) - 1 + sizeof(a[3]) + sizeof(const a) + sizeof(int){ 1 };
  x = _Alignof(int) + __alignof__(a) + __alignof a;
  typeof(a) c; __typeof__(a *) d; __typeof(int) e; typeof(1 + 2) g; __auto_type h = 1;
  x = (a){ 1 } .b + (a[]){ 1, 2 }[0] + (struct s){ }.c;
  if (a) (b) * c;
}
a(b);
a *c(a d);
