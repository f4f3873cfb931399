//! What holds for every grammar, input and deterministic oracle.

use super::{outcome, single_edits};
use crate::grammar::{Grammar, Kind, SymbolId};
use crate::oracle::Outcome;
use crate::reduce::{Reduction, reduce};
use crate::search::Search;
use crate::tree::{Builder, Tree};
use proptest::prelude::*;

/// A small generator of its own, so that a case is one number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }
}

/// A grammar of a few rules that refer to each other, each with an alternative that ends.
fn grammar(dice: &mut Dice) -> Grammar {
    let rules = 2 + dice.roll(3);
    let mut source = String::new();
    for rule in 0..rules {
        source += &format!("r{rule} ::= ");
        for _ in 0..1 + dice.roll(3) {
            for _ in 0..1 + dice.roll(3) {
                let part = match dice.roll(3) {
                    0 => format!("\"{}\"", ["a", "b", "cc", "("][dice.roll(4)]),
                    1 => format!("r{}", dice.roll(rules)),
                    _ => format!("(r{} \"{}\")", dice.roll(rules), ["d", "e"][dice.roll(2)]),
                };
                source += &format!("{part}{} ", ["", "*", "?", "+", "{2,4}"][dice.roll(5)]);
            }
            if dice.roll(4) == 0 {
                source += &format!("r{} (\",\" r{})* ", rules - 1, rules - 1);
            }
            source += "| ";
        }
        source += &format!("\"{}\" | [x-z]\n", ["a", "f", "gg"][dice.roll(3)]);
    }
    Grammar::read(&source, None).unwrap_or_else(|error| panic!("{error} in {source}"))
}

/// A random derivation of the start symbol, of some hundred nodes at most.
fn derivation(grammar: &Grammar, dice: &mut Dice) -> Tree {
    enum Step {
        Derive(SymbolId),
        Close,
    }
    let mut builder = Builder::default();
    let mut todo = vec![Step::Derive(grammar.start())];
    while let Some(step) = todo.pop() {
        let Step::Derive(symbol) = step else {
            builder.close();
            continue;
        };
        let small = builder.len() > 120;
        match grammar.kind(symbol) {
            Kind::Literal(text) => builder.leaf(symbol, b"", text),
            Kind::Set(_) => builder.leaf(symbol, b"", [b"x", b"y", b"z"][dice.roll(3)]),
            Kind::Choice(alternatives) => {
                let least = grammar.least_alternative(symbol) as usize;
                let number = if small { least } else { dice.roll(alternatives.len()) };
                builder.open(symbol, number as u32);
                todo.push(Step::Close);
                todo.extend(alternatives[number].iter().rev().map(|part| Step::Derive(*part)));
            }
            Kind::Repeat { item, separator, min, max } => {
                let more = if small { 0 } else { dice.roll(4) as u32 };
                let count = (min + more).min(max.unwrap_or(u32::MAX));
                builder.open(symbol, 0);
                todo.push(Step::Close);
                for n in 0..count {
                    todo.push(Step::Derive(*item));
                    todo.extend(separator.filter(|_| n + 1 < count).map(Step::Derive));
                }
            }
        }
    }
    builder.finish(b"")
}

/// Whether the bytes occur in this order.
fn holds(text: &[u8], wanted: &[u8]) -> bool {
    let mut text = text.iter();
    wanted.iter().all(|byte| text.any(|other| other == byte))
}

fn laws(grammar: &Grammar, input: &Tree, interesting: &(dyn Fn(&[u8]) -> bool + Sync)) -> Result<(), TestCaseError> {
    assert!(input.is_derivation(grammar, grammar.start()), "{input:?}");
    let oracle = |text: &[u8]| -> Outcome { outcome(interesting(text)) };
    let run = || -> Reduction { reduce(grammar, input.clone(), &mut Search::new(&oracle)) };
    let found = run();
    prop_assert!(interesting(found.tree.text()));
    prop_assert!(found.after <= found.before && found.after == found.tree.text().len());
    prop_assert!(found.tree.is_derivation(grammar, grammar.start()));
    prop_assert!(found.proven && found.stopped.is_none());
    let mut ids: Vec<_> = found.tree.nodes().iter().map(|node| node.id).collect();
    ids.sort_unstable();
    ids.dedup();
    prop_assert_eq!(ids.len(), found.tree.len(), "ids are given once");
    for edit in single_edits(grammar, &found.tree) {
        let text = |tree: &Tree| String::from_utf8_lossy(tree.text()).into_owned();
        prop_assert!(!interesting(edit.text()), "{} can become {}", text(&found.tree), text(&edit));
    }
    let again = run();
    prop_assert_eq!(again.tree, found.tree);
    prop_assert_eq!(again.runs, found.runs);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn reduces_by_a_monotone_oracle(seed in 1u64..) {
        let mut dice = Dice(seed);
        let grammar = grammar(&mut dice);
        let input = derivation(&grammar, &mut dice);
        let text = input.text();
        let wanted: Vec<u8> = (0..dice.roll(4)).filter_map(|_| text.get(dice.roll(text.len().max(1)))).copied().collect();
        let mut wanted = wanted;
        if !holds(text, &wanted) {
            wanted.truncate(1);
        }
        laws(&grammar, &input, &|text| holds(text, &wanted))?;
    }

    #[test]
    fn reduces_by_an_oracle_that_is_not_monotone(seed in 1u64..) {
        let mut dice = Dice(seed);
        let grammar = grammar(&mut dice);
        let input = derivation(&grammar, &mut dice);
        let measure = |text: &[u8]| text.iter().fold(0u64, |sum, byte| (sum * 31 + u64::from(*byte)) % 1_000_003) % 3;
        let wanted = measure(input.text());
        laws(&grammar, &input, &|text| measure(text) == wanted)?;
    }

    #[test]
    fn a_stop_loses_nothing(seed in 1u64.., limit in 0u64..20) {
        let mut dice = Dice(seed);
        let grammar = grammar(&mut dice);
        let input = derivation(&grammar, &mut dice);
        let letter = input.text().last().copied();
        let interesting = |text: &[u8]| text.last().copied() == letter;
        let oracle = |text: &[u8]| outcome(interesting(text));
        let mut search = super::examples::limited(&oracle, limit);
        let found = reduce(&grammar, input.clone(), &mut search);
        prop_assert!(interesting(found.tree.text()));
        prop_assert!(found.runs <= limit);
        prop_assert!(found.after <= found.before);
        prop_assert!(found.proven != found.stopped.is_some());
    }
}
