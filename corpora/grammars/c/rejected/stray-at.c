int a @ b;
