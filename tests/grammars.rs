//! Grammars and inputs: what is wrong with them and where, and the trees.

use crate::support::Place;
use snapbox::{assert_data_eq, str};
use std::io::{BufRead, BufReader, Read};

#[test]
fn an_undefined_name() {
    let place = Place::new();
    place.write("sum.ebnf", "expr ::= term ('+' trm)*\nterm ::= [0-9]+\n");
    let ran = place.line("grammar check sum.ebnf").exits(3).prints("");
    assert_data_eq!(
        ran.stderr,
        str![[r#"
error[undefined-name]: rule `trm` is used but never defined
 --> sum.ebnf:1:20
  |
1 | expr ::= term ('+' trm)*
  |                    ^^^ no rule has this name
  |
  = help: did you mean `term`?

"#]]
    );
}

#[test]
fn a_rule_that_is_defined_twice() {
    let place = Place::new();
    place.write("twice.ebnf", "a ::= 'x' b\nb ::= 'y'\na ::= 'z'\n");
    let ran = place.line("grammar check twice.ebnf").exits(3);
    assert_data_eq!(
        ran.stderr,
        str![[r#"
error[duplicate-rule]: rule `a` is defined twice
 --> twice.ebnf:3:1
  |
1 | a ::= 'x' b
  | - first defined here
2 | b ::= 'y'
3 | a ::= 'z'
  | ^ defined again here
  |
  = help: join the two as alternatives, or rename one

"#]]
    );
}

#[test]
fn a_grammar_that_cannot_be_read() {
    let place = Place::new();
    place.line("grammar check expr --start sum").exits(3).says(["no rule `sum` to start at"]);
    place.write("open.ebnf", "a ::= 'x'\nb ::= ( 'y'\n");
    place.line("grammar check open.ebnf").exits(3).says(["error[grammar-syntax]", "open.ebnf:2:", "^ expected"]);
    place.write("empty.ebnf", "");
    place.line("grammar check empty.ebnf").exits(3).says(["error"]);
    place.line("grammar check nothing").exits(3).says(["`nothing`", "no such file", "no bundled grammar", "expr"]);
    place.write("latin.ebnf", b"a ::= '\xe4'\n");
    place.line("grammar check latin.ebnf").exits(3).says(["not UTF-8", "byte 7"]);
    place.write("endless.ebnf", "a ::= 'x' a\n");
    place.line("grammar check endless.ebnf").exits(3).says(["endless.ebnf:1:1"]);
}

#[test]
fn a_warning_is_no_error() {
    let place = Place::new();
    place.write("spare.ebnf", "a ::= 'x'\nb ::= 'y'\n");
    let ran = place.line("grammar check spare.ebnf").exits(0).says(["warning", "`b`", "spare.ebnf:2:1"]);
    assert!(ran.stdout.ends_with("1 warning\n"), "{ran}");
}

#[test]
fn an_input_that_is_not_in_the_language() {
    let place = Place::new();
    place.write("bad.expr", "1 +\n(2 * )");
    let ran = place.line("parse --grammar expr bad.expr").exits(3).prints("");
    assert_data_eq!(
        ran.stderr,
        str![[r#"
error[input-syntax]: the input is not in the grammar's language: expected factor, found `)`
 --> bad.expr:2:6
  |
1 | 1 +
  | - while parsing `expr` that began here
2 | (2 * )
  |  -   ^ expected factor
  |  |
  |  while parsing `term` that began here, in `factor` from 2:1

"#]]
    );
}

#[test]
fn a_finding_in_a_long_line_shows_what_is_around_it() {
    let place = Place::new();
    place.write("long.json", format!("[{}x]", "1,".repeat(60_000)));
    let ran = place.line("parse --grammar json long.json").exits(3).says(["long.json:1:120002", ",1,x]"]);
    assert!(ran.stderr.len() < 1_000, "{}", ran.stderr.len());
}

#[test]
fn empty_and_binary_inputs() {
    let place = Place::new();
    place.write("input", "");
    place.line("parse --grammar expr input").exits(3).says(["input:1:1", "found the end"]);
    place.write("maybe.ebnf", "a ::= 'x'?\n");
    place.line("parse --grammar maybe.ebnf input").exits(0);
    place.write("input", b"1 + \xff\0");
    place.line("parse --grammar expr input").exits(3).says(["input:1:5", "found byte 0xFF", "^"]);
    place.write("input", (0..=255).collect::<Vec<u8>>());
    place.line("parse --grammar javascript input").exits(3).says(["input:1:1"]);
    place.write("input", "1 + ".repeat(20_000));
    place.line("parse --grammar expr input").exits(3).says(["input:1:80001", "found the end"]);
}

/// The same language in both notations, with all that abstraction needs to know of it.
#[test]
fn both_notations_give_the_same_pattern() {
    let patterns = [
        (
            "w3c.ebnf",
            "sum ::= part (('+' | '-') part)*\npart ::= number | '(' sum ')'\n/*@ token */ number ::= [0-9]+\n\
             /*@ skip */ space ::= [ #x9#xA]+\n",
        ),
        (
            "iso.ebnf",
            "sum = part, { ('+' | '-'), part };\npart = number | '(', sum, ')';\n(*@ token *) number = { ? [0-9] ? }-;\n\
             (*@ skip *) space = { ? [ #x9#xA] ? }-;\n",
        ),
    ]
    .map(|(name, grammar)| {
        let place = Place::new();
        place.write(name, grammar);
        place.write("input", "1 + ((2 - 3)) - 4");
        place.script("run.sh", "tr -d ' \\n' <\"$1\" | grep -q '(('");
        place.ddset(["abstract", "--grammar", name, "--test", "run.sh", "input"]).exits(0).stdout
    });
    assert_eq!(patterns, ["((<sum>))\n"; 2]);
}

#[test]
fn bundled_grammars_are_listed_and_sound() {
    let place = Place::new();
    let list = place.line("grammar list").exits(0).stdout;
    let names: Vec<&str> =
        list.lines().filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for name in ["assign", "expr", "javascript", "json", "lua", "python", "sql"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in names {
        let ran = place.ddset(["grammar", "check", name]).exits(0);
        assert!(ran.stderr.is_empty() && ran.stdout.starts_with(&format!("{name}: ")), "{ran}");
    }
}

/// What `show` prints is the same grammar: it gives the same trees.
#[test]
fn a_grammar_that_is_shown_can_be_read_again() {
    let place = Place::new();
    for (name, input) in [
        ("assign", "a = 1; b = a + 2;"),
        ("expr", "1 + ((2 * 3.5 / -4))"),
        ("javascript", "for (var i of [1, 'a', /x+/g]) { f(i)\n g => g++ }"),
        ("json", "{\"a\": [1, 2.5e3, null, \"\\u00e4\"]}"),
        ("lua", "local t = {1, x = 2; [3] = [[long]]} -- so\nreturn t.x ~= nil and #t > 1"),
        ("python", "if a:  # so\n    def b(*c, d=1): return f'{c}'\nelse: pass\n"),
    ] {
        let shown = place.ddset(["grammar", "show", name]).exits(0).stdout;
        place.write("shown.ebnf", &shown);
        place.line("grammar check shown.ebnf").exits(0);
        place.line("grammar show shown.ebnf").exits(0).prints(&shown);
        place.write("input", input);
        let tree = place.ddset(["parse", "--grammar", name, "input"]).exits(0).stdout;
        place.line("parse --grammar shown.ebnf input").exits(0).prints(&tree);
    }
}

#[test]
fn trees_in_all_formats() {
    let place = Place::new();
    place.write("sum.ebnf", "sum ::= part ('+' part)*\npart ::= number | '(' sum ')'\n/*@ token */ number ::= [0-9]+\n/*@ skip */ space ::= ' '+\n");
    place.write("input", "(1) +  20");
    let parse = |format: &str| place.ddset(["parse", "--grammar", "sum.ebnf", "input", "--format", format]).exits(0);
    assert_data_eq!(
        parse("text").stdout,
        str![[r#"
sum
  part ("+" part)*
    part
      "(" "("
      sum
        part ("+" part)*
          part
            number "1"
      ")" ")"
    "+" "+"
    part
      number "20"

"#]]
    );
    let nodes = parse("json").json();
    let nodes = nodes["nodes"].as_array().unwrap();
    assert_eq!((&nodes[0]["symbol"], &nodes[0]["size"]), (&"sum".into(), &nodes.len().into()));
    let texts: Vec<_> = nodes.iter().filter_map(|node| node["text"].as_str()).collect();
    assert_eq!(texts, ["(", "1", ")", "+", "20"]);

    let sexp = parse("sexp").stdout;
    let mut depth = 0;
    let mut quoted = false;
    let mut escaped = false;
    for char in sexp.trim_end().chars() {
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        assert!(depth >= 0, "{sexp}");
    }
    assert!(depth == 0 && !quoted && sexp.starts_with("(sum "), "{sexp}");

    let dot = parse("dot").stdout;
    assert!(dot.starts_with("digraph") && dot.trim_end().ends_with('}'), "{dot}");
    assert_eq!(dot.matches(" -> ").count(), nodes.len() - 1);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    place.write("input", format!("1{}", " + 1".repeat(20_000)));
    let mut child = place.command(["parse", "--grammar", "expr", "input"]).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((first.as_str(), stderr.as_str(), child.wait().unwrap().code()), ("expr\n", "", Some(0)));
}

#[test]
fn a_start_other_than_the_grammars() {
    let place = Place::new();
    place.write("input", "2 * 3");
    let tree = place.line("parse --grammar expr --start term input").exits(0).stdout;
    assert!(tree.starts_with("term\n"), "{tree}");
    place.write("input", "2 + 3");
    place.line("parse --grammar expr --start term input").exits(3).says(["input:1:3"]);
}

/// A mark is one character that no input has; a layout needs all three.
#[test]
fn marks_that_are_none() {
    let place = Place::new();
    let marks = |newline: &str, indent: &str, dedent: &str| {
        let text =
            format!("a ::= 'x' n (i a d)?\n/*@ newline */ n ::= {newline}\n/*@ indent */ i ::= {indent}\n{dedent}\n");
        place.write("marks.ebnf", text);
        place.line("grammar check marks.ebnf")
    };
    marks("#x1E", "#xE", "/*@ dedent */ d ::= #xF").exits(0);
    marks("#x1E", "#xE", "/*@ token */ d ::= #xF").exits(3).says(["error[missing-mark]", "marks.ebnf:2:"]);
    marks("#x1E", "#x1E", "/*@ dedent */ d ::= #xF").exits(3).says(["error[duplicate-mark]", "marks.ebnf:3:"]);
    marks("#x1E", "#xE", "/*@ indent */ d ::= #xF").exits(3).says(["error[duplicate-mark]", "second token"]);
    for no_mark in ["#xA", "'ab'", "[a-z]+", "#xE000"] {
        marks(no_mark, "#xE", "/*@ dedent */ d ::= #xF")
            .exits(3)
            .says(["error[mark-not-a-character]", "marks.ebnf:2:"]);
    }
}

#[test]
fn what_is_ambiguous() {
    let place = Place::new();
    place.write("sum.ebnf", "e ::= e '+' e | e '*' e | [0-9]\n");
    place.write("sum.txt", "1+2*3");
    place.line("parse --grammar sum.ebnf --ambiguity count sum.txt").exits(0).prints("2 derivations\n");
    place.line("parse --grammar sum.ebnf --ambiguity report sum.txt").exits(0).prints(
        "1:1 to 1:6: e has several derivations of \"1+2*3\"\n  \
         taken: alternative 1: e = \"1\", \"+\", e = \"2*3\"\n  \
         other: alternative 2: e = \"1+2\", \"*\", e = \"3\"\n\
         1 place is ambiguous\n",
    );
    place.write("levels.ebnf", "e ::= /*@ left */ e '*' e | /*@ left */ e '+' e | [0-9]\n");
    place.line("parse --grammar levels.ebnf --ambiguity report sum.txt").exits(0).prints("not ambiguous\n");
}
