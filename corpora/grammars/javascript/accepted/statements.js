#!/usr/bin/env node
'use strict';
;
var a, b = 1, [c] = [2], { d } = { d: 3 }
let e, f = 2;
const g = 1, [h] = [1];
{ a; { } }
{ let x = 1 }
if (a) b(); else c()
if (a) { } else if (b) ;
do a++; while (a < 3);
do { a-- } while (a) b = 1
while (a) a = 0
for (;;) break
for (var i = 0, n = 3; i < n; i++) continue
for (let j = 0; ; ) { break }
for (i = 0; i < 1; ) ++i;
for (var k in a) ;
for (let [x, y] of pairs) { }
for (const z of [1]) ;
for (a.b in c) ;
for ([a, b] of c) ;
for ({ a } of c) ;
for (a of b) ;
outer: for (;;) { inner: while (1) { continue outer; break inner } }
label: function labelled() { }
switch (a) { }
switch (a) { case 1: b(); break; case 2: default: c(); case 3: d() }
try { throw new Error } catch (error) { } finally { }
try { } catch { }
try { } catch ({ message }) { }
try { } catch ([first]) { debugger }
try { } finally { debugger; }
with (a) b;
function declared() { return }
function* generator() { yield; yield 1; yield* others(); return 1 }
async function waits() { for await (const x of y) await x; await (async () => 1)() }
async function* both(a, b = 1, { c, ...d } = {}, [e, , f = 2, ...g], ...rest) { }
class Empty { }
if (a) b; else throw 1
var { } = a, { ...b } = a, { c: d, 'e': [f] = [1] } = a, [] = a, [...g] = a;
function* h() { x = yield 1, yield* b, yield }
{ if (a) b } { if (a) b; else c } { while (a) b } { for (;;) a } { with (a) b } { l: a }
