int f(void) { if (a) { }
