int f(void) __attribute__((unused)) { }
