int f(void) { (int)a = 1; }
