alter table t;
