char a = '';
