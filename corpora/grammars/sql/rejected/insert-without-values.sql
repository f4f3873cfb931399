insert into t (a);
