select 1 + ;
