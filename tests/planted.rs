//! Failures that were planted, each with the pattern that is right, and a bound of the runs that finding it may cost.
//!
//! The oracles are closures. Each is asked with several seeds: the pattern must be the same.

use ddset::abstraction::{Abstraction, Options, generalize};
use ddset::grammar::{Grammar, bundled};
use ddset::oracle::{Oracle, Outcome};
use ddset::parse::parse;
use ddset::search::Search;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SEEDS: u64 = 20;

/// The abstraction of a failing input, and what it cost.
fn abstracted(grammar: &str, input: &str, oracle: &dyn Oracle, seed: u64) -> (Abstraction, u64) {
    let grammar = Arc::new(Grammar::read(grammar, None).expect("a grammar"));
    let tree = parse(&grammar, input.as_bytes()).expect("an input");
    let mut search = Search::new(oracle);
    let failed = (0..3).any(|_| search.retest(input.as_bytes()).expect("a run") == Outcome::Fail);
    assert!(failed, "{input} must fail");
    let before = search.runs();
    let found = generalize(&grammar, tree, &mut search, &Options { seed, ..Options::default() });
    (found, search.runs() - before)
}

/// Expects one pattern for every seed, and no more runs than `most` for any.
#[track_caller]
fn expect(grammar: &str, input: &str, most: u64, pattern: &str, fails: impl Fn(&str) -> Outcome + Send + Sync) {
    expect_for_all_but(0, grammar, input, most, pattern, fails);
}

/// The same, but for some seeds the pattern may be another one.
#[track_caller]
fn expect_for_all_but(
    others: usize,
    grammar: &str,
    input: &str,
    most: u64,
    pattern: &str,
    fails: impl Fn(&str) -> Outcome + Send + Sync,
) {
    let oracle = |bytes: &[u8]| fails(&String::from_utf8_lossy(bytes));
    let mut wrong = Vec::new();
    let mut dearest = 0;
    for seed in 1..=SEEDS {
        let (found, runs) = abstracted(grammar, input, &oracle, seed);
        let text = String::from_utf8(found.pattern.text()).expect("text");
        dearest = dearest.max(runs);
        if text != pattern || found.pattern.evidence.passed != 0 || found.stopped.is_some() {
            wrong.push(format!("seed {seed}: {text}"));
        }
        let json = found.pattern.to_json().expect("writes");
        let read = ddset::pattern::Pattern::from_json(&json).expect("reads");
        assert_eq!(read.to_json().expect("writes"), json, "a pattern survives its file");
        let segments = ddset::pattern::notation::read(text.as_bytes()).expect("reads");
        assert_eq!(ddset::pattern::notation::print(&segments), text.as_bytes(), "a pattern survives its text");
    }
    assert!(wrong.len() <= others, "expected {pattern}\n{}\nat most {dearest} runs", wrong.join("\n"));
    assert!(dearest <= most, "{dearest} runs, {most} allowed");
}

fn fails_if(condition: bool) -> Outcome {
    if condition { Outcome::Fail } else { Outcome::Pass }
}

fn unless_valid(valid: bool, condition: bool) -> Outcome {
    if valid { fails_if(condition) } else { Outcome::Unresolved }
}

fn expr() -> &'static str {
    bundled::find("expr").expect("bundled").source
}

fn tight(text: &str) -> String {
    text.replace([' ', '\n', '\t', '\r'], "")
}

fn doubled(text: &str) -> bool {
    let text = tight(text);
    text.contains("((") && text.contains("))")
}

