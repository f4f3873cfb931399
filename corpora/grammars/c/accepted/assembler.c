asm("nop");
__asm__("a" "b");
void f(void) {
  asm("nop");
  __asm__ volatile ("" : : : "memory");
  __asm __volatile__ ("mov %1, %0" : "=r" (a), [name] "+m" (*b) : "r" (c), "i" (1) : "cc", "memory");
  asm goto ("" : : "r" (a) : : out, in);
  asm inline ("" :);
  asm ("" : "=r" (a) :);
  asm ("" ::: );
  asm goto ("" :::: out);
}
