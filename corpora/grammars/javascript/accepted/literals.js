x = [0, 1, 1.5, .5, 1., 1e3, 1.5E-3, 1e+3, 1_000.000_1, 10n, 0n, 017, 09.5, 0xFF, 0XaB_cD, 0xfn, 0o17, 0O7n, 0b101, 0B1_0n];
y = ["", "a'b\"", 'a"b\'', "\n\t\0\x41\u0041\u{1F600}\q", 'two \
lines', "ä€"];
var ä = $a, _b, a\u0062, \u{61}b, π;
var as, async, from, get, let_, meta, of, set, target;
