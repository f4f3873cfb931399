SELECT 1, 1.5, .5, 2., 1e10, 1.5E-3, 0xFF, 0o17, 0b101, 1_000, 'it''s', x'00ff', B'01', N'n', U&'\0041', E'a\'b\n', $$it's$$,
  $body$ $$ $body$, $_$x$_$, $function$f$function$, $do$d$do$, $a$b$a$, NULL, TRUE, false, CURRENT_DATE, current_time(3), CURRENT_TIMESTAMP,
  localtime, localtimestamp, current_user, session_user, 'one'
  'two';
