int f(void) { a + * ; }
