void f(void) { asm("" ::::: ); }
