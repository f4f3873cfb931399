int f(void) { else a; }
