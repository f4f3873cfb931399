select 'a;
