select "a""b", `c`, [d e], t.x, s.t.x, t.select, key, Größe as "as", 1 as 'text', 2 two from s.t as "T", u v, [w];
