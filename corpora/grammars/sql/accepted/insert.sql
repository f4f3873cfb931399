insert into t values (1, 'a'), (2, default);
insert or ignore into s.t as x (a, b[1], c.d) select 1, 2 on conflict do nothing;
insert into t(a) values (1) on conflict (a, lower(b)) where c do update set a = excluded.a, (b, c) = (1, default), d = default where t.a > 1 returning a as b, *;
insert into t default values returning *;
insert into t overriding system value select 1 on conflict on constraint c do nothing;
insert into t by name select 1 as a;
insert or abort into t values (1); insert or fail into t values (1); insert or rollback into t values (1);
replace into t values (1);
with x as (select 1) insert or replace into t select * from x;
