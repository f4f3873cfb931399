void f(int a) {
  ;
  { int a; }
  if (a) a = 1;
  if (a) { } else if (a) a; else { }
  switch (a) { case 1: case 'a' ... 'z': a++; break; default: continue; }
  while (a) a--;
  do a--; while (a);
  for (;;) break;
  for (a = 0; a < 3; a++) { continue; }
  for (int i = 0, j = 1; ; ) if (i) goto out; else label: j;
  for (size n = 0; n; --n);
  if (a) case 3: default: deep: a = 3;
  goto *table[a];
  return;
  return a, 1;
  last:
  int after_a_label;
  _Static_assert(1, "");
  __extension__ int b = 1;
  __extension__ int g(void) { }
  out:
}
