;
typedef unsigned long size;
typedef int (*compare)(const void *, const void *), row[4];
extern int first, *second, third[], (*fourth)[3];
static const volatile char *const restrict fifth = 0, sixth = 'c';
_Thread_local static int seventh;
static __thread size eighth = 1;
size ninth, *tenth, (eleventh);
size const twelfth = 12;
const size thirteenth = 13;
size (fourteenth), (*fifteenth)(void) = 0;
static implicit, *implicit_too = 0, implicit_function();
const implicit_constant = 3;
long int unsigned long words;
short _Bool;
signed char a; __signed b; __signed__ c; float d; double e; void *f;
double _Complex g; __complex float h; __complex__ int i;
__int128 j; __float128 k; _Float16 l; _Float32 m; _Float64 n; _Float128 o; _Float32x p; _Float64x q;
_Decimal32 r; _Decimal64 s; _Decimal128 t;
_Atomic int u; _Atomic(int *) v; _Alignas(16) char w; _Alignas(double) char x; int _Alignas(size *) y;
_Static_assert(sizeof(int) == 4, "four" " bytes");
_Static_assert(1);
inline int in(void) { return 1; }
static __inline int in_too(void) { return 1; }
__inline__ _Noreturn void out(void) { for (;;); }
const char __const *__const__ z; int __volatile aa; int __volatile__ *__restrict bb; int *__restrict__ cc;
__extension__ typedef long long longer;
