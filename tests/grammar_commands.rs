//! `ddset grammar …` and what is said with `--message-format json`.

use crate::support::Place;
use snapbox::{assert_data_eq, str};

const SUM: &str = "sum ::= part (('+' | '-') part)*\npart ::= number | '(' sum ')' | 'x'?\n\
                   /*@ token */ number ::= [0-9]+\n/*@ skip */ space ::= ' '+\n";

#[test]
fn check_counts() {
    let place = Place::new();
    place.write("one.ebnf", "a ::= 'x'\n");
    place.line("grammar check one.ebnf").exits(0).prints("one.ebnf: 1 rule, without tokens, starts at a\n");
    place.write("two.ebnf", "a ::= b\n/*@ token */ b ::= [x]\n");
    place.line("grammar check two.ebnf").exits(0).prints("two.ebnf: 2 rules, of which 1 is a token, starts at a\n");
    place.write("cyclic.ebnf", "a ::= b\nb ::= a | 'x'\nc ::= 'y'\n");
    let ran = place.line("grammar check cyclic.ebnf").exits(0).says(["a → b → a", "[unreachable-rule]"]);
    assert_eq!(ran.stdout, "cyclic.ebnf: 3 rules, without tokens, starts at a, 2 warnings\n");
}

#[test]
fn several_defects_at_once() {
    let place = Place::new();
    place.write("bad.ebnf", "list ::= item (',' itme)* [z-a]\nitem ::= '(' item ')'\nspare ::= 'a' | 'b' | 'a'\n");
    let ran = place.line("grammar check bad.ebnf").exits(3);
    assert_data_eq!(
        ran.stderr,
        str![[r#"
error[undefined-name]: rule `itme` is used but never defined
 --> bad.ebnf:1:20
  |
1 | list ::= item (',' itme)* [z-a]
  |                    ^^^^ no rule has this name
  |
  = help: did you mean `item`?

error[reversed-range]: the range runs backwards
 --> bad.ebnf:1:28
  |
1 | list ::= item (',' itme)* [z-a]
  |                            ^^^
  |
  = help: write the lower character first

error[unproductive-rule]: rule `item` never ends: every alternative leads back to a rule that never ends
 --> bad.ebnf:2:1
  |
2 | item ::= '(' item ')'
  | ^^^^
  |
  = help: give it an alternative without recursion

warning[duplicate-alternative]: the 3rd alternative of rule `spare` stands there already
 --> bad.ebnf:3:1
  |
3 | spare ::= 'a' | 'b' | 'a'
  | ^^^^^
  |
  = help: remove one of the two

warning[unreachable-rule]: rule `spare` is not reachable from the start
 --> bad.ebnf:3:1
  |
3 | spare ::= 'a' | 'b' | 'a'
  | ^^^^^
  |
  = help: use it in a rule, mark it with @skip if it is white space, or remove it; --start NAME starts elsewhere

"#]]
    );
}

/// One object a line, for grammars, inputs, and what is said of files.
#[test]
fn findings_as_json() {
    let place = Place::new();
    let findings = |stderr: &str| -> Vec<serde_json::Value> {
        stderr
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    };
    place.write("bad.ebnf", "a ::= b 'ä' c\n");
    let ran = place.line("grammar check bad.ebnf --message-format json").exits(3);
    let found = findings(&ran.stderr);
    assert_eq!((found.len(), &found[1]["code"], &found[1]["severity"]), (2, &"undefined-name".into(), &"error".into()));
    assert!(found[1]["help"].is_string() && found[1]["message"].is_string(), "{ran}");
    let label = &found[1]["labels"][0];
    let place_of = |label: &serde_json::Value| {
        ["line", "column", "end_line", "end_column", "start", "end"].map(|key| label[key].as_u64().unwrap())
    };
    assert_eq!((&label["file"], place_of(label)), (&"bad.ebnf".into(), [1, 13, 1, 14, 13, 14]));

    place.write("bad.expr", "1 +\n(2 * )");
    let ran = place.line("--message-format json parse -g expr bad.expr").exits(3);
    let found = findings(&ran.stderr);
    assert_eq!((found.len(), &found[0]["code"]), (1, &"input-syntax".into()));
    assert_eq!(place_of(&found[0]["labels"][0]), [2, 6, 2, 7, 9, 10]);

    let ran = place.line("grammar check nothing --message-format json").exits(3);
    assert_eq!(findings(&ran.stderr)[0]["code"], serde_json::Value::Null);
    place.write("spare.ebnf", "a ::= 'x'\nb ::= 'y'\n");
    let ran = place.line("grammar check spare.ebnf --message-format json").exits(0);
    assert_eq!(findings(&ran.stderr)[0]["severity"], "warning");
    // The second of two files has places of its own.
    place.write("more.ebnf", "c ::= d\n");
    let ran = place.line("grammar check spare.ebnf more.ebnf --message-format json").exits(3);
    let label = &findings(&ran.stderr)[0]["labels"][0];
    assert_eq!((&label["file"], place_of(label)), (&"more.ebnf".into(), [1, 7, 1, 8, 6, 7]));
}

#[test]
fn convert_writes_a_file() {
    let place = Place::new();
    place.write("sum.iso", "sum = part, { '+', part }; part = 'x' | '(', sum, ')';\n");
    place.line("grammar convert sum.iso --to ebnf -o sum.ebnf").exits(0).prints("");
    assert_eq!(place.read("sum.ebnf"), "sum ::= part (\"+\" part)*\npart ::= \"x\" | \"(\" sum \")\"\n");
    place.line("grammar convert sum.iso --to ebnf").exits(0).prints(&place.read("sum.ebnf"));
    place.line("grammar convert sum.iso --to yacc").exits(2).says(["ebnf"]);
    place.line("grammar convert sum.iso --to ebnf -o no/such/folder").exits(2).says(["cannot write no/such/folder"]);
}

#[test]
fn show_one_rule() {
    let place = Place::new();
    place.write("sum.ebnf", SUM);
    let shown = place.line("grammar show sum.ebnf --rule part").exits(0).stdout;
    assert_data_eq!(
        shown.clone(),
        str![[r#"
part ::= number | "(" sum ")" | "x"?
/*@ token */
number ::= [0-9]+
sum ::= part (("+" | "-") part)*
/*@ skip */
space ::= " "+

"#]]
    );
    place.write("part.ebnf", shown);
    place
        .line("grammar check part.ebnf")
        .exits(0)
        .prints("part.ebnf: 4 rules, of which 2 are tokens, starts at part\n");
    place.line("grammar show sum.ebnf --rule nmber").exits(3).says(["`nmber`", "did you mean `number`?"]);
}

/// A page that needs nothing else, where each link has a target.
#[test]
fn railroad_diagrams() {
    let place = Place::new();
    for grammar in ["javascript", "lua", "json"] {
        place.ddset(["grammar", "show", grammar, "--railroad", "-o", "page.html"]).exits(0).prints("");
        let page = place.read("page.html");
        let rules = ddset::grammar::bundled::find(grammar).unwrap();
        let rules = ddset::grammar::Grammar::read(rules.source, None).unwrap().rules().count();
        assert_eq!(page.matches("<svg").count(), rules, "{grammar}");
        let targets: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(targets.len() > 2 * rules, "{grammar}");
        for target in targets {
            assert!(page.contains(&format!("<section id=\"{target}\"")), "{grammar}: {target}");
        }
        for elsewhere in ["<script", "src=", "url(", "@import"] {
            assert!(!page.contains(elsewhere), "{grammar}: {elsewhere}");
        }
    }
    place.write("odd.ebnf", "a ::= '<&\"' b{2,5} <b c>? | (b (',' b)*)?\nb ::= [^<]{3} | 'x'*\n<b c> ::= ''\n");
    let page = place.line("grammar show odd.ebnf --railroad").exits(0).stdout;
    for shown in ["2 to 5 times", "3 times", "&lt;&amp;", "b c"] {
        assert!(page.contains(shown), "{shown}\n{page}");
    }
}

#[test]
fn list_says_where_grammars_come_from() {
    let list = Place::new().line("grammar list").exits(0).stdout;
    assert!(list.contains("json        JSON (RFC 8259), 13 rules\n            from RFC 8259, "), "{list}");
}

#[test]
fn samples_are_inputs() {
    let place = Place::new();
    for grammar in ["assign", "expr", "javascript", "json", "lua"] {
        let ran = place.ddset(["grammar", "sample", grammar, "-n", "30", "-0", "--seed", "3"]).exits(0);
        assert_eq!(ran.inputs().len(), 30, "{grammar}");
        for input in ran.inputs() {
            place.write("input", input);
            place.ddset(["parse", "-g", grammar, "input"]).exits(0);
        }
        let again = place.ddset(["grammar", "sample", grammar, "-n", "30", "-0", "--seed", "3"]).exits(0);
        let other = place.ddset(["grammar", "sample", grammar, "-n", "30", "-0", "--seed", "4"]).exits(0);
        assert!(ran.stdout == again.stdout && ran.stdout != other.stdout, "{grammar}");
    }
    place.write("small.ebnf", "a ::= 'x' | 'y'\n");
    let ran = place.line("grammar sample small.ebnf").exits(0).says(["only 2 distinct inputs found"]);
    assert_eq!(ran.stdout.len(), 4, "{ran}");
    let sizes =
        ["1", "200"].map(|size| place.line(&format!("grammar sample json --size {size}")).exits(0).stdout.len());
    assert!(sizes[0] * 4 < sizes[1], "{sizes:?}");
    place.line("grammar sample lua --start parlist -n 3").exits(0);
}

#[test]
fn coverage_of_files_and_folders() {
    let place = Place::new();
    place.write("sum.ebnf", SUM);
    place.write("in/a.sum", "1 + 2");
    place.write("in/deep/b.sum", "(3)");
    place.write("in/bad.sum", "1 + + 2\n");
    place.write("in/notes.txt", "?");
    let ran = place.line("grammar coverage sum.ebnf in --extension sum").exits(3);
    assert_data_eq!(
        ran.stdout,
        str![[r#"
in/bad.sum:1:8: expected "+" or "-", found `/n`
parsed: 2 of 3 files (66.7 %), 8 of 16 bytes
used:   4 of 7 alternatives and optional parts
never:  in 3 uses of sum: "-"
never:  in 4 uses of part: "x"?

"#]]
    );
    place.line("grammar coverage sum.ebnf in/a.sum").exits(0);
    let ran = place.line("grammar coverage sum.ebnf in --format json").exits(3).json();
    assert_eq!((&ran["files"], &ran["parsed"], &ran["bytes"]), (&4.into(), &2.into(), &17.into()));
    assert_eq!(ran["failures"][0]["file"], "in/bad.sum");
    let part = ran["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == "part").unwrap();
    assert_eq!(
        (&part["used"], &part["alternatives"][0]),
        (&4.into(), &serde_json::json!({"alternative": "number", "count": 3}))
    );
    place.line("grammar coverage sum.ebnf in --extension c").exits(2).says(["no such file"]);
    place.line("grammar coverage sum.ebnf nothing").exits(3);
}

/// What comes of each file stands in the file's place, whichever was done first.
#[test]
fn coverage_is_in_order() {
    let place = Place::new();
    for number in 0..60 {
        place.write(
            &format!("in/{number:02}"),
            format!("{}?", "(1+1)+".repeat(if number % 7 == 0 { 2_000 } else { 1 })),
        );
    }
    let ran = place.line("grammar coverage expr in").exits(3);
    let names: Vec<&str> = ran.stdout.lines().take(60).filter_map(|line| line.split(':').next()).collect();
    assert!(names.is_sorted() && names[59] == "in/59", "{ran}");
    assert_eq!(ran.stdout, place.line("grammar coverage expr in").exits(3).stdout);
}
