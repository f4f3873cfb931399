create trigger tr after insert on t begin select 1 end;
