int x = a ? b : c ? d : e, y = a ?: b, z = (a, b, c);
void f(void) {
  a = b *= c /= d %= e += f -= g <<= h >>= i &= j ^= k |= 1;
  a || b && c | d ^ e & f == g != h < i > j <= k >= l << m >> n + o - p * q / r % s;
  -+~!*&a;
  ++a; --a; a++; a--;
  a.b->c[d](e)(f, g)++;
  __real__ a + __imag__ a + __real a + __imag a;
  __extension__ 1;
  p = &&label;
  x = ({ int y = 1; y; }) + ({ });
  x = ((const char *)({ 1; }));
  x = _Generic(a, int: 1, size: 2, char *: 3, default: 4);
  x = __builtin_va_arg(ap, int) + va_arg(ap, size *) + va_arg(ap, size);
  x = __builtin_offsetof(struct s, a.b[2]->c) + offsetof(size, d);
  x = __builtin_types_compatible_p(int, size) + __builtin_types_compatible_p(typeof(a), int[]);
  x = __builtin_convertvector(v, vector);
  x = __func__;
  sizeof sizeof -a;
}
