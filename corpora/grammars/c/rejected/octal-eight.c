int a = 08;
