int f(void) { switch (a) { case 1 a; } }
