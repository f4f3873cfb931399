//! Planted failures with a known pattern.

use super::{Abstraction, Options, generalize};
use crate::grammar::{Grammar, bundled};
use crate::oracle::{Oracle, Outcome};
use crate::search::Search;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const LETS: &str = "program ::= statement*
    statement ::= 'let' name '=' value ';'
    value ::= name | number | value op value
    op ::= '+' | '-' | '*'
    /*@ identifier */ name ::= [a-z]+
    /*@ token */ number ::= [0-9]+
    /*@ skip */ space ::= [ #xA]+";

/// The abstraction of a failing input, and the runs that it took.
fn abstracted(grammar: &str, input: &str, oracle: &dyn Oracle, options: &Options) -> (Abstraction, u64) {
    let grammar = Arc::new(Grammar::read(grammar, None).expect("valid grammar"));
    let tree = crate::parse::parse(&grammar, input.as_bytes()).expect("parses");
    let mut search = Search::new(oracle);
    let first =
        (0..3).map(|_| search.retest(input.as_bytes()).expect("runs")).find(|outcome| *outcome == Outcome::Fail);
    assert!(first.is_some(), "{input} must fail");
    let abstraction = generalize(&grammar, tree, &mut search, options);
    (abstraction, search.runs())
}

/// The pattern's text for a steady oracle, the same for several seeds.
fn pattern(grammar: &str, input: &str, oracle: impl Fn(&str) -> Outcome + Send + Sync, most_runs: u64) -> String {
    let oracle = |bytes: &[u8]| oracle(std::str::from_utf8(bytes).expect("text"));
    let mut texts: Vec<String> = (1..=10)
        .map(|seed| {
            let (found, runs) = abstracted(grammar, input, &oracle, &Options { seed, ..Options::default() });
            assert!(found.stopped.is_none());
            assert_eq!(found.pattern.evidence.passed, 0);
            assert!(runs <= most_runs, "{runs} runs");
            String::from_utf8(found.pattern.text()).expect("text")
        })
        .collect();
    texts.dedup();
    assert_eq!(texts.len(), 1, "one pattern for every seed: {texts:?}");
    texts.remove(0)
}

fn fails_if(condition: bool) -> Outcome {
    if condition { Outcome::Fail } else { Outcome::Pass }
}

fn expr() -> &'static str {
    bundled::find("expr").expect("bundled").source
}

#[test]
fn doubled_parentheses() {
    let oracle = |text: &str| fails_if(text.replace(' ', "").contains("((") && text.replace(' ', "").contains("))"));
    assert_eq!(pattern(expr(), "((4))", oracle, 135), "((<expr>))");
}

#[test]
fn an_alternative_that_passes_is_no_hole() {
    let oracle = |text: &str| fails_if(text.contains("0000"));
    assert_eq!(pattern(expr(), "0000", oracle, 12), "0000");
}

#[test]
fn either_of_two_is_enough() {
    let oracle = |text: &str| {
        let text = text.replace(' ', "");
        let halves = text.split_once(")+(");
        fails_if(halves.is_some() && (text.starts_with("((") || text.ends_with("))")))
    };
    let text = pattern(expr(), "((4))+((5))", oracle, 400);
    assert!(text.contains("((<expr>))") || text.contains("((<expr>"), "{text}");
}

#[test]
fn one_of_two_operators() {
    let oracle = |text: &str| fails_if(text.contains('+') || text.contains('-'));
    let grammar = "s ::= 'n' op 'm'  op ::= '+' | '-' | '*' | '/'";
    assert_eq!(pattern(grammar, "n+m", oracle, 10), "n<op: \"+\" | \"-\">m");
}

#[test]
fn equal_names_are_tied_and_others_are_not() {
    // The first name must be the one that is read; the other is another.
    let oracle = |text: &str| {
        let names: Vec<&str> = text.split([' ', '=', ';']).filter(|word| !word.is_empty() && *word != "let").collect();
        fails_if(names.len() == 4 && names[0] == names[3] && names[0] != names[2])
    };
    assert_eq!(
        pattern(LETS, "let a=1;let b=a;", oracle, 220),
        "let <$name1>=<value>;let <name>=<$name1>;".replace("<name>", "<name: != $name1>")
    );
}

