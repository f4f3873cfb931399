drop t;
