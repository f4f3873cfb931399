delete t where a;
