(a (b)
