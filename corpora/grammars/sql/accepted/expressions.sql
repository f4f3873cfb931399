select (1), (1, 2), row(1, 2), (select 1), exists (select 1), array[1, 2], array(select 1), [1, 2,], [], {'a': 1, b: 2}, map {'k': 1},
  [x + 1 for x in y if x > 0], a[1], a[1:2], a[:], a[1:9:2], (a).b, (a).*, (a).f(1), a collate nocase, a at time zone 'UTC', a at local, a::int, a::numeric(10, 2)[], a::double precision,
  case when a then 1 else 2 end, case a when 1 then 2 when 3 then 4 end, cast(a as unsigned big int), try_cast(a as text),
  interval '1 day', interval 5 day, interval (x) hour, interval '1' year to month, interval '1' second(3), date '2020-01-01', timestamp with time zone '2020-01-01';
