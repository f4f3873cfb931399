char a = '\q';
