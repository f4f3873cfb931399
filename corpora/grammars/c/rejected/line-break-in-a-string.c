char *a = "a
b";
