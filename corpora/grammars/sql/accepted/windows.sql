select sum(a) over w, sum(a) over (), rank() over (w2 partition by a, b order by c rows between unbounded preceding and current row exclude no others),
  sum(a) over (range 1 preceding), sum(a) over (groups between 1 following and unbounded following exclude ties),
  avg(a) over (order by b rows current row exclude group), min(a) over (rows unbounded preceding exclude current row)
from t window w as (order by a), w2 as (partition by b);
