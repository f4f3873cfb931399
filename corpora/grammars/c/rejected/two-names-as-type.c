a b c;
