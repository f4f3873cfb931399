int a
int b;
