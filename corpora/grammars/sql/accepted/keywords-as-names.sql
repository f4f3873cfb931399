select abort, absolute, access, action, add, admin, aggregate, also, always, analyse, analyze, assignment, at, atomic,
attach, attribute, authorization, backward, binary, bit, call, cascaded, cast, char, character, characteristics,
checkpoint, class, close, cluster, collation, column, comment, commit, committed, concurrent, concurrently,
configuration, constraints, continue, copy, csv, data, database, deallocate, declare, deferred, definer, delimiter,
describe, detach, dictionary, disable, discard, domain, double, each, enable, enum, excluding, exclusive, execute,
explain, expression, extension, fail, finalize, first, force, forward, freeze, function, functions, global, grouping,
header, hold, identity, if, immediate, implicit, including, index, inherit, inout, input, install, interval, invoker,
isolation, last, level, listen, load, local, lock, locked, macro, map, mapping, matched, materialized, merge, method,
mode, move, name, national, nchar, new, next, none, nothing, notify, nowait, of, oids, old, option, ordinality,
others, out, overlaps, owner, parser, plan, policy, position, pragma, prepare, preserve, prior, privileges,
procedural, procedure, program, public, publication, query, quote, raise, read, recursive, referencing, refresh,
reindex, relative, release, repeatable, replica, reset, revoke, role, rollback, rowid, rule, savepoint, schema,
sequence, sequences, serializable, session, sets, share, show, skip, source, statement, statistics, struct,
subscription, summarize, system, tables, target, temp, template, temporary, text, time, timestamp, transaction,
trigger, truncate, trusted, try_cast, type, uncommitted, unlisten, unlogged, use, user, vacuum, valid, validate,
value, variable, verbose, version, view, work, wrapper, write, zone from after, asc, asof, autoincrement, before,
begin, by, cache, called, cascade, chain, compression, conflict, cost, current, cursor, cycle, day, days, deferrable,
desc, do, escape, exclude, external, family, filter, following, generated, glob, groups, handler, hour, hours, ignore,
immutable, include, increment, indexed, inherits, initially, inline, instead, key, language, leakproof, match,
maxvalue, minute, minutes, minvalue, month, months, no, nulls, offset, operator, options, over, overriding, owned,
parallel, partition, percent, preceding, precision, range, regexp, rename, replace, respect, restart, restrict,
return, returns, row, rows, sample, search, second, seconds, security, server, setof, stable, start, storage, stored,
strict, tablespace, ties, unbounded, validator, varying, virtual, volatile, week, weeks, window, within, without,
year, years; select 1 as all, 1 as alter, 1 as and, 1 as anti, 1 as any, 1 as array, 1 as as, 1 as asymmetric, 1 as
between, 1 as both, 1 as case, 1 as check, 1 as collate, 1 as constraint, 1 as create, 1 as cross, 1 as current_date,
1 as current_time, 1 as current_timestamp, 1 as current_user, 1 as default, 1 as delete, 1 as distinct, 1 as drop, 1
as else, 1 as end, 1 as except, 1 as exists, 1 as false, 1 as fetch, 1 as for, 1 as foreign, 1 as from, 1 as full, 1
as grant, 1 as group, 1 as having, 1 as ilike, 1 as in, 1 as inner, 1 as insert, 1 as intersect, 1 as into, 1 as is, 1
as isnull, 1 as join, 1 as lateral, 1 as leading, 1 as left, 1 as like, 1 as limit, 1 as localtime, 1 as
localtimestamp, 1 as natural, 1 as not, 1 as notnull, 1 as null, 1 as on, 1 as only, 1 as or, 1 as order, 1 as outer,
1 as placing, 1 as positional, 1 as primary, 1 as qualify, 1 as references, 1 as returning, 1 as right, 1 as select, 1
as semi, 1 as session_user, 1 as set, 1 as similar, 1 as some, 1 as symmetric, 1 as table, 1 as tablesample, 1 as
then, 1 as to, 1 as trailing, 1 as true, 1 as union, 1 as unique, 1 as update, 1 as using, 1 as values, 1 as variadic,
1 as when, 1 as where, 1 as with; select t.all, t.alter, t.and, t.anti, t.any, t.array, t.as, t.asymmetric, t.between,
t.both, t.case, t.check, t.collate, t.constraint, t.create, t.cross, t.current_date, t.current_time,
t.current_timestamp, t.current_user, t.default, t.delete, t.distinct, t.drop, t.else, t.end, t.except, t.exists,
t.false, t.fetch, t.for, t.foreign, t.from, t.full, t.grant, t.group, t.having, t.ilike, t.in, t.inner, t.insert,
t.intersect, t.into, t.is, t.isnull, t.join, t.lateral, t.leading, t.left, t.like, t.limit, t.localtime,
t.localtimestamp, t.natural, t.not, t.notnull, t.null, t.on, t.only, t.or, t.order, t.outer, t.placing, t.positional,
t.primary, t.qualify, t.references, t.returning, t.right, t.select, t.semi, t.session_user, t.set, t.similar, t.some,
t.symmetric, t.table, t.tablesample, t.then, t.to, t.trailing, t.true, t.union, t.unique, t.update, t.using, t.values,
t.variadic, t.when, t.where, t.with; select 1 abort, 1 absolute, 1 access, 1 action, 1 add, 1 admin, 1 aggregate, 1
also, 1 always, 1 analyse, 1 analyze, 1 assignment, 1 at, 1 atomic, 1 attach, 1 attribute, 1 authorization, 1
backward, 1 binary, 1 bit, 1 call, 1 cascaded, 1 cast, 1 char, 1 character, 1 characteristics, 1 checkpoint, 1 class,
1 close, 1 cluster, 1 collation, 1 column, 1 comment, 1 commit, 1 committed, 1 concurrent, 1 concurrently, 1
configuration, 1 constraints, 1 continue, 1 copy, 1 csv, 1 data, 1 database, 1 deallocate, 1 declare, 1 deferred, 1
definer, 1 delimiter, 1 describe, 1 detach, 1 dictionary, 1 disable, 1 discard, 1 domain, 1 double, 1 each, 1 enable,
1 enum, 1 excluding, 1 exclusive, 1 execute, 1 explain, 1 expression, 1 extension, 1 fail, 1 finalize, 1 first, 1
force, 1 forward, 1 freeze, 1 function, 1 functions, 1 global, 1 grouping, 1 header, 1 hold, 1 identity, 1 if, 1
immediate, 1 implicit, 1 including, 1 index, 1 inherit, 1 inout, 1 input, 1 install, 1 interval, 1 invoker, 1
isolation, 1 last, 1 level, 1 listen, 1 load, 1 local, 1 lock, 1 locked, 1 macro, 1 map, 1 mapping, 1 matched, 1
materialized, 1 merge, 1 method, 1 mode, 1 move, 1 name, 1 national, 1 nchar, 1 new, 1 next, 1 none, 1 nothing, 1
notify, 1 nowait, 1 of, 1 oids, 1 old, 1 option, 1 ordinality, 1 others, 1 out, 1 overlaps, 1 owner, 1 parser, 1 plan,
1 policy, 1 position, 1 pragma, 1 prepare, 1 preserve, 1 prior, 1 privileges, 1 procedural, 1 procedure, 1 program, 1
public, 1 publication, 1 query, 1 quote, 1 raise, 1 read, 1 recursive, 1 referencing, 1 refresh, 1 reindex, 1
relative, 1 release, 1 repeatable, 1 replica, 1 reset, 1 revoke, 1 role, 1 rollback, 1 rowid, 1 rule, 1 savepoint, 1
schema, 1 sequence, 1 sequences, 1 serializable, 1 session, 1 sets, 1 share, 1 show, 1 skip, 1 source, 1 statement, 1
statistics, 1 struct, 1 subscription, 1 summarize, 1 system, 1 tables, 1 target, 1 temp, 1 template, 1 temporary, 1
text, 1 time, 1 timestamp, 1 transaction, 1 trigger, 1 truncate, 1 trusted, 1 try_cast, 1 type, 1 uncommitted, 1
unlisten, 1 unlogged, 1 use, 1 user, 1 vacuum, 1 valid, 1 validate, 1 value, 1 variable, 1 verbose, 1 version, 1 view,
1 work, 1 wrapper, 1 write, 1 zone;
