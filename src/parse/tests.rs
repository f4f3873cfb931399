//! The parser against what its documentation promises.

#![allow(clippy::unwrap_used)]

use super::reference::Reference;
use super::*;
use crate::tree::to_sexp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

/// A small grammar, with everything that makes parsing hard: empty, cyclic, ambiguous.
fn random_grammar(rng: &mut ChaCha8Rng) -> String {
    let rules = rng.random_range(1..5);
    (0..rules).map(|rule| format!("{} ::= {}\n", char::from(b'A' + rule), random_choice(rng, rules, 2))).collect()
}

fn random_choice(rng: &mut ChaCha8Rng, rules: u8, depth: u32) -> String {
    let alternatives = rng.random_range(1..4);
    let all: Vec<String> = (0..alternatives)
        .map(|_| {
            let parts = rng.random_range(1..4);
            (0..parts).map(|_| random_part(rng, rules, depth)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    all.join(" | ")
}

fn random_part(rng: &mut ChaCha8Rng, rules: u8, depth: u32) -> String {
    let part = match rng.random_range(0..10) {
        0..2 => "'a'".to_owned(),
        2 => "'b'".to_owned(),
        3 => ["'ab'", "[ab]", "[^a]", "'aa'"][rng.random_range(0..4)].to_owned(),
        4 => "''".to_owned(),
        5 if depth > 0 => format!("({})", random_choice(rng, rules, depth - 1)),
        _ => char::from(b'A' + rng.random_range(0..rules)).to_string(),
    };
    let suffix = match rng.random_range(0..12) {
        0 => "?",
        1 => "*",
        2 => "+",
        3 => ["{2}", "{1,3}", "{0,2}", "{2,}", "{2,3}"][rng.random_range(0..5)],
        4 if depth > 0 => return format!("{part} ({} {part})*", random_part(rng, rules, 0)),
        _ => "",
    };
    format!("{part}{suffix}")
}

fn words(longest: usize) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let until = words.len();
        for word in from..until {
            for letter in [b'a', b'b'] {
                let mut longer = words[word].clone();
                longer.push(letter);
                words.push(longer);
            }
        }
        from = until;
    }
    words
}

#[test]
fn agrees_with_the_plain_rules_tree_for_tree() {
    let words = words(4);
    let mut grammars = 0;
    let mut accepted = 0;
    for seed in 0..1500 {
        let source = random_grammar(&mut ChaCha8Rng::seed_from_u64(seed));
        let Ok(g) = Grammar::read(&source, None) else { continue };
        grammars += 1;
        let parser = Parser::new(&g);
        for word in &words {
            let reference = Reference::new(&g, word);
            match parser.parse(word) {
                Ok(tree) => {
                    assert!(reference.accepts(), "accepted {word:?} of\n{source}");
                    check(&g, &tree, word);
                    let nodes: Vec<_> = tree
                        .nodes()
                        .iter()
                        .map(|node| (node.symbol, node.alternative, node.start as usize, node.end as usize))
                        .collect();
                    assert_eq!(nodes, reference.tree(), "seed {seed}, {word:?} of\n{source}");
                    accepted += 1;
                }
                Err(error) => assert!(!reference.accepts(), "seed {seed}: {error}, {word:?} of\n{source}"),
            }
        }
    }
    assert!(grammars > 1000 && accepted > 5000, "{grammars} grammars, {accepted} texts");
}
