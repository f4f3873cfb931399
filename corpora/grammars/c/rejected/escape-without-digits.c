char a = '\x';
