#include <stdio.h>
# 1 "file.c" 2
#define MAX(a, b) \
  ((a) > (b) ? \
   (a) : (b))
#define ONE 1 /* that is
   one */
#define TWO 2 // it's two
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__cplusplus) /* too */
}
#endif
#if 0
don't read this
#else
int read = MAX(ONE, 2);
#endif
// a comment that goes on \
   here
int main(void) /* a * comment **/ {
  #pragma omp parallel
  return va_arg(list, int) / /* over */ 2;
}
