update t set a = 1, b = b + 1 where c returning *;
update or ignore only s.t as x set a = u.b from u join v on 1 where x.c = u.c order by a limit 1;
update t u set (a, b) = (select 1, 2), c == 3 where current of cur;
delete from t;
delete from t as x using u, v where x.a = u.a returning x.*;
delete from t indexed by i where a order by b limit 1 offset 2;
merge into t using s on t.a = s.a when matched and s.b then update set b = 1 when matched then delete when not matched by source then do nothing
  when not matched then insert (a) values (1) when not matched by target then insert default values;
truncate table only t *, u restart identity cascade; truncate t continue identity restrict;
