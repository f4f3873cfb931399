create table t;
