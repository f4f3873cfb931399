void f(void) { do a; }
