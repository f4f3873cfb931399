//! The parser against what its documentation promises.

use super::*;
use crate::tree::to_sexp;

fn grammar(source: &str) -> Grammar {
    Grammar::read(source, None).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// The tree as text, after the checks that hold for every tree.
fn sexp(grammar: &Grammar, input: &str) -> String {
    let tree = parse(grammar, input.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    check(grammar, &tree, input.as_bytes());
    to_sexp(grammar, &tree)
}

fn check(grammar: &Grammar, tree: &Tree, input: &[u8]) {
    assert_eq!(tree.text(), input);
    assert!(tree.is_derivation(grammar, grammar.start()), "{}", to_sexp(grammar, tree));
}

#[test]
fn left_associative() {
    let g = grammar("e ::= e '+' e | [0-9]");
    assert_eq!(
        sexp(&g, "1+2+3"),
        r#"(e (e (e ("[0-9]" "1")) ("\"+\"" "+") (e ("[0-9]" "2"))) ("\"+\"" "+") (e ("[0-9]" "3")))"#
    );
}

#[test]
fn no_symbol_above_itself_over_the_same_text() {
    for source in
        ["S ::= S S | 'a' | ''", "S ::= S | 'a' S | ''", "S ::= T* | 'a' S; T ::= S S | S", "S ::= (S*)* | 'a'"]
    {
        let g = grammar(source);
        for n in 0..6 {
            sexp(&g, &"a".repeat(n));
        }
    }
    sexp(&grammar("S ::= S S | 'a' | ''"), &"a".repeat(60));
}

#[test]
fn empty_items_only_where_needed() {
    let g = grammar("s ::= ('a'?)*");
    assert_eq!(sexp(&g, ""), "(s (\"\\\"a\\\"*\"))");
    let g = grammar("s ::= x*; x ::= 'a'?");
    assert_eq!(parse(&g, b"").unwrap().len(), 2);
    let g = grammar("s ::= x{2,}; x ::= 'a'?");
    assert_eq!(sexp(&g, "aaa"), sexp(&g, "aaa"));
    assert_eq!(parse(&g, b"").unwrap().children(1).count(), 2);
    assert_eq!(parse(&g, b"aaa").unwrap().children(1).count(), 3);
}

#[test]
fn deep_inputs() {
    let g = grammar("e ::= '(' e ')' | 'x'");
    let n = 100_000;
    let input = format!("{}x{}", "(".repeat(n), ")".repeat(n));
    let tree = parse(&g, input.as_bytes()).unwrap();
    check(&g, &tree, input.as_bytes());
    assert_eq!(tree.len(), 3 * n + 2);
    let g = grammar("e ::= 'x' e | ''");
    let input = "x".repeat(2000);
    let tree = parse(&g, input.as_bytes()).unwrap();
    check(&g, &tree, input.as_bytes());
}
