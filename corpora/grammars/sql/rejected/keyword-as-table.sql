create table table (a);
