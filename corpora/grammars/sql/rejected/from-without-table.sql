select a from where b;