const LETS: &str = "program ::= statement*
    statement ::= 'let' name '=' value ';'
    value ::= name | number | value op value
    op ::= '+' | '-' | '*'
    /*@ identifier */ name ::= [a-z]+
    /*@ token */ number ::= [0-9]+
    /*@ skip */ space ::= [ #xA]+";

const NAMES: &str = "s ::= name '=' name ';' name ';' name ';' quoted
    /*@ identifier */ name ::= [a-z]+
    /*@ token */ quoted ::= \"'\" [a-z]* \"'\"";

#[test]
fn nested_brackets() {
    expect(expr(), "((4))", 135, "((<expr>))", |text| fails_if(doubled(text)));
}

#[test]
fn a_text_that_is_needed_somewhere() {
    expect(expr(), "0000", 12, "0000", |text| fails_if(text.contains("0000")));
}

#[test]
fn either_of_two_is_enough() {
    let text = |text: &str| {
        let text = tight(text);
        let sums = text.matches('+').count() == 1;
        fails_if(sums && (text.starts_with("((") || text.ends_with("))")))
    };
    let grammar = "s ::= side '+' side  side ::= '(' side ')' | number  /*@ token */ number ::= [0-9]+  /*@ skip */ space ::= ' '+";
    expect(grammar, "((4))+((5))", 200, "((<side>))+<side>", text);
}

#[test]
fn three_of_four_equal_names() {
    expect(NAMES, "a=a;a;a;'a'", 180, "<$name1>=<$name1>;<$name1>;<name>;<quoted>", |text| {
        let parts: Vec<&str> = text.split(['=', ';']).collect();
        fails_if(parts[0] == parts[1] && parts[1] == parts[2])
    });
}

#[test]
fn two_pairs_of_one_name() {
    expect(NAMES, "a=a;a;a;'a'", 180, "<$name1>=<$name1>;<$name2>;<$name2>;<quoted>", |text| {
        let parts: Vec<&str> = text.split(['=', ';']).collect();
        fails_if(parts[0] == parts[1] && parts[2] == parts[3])
    });
}

#[test]
fn a_quoted_copy() {
    expect(NAMES, "a=b;c;d;'a'", 180, "<$name1>=<name>;<name>;<name>;'<$name1>'", |text| {
        let parts: Vec<&str> = text.split(['=', ';']).collect();
        fails_if(format!("'{}'", parts[0]) == parts[4])
    });
}

#[test]
fn a_copy_in_capitals() {
    let grammar = "s ::= name '=' capitals /*@ identifier */ name ::= [a-z]+ /*@ identifier */ capitals ::= [A-Z]+";
    expect(grammar, "ab=AB", 150, "<$name1>=<$name1: upper case>", |text| {
        fails_if(text.split_once('=').is_some_and(|(one, other)| one.to_uppercase() == other))
    });
}

#[test]
fn a_closing_tag() {
    let grammar = "s ::= open text close
        /*@ token */ open ::= '<' [a-z]+ '>'
        /*@ token */ close ::= '</' [a-z]+ '>'
        /*@ token */ text ::= [0-9]+";
    // Tags that do not fit are refused; the failure is about the pair.
    expect(grammar, "<b>1</b>", 200, "\\<<$open1>><text>\\</<$open1>>", |text| {
        let inner = text.trim_start_matches('<').split_once('>').map(|(name, _)| name.to_owned());
        unless_valid(inner.is_some_and(|name| text.ends_with(&format!("</{name}>"))), true)
    });
}

#[test]
fn names_that_must_differ() {
    let grammar = "s ::= 'let' name ',' name ';' /*@ identifier */ name ::= [a-z]+ /*@ skip */ space ::= ' '+";
    expect(grammar, "let x,y;", 160, "let <$name1>,<name: != $name1>;", |text| {
        let names = text.trim_start_matches("let").trim_end_matches(';').split_once(',');
        fails_if(names.is_some_and(|(one, other)| one.trim() != other.trim()))
    });
}

#[test]
fn a_name_that_must_not_be_another() {
    expect(LETS, "let a=1;let b=a;", 220, "let <$name1>=<value>;let <name: != $name1>=<$name1>;", |text| {
        let names: Vec<&str> =
            text.split([' ', '\n', '=', ';']).filter(|word| !word.is_empty() && *word != "let").collect();
        fails_if(names.len() == 4 && names[0] == names[3] && names[0] != names[2])
    });
}

#[test]
fn numbers_from_256_on() {
    let grammar = "s ::= 'n' op int  op ::= '<' | '>' | '=' /*@ token */ int ::= [0-9]+";
    expect(grammar, "n<300", 150, "n<op><int: >= 256>", |text| {
        fails_if(text[2..].parse::<u64>().is_ok_and(|number| number >= 256))
    });
}

#[test]
fn numbers_in_a_range() {
    let grammar = "s ::= 'at ' int /*@ token */ int ::= [0-9]+";
    expect(grammar, "at 50", 150, "at <int: 10..99>", |text| {
        fails_if(text[3..].parse::<u64>().is_ok_and(|number| (10..100).contains(&number)))
    });
}

#[test]
fn names_of_ten_letters_and_more() {
    let grammar = "s ::= 'call ' name /*@ identifier */ name ::= [a-z]+";
    expect(grammar, "call abcdefghijklm", 150, "call <name: length >= 10>", |text| fails_if(text.len() >= 15));
}

#[test]
fn lists_of_three_items_and_more() {
    let grammar = "s ::= '[' items ']'  items ::= int (',' int)*  /*@ token */ int ::= [0-9]+";
    expect(grammar, "[1,2,3]", 200, "[<items: length >= 3>]", |text| fails_if(text.split(',').count() >= 3));
}

#[test]
fn one_of_two_operators() {
    let grammar = "s ::= 'n' op 'm'  op ::= '+' | '-' | '*' | '/'";
    expect(grammar, "n+m", 10, "n<op: \"+\" | \"-\">m", |text| fails_if(text.contains(['+', '-'])));
}

#[test]
fn some_alternatives_of_a_rule() {
    let grammar = "s ::= 'do ' act  act ::= 'call ' name | 'jump ' name | 'wait ' name | 'load ' name '=' name
        /*@ identifier */ name ::= [a-z]+";
    expect(grammar, "do call f", 160, "do <act: \"call \" name | \"jump \" name>", |text| {
        fails_if(text.starts_with("do call") || text.starts_with("do jump"))
    });
}

/// A number that looks random and depends on the text only.
fn mixed(text: &str) -> u64 {
    text.bytes().fold(14_695_981_039_346_656_037, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211))
        >> 7
}

