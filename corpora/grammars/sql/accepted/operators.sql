select a or b and not c, a = b, a == b, a <> b, a != b, a < b, a <= b, a > b, a >= b, a + b - c, a * b / c % d, a // b, 2 ^ 3, 2 ** 3,
  a || b, a -> 'x' ->> 0, -a, +a, ~a, @ a, |/ a, ||/ a, !! a, a << 1 >> 2 & 3 | 4 # 5, a ~ 'x', a !~* 'x', a @> b, a <@ b, a && b, a ?| b,
  a #>> '{x}', a <-> b, a operator(pg_catalog.+) b;
select a is null, a is not null, a isnull, a notnull, a not null, a is not distinct from b, a between 1 and 2 and c, a not between symmetric 1 and 2,
  a in (1, 2), a not in (), a in (select 1), a in t, a in json_each('x'), a in [1], a in 'x', a in ?, a like 'x' escape '!', a not ilike 'x', a glob 'x*', a regexp 'x',
  a match 'x', a similar to 'x', (a, b) overlaps (c, d), a between asymmetric 1 and 2;
