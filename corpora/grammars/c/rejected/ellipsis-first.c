int f(..., int a);
