select $$ a $ b;
