select count(*), count(distinct a), sum(all a), f(), s.f(1, 2), f(variadic a), f(a => 1, b := 2), left(a, 1), right(a, 1), any(a), some(b), all(c), glob(a, b), like(a, b),
  match(a, b), group_concat(a, ',' order by b desc limit 1), first(a ignore nulls), last(a) respect nulls, sum(a) filter (where b), percentile(0.5) within group (order by a),
  extract(year from a), substring(a from 1 for 2), substring(a for 2), substring(a similar b escape c), trim(leading 'x' from a), trim(both from a), trim(trailing ' ' from a), trim(from a), position('a' in b),
  overlay(a placing b from 1 for 2), array(select 1), f(select 1), count(t.* exclude (a)), json_value(a, '$' returning int), list_value(1, 2,);
