import 'a';
import b from 'b'
import * as c from 'c';
import { d, e as f, default as g, 'h' as i, } from 'd';
import { } from 'e';
import j, { k } from 'f';
import l, * as m from 'g';
import n from './n.json' with { type: 'json', 'a': 'b', };
export * from 'a';
export * as o from 'b';
export * as 'p' from 'c' with { type: 'json' };
export { b, c as d, e as 'f', g as default, };
export { h } from 'i' with { };
export { } from 'k';
export var q = 1;
export let r;
export const s = 2
export function t() { }
export class U { }
export default function () { }
export default class { }
export default a ? b : c;
export default { a: 1 }.a
