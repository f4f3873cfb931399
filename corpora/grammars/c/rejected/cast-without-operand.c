int a = (int);