#[test]
fn nine_of_ten_fillings_invalid() {
    expect(expr(), "((4))", 450, "((<expr: rarely valid>))", |text| {
        unless_valid(text == "((4))" || mixed(text).is_multiple_of(10), doubled(text))
    });
}

#[test]
fn a_third_of_the_fillings_invalid() {
    expect(expr(), "((4))", 360, "((<expr>))", |text| {
        unless_valid(text == "((4))" || mixed(text) % 10 < 7, doubled(text))
    });
}

#[test]
fn unless_a_text_occurs() {
    // With one seed the number is taken for concrete: a known weakness.
    expect_for_all_but(1, expr(), "((4))", 180, "((<expr: without \"0000\">))", |text| {
        fails_if(doubled(text) && !text.contains("0000"))
    });
}

#[test]
fn hanging_variants_decide_nothing() {
    expect(expr(), "((4))", 150, "((4))", |text| if text == "((4))" { Outcome::Fail } else { Outcome::Unresolved });
}

#[test]
fn a_literal_angle_bracket_is_no_hole() {
    let grammar = "s ::= '<' name '>' ('x' | 'y')  /*@ identifier */ name ::= [a-z]+ /*@ skip */ space ::= ' '+";
    expect(grammar, "<b>x", 130, "\\<<name>>x", |text| fails_if(text.ends_with('x')));
}

#[test]
fn a_keyword_is_no_hole_for_its_white_space() {
    let grammar = "s ::= 'break' 'x'  /*@ skip */ space ::= [ #xA]+";
    expect(grammar, "break x", 6, "break x", |_| Outcome::Fail);
}

#[test]
fn a_digit_of_ten_is_free_after_ten_runs() {
    let grammar = "s ::= ('d' | 'e') digit  digit ::= [0-9]";
    expect(grammar, "d4", 24, "d<digit>", |text| fails_if(text.starts_with('d')));
}

#[test]
fn no_group_without_a_run_that_supports_it() {
    let grammar = "s ::= name ',' name  /*@ identifier */ name ::= [a-z]+";
    expect(grammar, "a,a", 220, "a,a", |text| if text == "a,a" { Outcome::Fail } else { Outcome::Unresolved });
}

#[test]
fn what_was_emptied_may_hold_anything() {
    let grammar = "s ::= ('a' | 'c') list 'b'  list ::= item*  item ::= '(' list ')' | 'x'";
    expect(grammar, "ab", 130, "a<list>b", |text| fails_if(text.starts_with('a')));
}

#[test]
fn white_space_that_matters_is_kept() {
    let grammar = "s ::= 'a' name 'b'  /*@ identifier */ name ::= [c-z]+  /*@ skip */ space ::= ' '+";
    expect(grammar, "a  d b", 140, "a  <name> b", |text| fails_if(text.starts_with("a  ")));
}

#[test]
fn one_run_in_twenty_is_missed() {
    let mut wrong = 0;
    for seed in 1..=SEEDS {
        let count = AtomicU64::new(seed * 7);
        let oracle = |bytes: &[u8]| {
            let number = count.fetch_add(1, Ordering::Relaxed);
            fails_if(doubled(&String::from_utf8_lossy(bytes)) && number % 20 != 7)
        };
        let (found, runs) = abstracted(expr(), "((4))", &oracle, seed);
        wrong += u32::from(found.pattern.text() != b"((<expr>))");
        assert!(runs <= 200, "{runs} runs");
    }
    assert!(wrong <= 1, "{wrong} of {SEEDS} seeds");
}

#[test]
fn a_concrete_part_has_the_shortest_text_that_does_not_fail() {
    let oracle = |bytes: &[u8]| fails_if(doubled(&String::from_utf8_lossy(bytes)));
    let grammar = Arc::new(Grammar::read(expr(), None).expect("bundled"));
    let tree = parse(&grammar, b"1+((22))").expect("an input");
    let mut search = Search::new(&oracle);
    let minimal = ddset::reduce::reduce(&grammar, tree, &mut search).tree;
    let pattern = generalize(&grammar, minimal, &mut search, &Options::default()).pattern;
    assert_eq!(pattern.text(), b"((<expr>))");
    let said = |part: &[u8], instead: &[u8]| {
        pattern.reasons.iter().any(|reason| pattern.tree.lexeme(reason.at) == part && reason.passes_with == instead)
    };
    assert!(said(b"(0)", b"0"), "{:?}", pattern.reasons);
}
