-- a line
select /* block * / */ 1 -- end
; \echo a command of psql
select 2
