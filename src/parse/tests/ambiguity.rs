//! What is said of ambiguous inputs.

use super::{grammar, random_grammar, words};
use crate::grammar::Grammar;
use crate::parse::{Ambiguity, Parser, Step};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn ambiguities(g: &Grammar, input: &str) -> Vec<Ambiguity> {
    Parser::new(g).ambiguities(input.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

fn count(g: &Grammar, input: &str) -> Option<u128> {
    Parser::new(g).count(input.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn both_derivations_are_shown() {
    let g = grammar("e ::= e '+' e | 'x'");
    let [only] = &ambiguities(&g, "x+x+x")[..] else { panic!("one place") };
    let e = g.start();
    assert_eq!((only.symbol, only.span.clone()), (e, 0..5));
    let ends = |step: &Step| step.parts.iter().map(|(_, span)| span.end).collect::<Vec<_>>();
    assert_eq!((ends(&only.taken), ends(&only.other)), (vec![3, 4, 5], vec![1, 2, 5]));

    let g = grammar("s ::= 'i' s | 'i' s 'e' s | 'x'");
    let [only] = &ambiguities(&g, "iixex")[..] else { panic!("one place") };
    assert_eq!((only.taken.alternative, only.other.alternative), (0, 1));
}

#[test]
fn levels_leave_nothing_ambiguous() {
    let g = grammar("e ::= /*@ left */ e '*' e | /*@ left */ e '+' e | /*@ right */ '-' e | 'x'");
    assert_eq!(ambiguities(&g, "x+x*x*x+-x+x"), []);
    assert_eq!(count(&g, "x+x*x*x+-x+x"), Some(1));
}

/// The Catalan numbers.
#[test]
fn derivations_are_counted() {
    let g = grammar("e ::= e e | 'a'");
    for (n, wanted) in [1, 1, 2, 5, 14, 42, 132].into_iter().enumerate() {
        assert_eq!(count(&g, &"a".repeat(n + 1)), Some(wanted));
    }
    assert_eq!(count(&g, &"a".repeat(100)), Some(u128::MAX));
    assert_eq!(count(&grammar("e ::= e 'a' | e | 'b'"), "ba"), None);
    assert_eq!(count(&grammar("s ::= 'a'? 'a'? 'a'?"), "aa"), Some(3));
}

/// A text has one derivation exactly if no place of its tree has another.
#[test]
fn report_and_count_agree() {
    let (mut one, mut more) = (0, 0);
    for seed in 0..400 {
        let source = random_grammar(&mut ChaCha8Rng::seed_from_u64(seed));
        let Ok(g) = Grammar::read(&source, None) else { continue };
        let parser = Parser::new(&g);
        for word in words(4).iter().filter(|word| parser.parse(word).is_ok()) {
            let places = parser.ambiguities(word).unwrap_or_else(|e| panic!("{e}"));
            match parser.count(word).unwrap_or_else(|e| panic!("{e}")) {
                Some(1) => {
                    assert_eq!(places, [], "{word:?} of\n{source}");
                    one += 1;
                }
                Some(_) => {
                    assert_ne!(places, [], "{word:?} of\n{source}");
                    more += 1;
                }
                None => {}
            }
        }
    }
    assert!(one > 200 && more > 50, "{one} {more}");
}
