int size x;
