with recursive t(n) as (values (1) union all select n + 1 from t where n < 9), u as materialized (select 1), v as not materialized (delete from w returning *) select * from t;
with a as (insert into b values (1) returning c), d as (update e set f = 1 returning *) select 1 intersect select 2 except (select 3 order by 1) union distinct select 4 union by name select 5;
