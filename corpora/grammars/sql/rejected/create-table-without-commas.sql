create table t (a int primary key b int);
