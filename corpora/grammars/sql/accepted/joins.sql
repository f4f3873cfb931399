select * from a, b join c on a.x = c.x left outer join d using (x, y) natural join e cross join f inner join g right join h on 1 full join i on 1, lateral (select 1) j, only k *, 'file.csv' l;
select * from (select 1) as t(a, b), f(1) with ordinality as g(x, y), h(2) as (a int, b text collate "C"), (a join b on 1) as c, t indexed by i, u not indexed, v tablesample bernoulli (10) repeatable (1);
select * from a asof join b on 1 semi join c using (x) as j anti join d on 1 positional join e;
