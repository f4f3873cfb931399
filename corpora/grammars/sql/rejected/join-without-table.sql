select * from a join on b;
