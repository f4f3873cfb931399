int sum(int a, int b) { return a + b; }
size count(size n) { return n; }
static size *next(size *n) { return n + 1; }
size const last(void) { return 0; }
static plain(void) { }
main() { return 0; }
untyped(int a) { }
int old(a, b) int a; char *b; { return a; }
char *(older(a)) char *a; { return a; }
int (*oldest(a))(int) int a; { return 0; }
static forgotten(a) register a; { }
forgotten_too(a) size *a; { }
__extension__ int extended(void) { }
int (*pointer(void))(int) { return 0; }
int (bracketed)(void) { }
int (__attribute__((unused)) *also(void))[2] { }
__attribute__((noreturn)) void done(void);
void nested(void) {
  __label__ here, there;
  int inner(int a) { return a; }
  auto size typed(size a);
  size typed(size a) { return a; }
  here: there: inner(1);
}
