__attribute__(()) int a;
__attribute__((unused, , __const__, const, __const)) static int b;
__attribute((format(printf, 1, 2), alias("b"), mode(DI), cleanup())) int c;
typedef float vector __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(int *))));
int d, __attribute__((section(".text"))) e __attribute__((used)) = 1;
void f(int a) {
  switch (a) {
  case 1: a = 2; __attribute__((fallthrough));
  default: ;
  }
unused: __attribute__((unused)) a = 1;
}