#[test]
fn three_of_four_names_are_tied() {
    let grammar = "s ::= name '=' name ';' name ';' quoted
        /*@ identifier */ name ::= [a-z]+
        /*@ token */ quoted ::= \"'\" [a-z]* \"'\"";
    let oracle = |text: &str| {
        let parts: Vec<&str> = text.split(['=', ';']).collect();
        fails_if(parts[0] == parts[1] && parts[1] == parts[2])
    };
    assert_eq!(pattern(grammar, "a=a;a;'a'", oracle, 130), "<$name1>=<$name1>;<$name1>;<quoted>");
}

#[test]
fn a_literal_angle_bracket_is_kept_apart_from_holes() {
    let grammar = "s ::= '<' name '>' ('x' | 'y')  /*@ identifier */ name ::= [a-z]+ /*@ skip */ space ::= ' '+";
    let oracle = |text: &str| fails_if(text.ends_with('x'));
    assert_eq!(pattern(grammar, "<b>x", oracle, 110), "\\<<name>>x");
}

#[test]
fn a_flaky_oracle_gets_the_same_pattern() {
    let count = AtomicU64::new(0);
    let oracle = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let number = count.fetch_add(1, Ordering::Relaxed);
        // One failing run in twenty is missed.
        fails_if(text.contains("((") && text.contains("))") && number % 20 != 7)
    };
    for seed in 1..=20 {
        let (found, _) = abstracted(expr(), "((4))", &oracle, &Options { seed, ..Options::default() });
        assert_eq!(found.pattern.text(), b"((<expr>))", "seed {seed}");
    }
}

#[test]
fn hanging_variants_decide_nothing() {
    let oracle = |text: &str| if text == "((4))" { Outcome::Fail } else { Outcome::Unresolved };
    assert_eq!(pattern(expr(), "((4))", oracle, 150), "((4))");
}

#[test]
fn an_input_is_an_instance_of_its_own_pattern_and_generated_ones_fail() {
    let oracle = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(' ', "");
        fails_if(text.contains("((") && text.contains("))"))
    };
    let (found, _) = abstracted(expr(), "((4))", &oracle, &Options::default());
    let grammar = &found.pattern.grammar;
    let mut made = std::collections::BTreeSet::new();
    for instance in crate::pattern::Instances::new(&found.pattern, 9).take(1_000) {
        assert_eq!(oracle(instance.text()), Outcome::Fail);
        let parsed = crate::parse::parse(grammar, instance.text()).expect("in the language");
        assert!(instance.is_derivation(grammar, grammar.start()));
        assert_eq!(parsed.text(), instance.text());
        assert!(made.insert(instance.text().to_vec()));
    }
    let saved = found.pattern.to_json().expect("serialises");
    let read = crate::pattern::Pattern::from_json(&saved).expect("reads");
    assert_eq!(read.text(), found.pattern.text());
    assert_eq!(read.to_json().expect("serialises"), saved);
}

#[test]
fn an_interrupted_search_keeps_what_it_knows() {
    let oracle = |bytes: &[u8]| fails_if(bytes.windows(2).any(|pair| pair == b"(("));
    let grammar = Arc::new(Grammar::read(expr(), None).expect("valid"));
    let tree = crate::parse::parse(&grammar, b"((4))").expect("parses");
    let budget = crate::search::Budget { max_runs: Some(20), deadline: None };
    let mut search = Search::new(&oracle).with_budget(budget);
    let found = generalize(&grammar, tree, &mut search, &Options::default());
    assert!(found.stopped.is_some());
    assert_eq!(found.pattern.text(), b"((<expr>))");
    assert!(found.pattern.evidence.failed < 20);
}

#[test]
fn without_tokens_names_are_tied_too() {
    let grammar = "s ::= 'let ' var '=1;' var  var ::= letter+  letter ::= [a-z]";
    let oracle = |text: &str| {
        let name = text.strip_prefix("let ").and_then(|rest| rest.split_once("=1;"));
        fails_if(name.is_some_and(|(declared, read)| declared == read))
    };
    assert_eq!(pattern(grammar, "let x=1;x", oracle, 130), "let <$var1>=1;<$var1>");
}

#[test]
fn slots_say_where_something_may_be_inserted() {
    let grammar = "s ::= ('a' | 'c') list 'b'  list ::= item*  item ::= '(' list ')' | 'x'";
    let oracle = |bytes: &[u8]| fails_if(bytes.starts_with(b"a"));
    let options = Options { slots: true, ..Options::default() };
    let (found, _) = abstracted(grammar, "ab", &oracle, &options);
    assert_eq!(found.pattern.text(), b"a<list>b");
}
