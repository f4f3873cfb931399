//! New derivations: random fragments of a symbol, valid for the grammar by construction.
//!
//! [`derive()`] walks the grammar and asks a [`Policy`] at each choice. [`Plain`] chooses evenly; what abstraction learns of
//! validity is another policy ([`validity`]).

mod token;
pub mod validity;
pub mod words;

pub use token::{TokenSource, resized};

use crate::grammar::{Grammar, Kind, SymbolId};
use crate::tree::{Builder, Tree};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A place in the grammar at which a choice is made: a child position of one alternative of a symbol, or the hole of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Slot {
    /// The root of a fragment that fills this hole (numbered by the place of its first node).
    Hole(u32),
    /// The child at a position of an alternative. Items of a repetition all have position 0, separators position 1.
    Child(SymbolId, u32, u32),
}

/// How many options a repetition has: the least count, and one, two or three more.
pub const COUNTS: u32 = 4;

/// Chooses at each branching of a derivation.
pub trait Policy {
    /// One of `options` (never empty) for `symbol` at `slot`, `depth` steps below the fragment's root. An option of a choice is
    /// the number of its alternative; of a repetition, how many items more than the least count.
    fn choose(
        &mut self,
        slot: Slot,
        symbol: SymbolId,
        options: &[u32],
        depth: u32,
        exhausted: bool,
        rng: &mut ChaCha8Rng,
    ) -> u32;
}

/// Chooses evenly; once the allowance is used up, among the lowest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Policy for Plain {
    fn choose(&mut self, _: Slot, _: SymbolId, options: &[u32], _: u32, _: bool, rng: &mut ChaCha8Rng) -> u32 {
        options[rng.random_range(0..options.len())]
    }
}

/// Chooses as another policy does up to some depth, and from there on only among what ends soonest.
pub struct Shallow<'p> {
    /// The grammar.
    pub grammar: &'p Grammar,
    /// The depth below the fragment's root.
    pub most: u32,
    /// The other policy.
    pub policy: &'p mut dyn Policy,
}

impl Policy for Shallow<'_> {
    fn choose(
        &mut self,
        slot: Slot,
        symbol: SymbolId,
        options: &[u32],
        depth: u32,
        exhausted: bool,
        rng: &mut ChaCha8Rng,
    ) -> u32 {
        if depth < self.most {
            return self.policy.choose(slot, symbol, options, depth, exhausted, rng);
        }
        let mut options = options.to_vec();
        lowest(self.grammar, symbol, &mut options, 0);
        self.policy.choose(slot, symbol, &options, depth, exhausted, rng)
    }
}

/// The options at a symbol: alternatives of a choice, counts of a repetition.
pub fn options(grammar: &Grammar, symbol: SymbolId) -> Vec<u32> {
    match grammar.kind(symbol) {
        Kind::Choice(alternatives) => (0..alternatives.len() as u32).collect(),
        Kind::Repeat { min, max, .. } => {
            let most = max.map_or(COUNTS, |max| (max - min + 1).min(COUNTS));
            (0..most).collect()
        }
        Kind::Literal(_) | Kind::Set(_) => vec![0],
    }
}

/// A stream of random numbers for one purpose: the same for the same seed, purpose and number, whatever else is drawn.
pub fn stream(seed: u64, purpose: &str, number: u64) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&number.to_le_bytes()).update(purpose.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// What a derivation is made with.
#[derive(Debug)]
pub struct Derivation<'a> {
    /// The grammar.
    pub grammar: &'a Grammar,
    /// Where the texts of tokens come from.
    pub tokens: &'a mut TokenSource,
    /// The slot of the fragment's root.
    pub slot: Slot,
    /// How many options may be taken that need more than the lowest would; afterwards the derivation closes by the lowest. It
    /// bounds the size, not the height: tall rules at a height bound would still branch at every level.
    pub allowance: i32,
    /// The option to take at the root, if it is given.
    pub first: Option<u32>,
}

/// How far past its allowance a derivation may still choose among low alternatives before it must take the lowest.
const GRACE: i32 = 6;

/// A random fragment of `symbol`.
pub fn derive(what: Derivation<'_>, symbol: SymbolId, policy: &mut dyn Policy, rng: &mut ChaCha8Rng) -> Tree {
    enum Step {
        Derive(SymbolId, Slot, u32),
        Close,
    }
    let Derivation { grammar, tokens, slot, mut allowance, mut first } = what;
    let mut builder = Builder::default();
    let mut last: Vec<u8> = Vec::new();
    let mut todo = vec![Step::Derive(symbol, slot, 0)];
    while let Some(step) = todo.pop() {
        let (symbol, slot, depth) = match step {
            Step::Derive(symbol, slot, depth) => (symbol, slot, depth),
            Step::Close => {
                builder.close();
                continue;
            }
        };
        if grammar.is_leaf(symbol) {
            let lexeme = tokens.text(grammar, symbol, rng);
            let lexicon = grammar.lexicon();
            let apart = lexicon.is_immediate(symbol) || !lexicon.run_together(&last, &lexeme);
            builder.leaf(symbol, if apart { &[] } else { lexicon.separator_after(&last) }, &lexeme);
            if !lexeme.is_empty() {
                last = lexeme;
            }
            continue;
        }
        let mut options = options(grammar, symbol);
        let given = first.take();
        if let Some(given) = given {
            options = vec![given];
        } else if allowance < -GRACE {
            lowest(grammar, symbol, &mut options, 0);
        } else if allowance < 0 {
            lowest(grammar, symbol, &mut options, 1);
        }
        let option = match options.as_slice() {
            [only] => *only,
            _ => policy.choose(slot, symbol, &options, depth, allowance < 0, rng),
        };
        allowance -= i32::from(excess(grammar, symbol, option) > 0);
        todo.push(Step::Close);
        match grammar.kind(symbol) {
            Kind::Repeat { item, separator, min, .. } => {
                builder.open(symbol, 0);
                let count = min + option;
                for n in 0..count {
                    todo.push(Step::Derive(*item, Slot::Child(symbol, 0, 0), depth + 1));
                    let between = separator.filter(|_| n + 1 < count);
                    todo.extend(between.map(|s| Step::Derive(s, Slot::Child(symbol, 0, 1), depth + 1)));
                }
            }
            _ => {
                builder.open(symbol, option);
                let parts = grammar.alternative(symbol, option).iter().enumerate().rev();
                todo.extend(parts.map(|(position, part)| {
                    Step::Derive(*part, Slot::Child(symbol, option, position as u32), depth + 1)
                }));
            }
        }
    }
    builder.fragment()
}

/// Random inputs of a whole grammar, one after the other. As everywhere, tokens that come to stand side by side may be read as
/// others, so that a few are not in the language.
#[derive(Debug)]
pub struct Samples<'g> {
    grammar: &'g Grammar,
    size: i32,
    seed: u64,
    number: u64,
}

/// Takes the option that needs more of two while it may: most choices, taken evenly, end a derivation far below its size.
struct Growing<'g> {
    grammar: &'g Grammar,
}

impl Policy for Growing<'_> {
    fn choose(
        &mut self,
        slot: Slot,
        symbol: SymbolId,
        options: &[u32],
        depth: u32,
        exhausted: bool,
        rng: &mut ChaCha8Rng,
    ) -> u32 {
        let [one, other] = [0, 1].map(|_| Plain.choose(slot, symbol, options, depth, exhausted, rng));
        let more = excess(self.grammar, symbol, other) > excess(self.grammar, symbol, one);
        if more && !exhausted { other } else { one }
    }
}

impl<'g> Samples<'g> {
    /// Inputs in which at most about `size` choices are others than those that end a derivation soonest.
    pub fn new(grammar: &'g Grammar, size: i32, seed: u64) -> Self {
        Samples { grammar, size, seed, number: 0 }
    }
}

impl Iterator for Samples<'_> {
    type Item = Tree;

    /// Never none.
    fn next(&mut self) -> Option<Tree> {
        let mut rng = stream(self.seed, "sample", self.number);
        self.number += 1;
        // One that may remember nothing of others: the same number gives the same input.
        let mut tokens = TokenSource::default();
        let grammar = self.grammar;
        let allowance = rng.random_range(0..=self.size.max(0));
        let what = Derivation { grammar, tokens: &mut tokens, slot: Slot::Hole(0), allowance, first: None };
        Some(derive(what, grammar.start(), &mut Growing { grammar }, &mut rng))
    }
}

/// Keeps the options whose derivation can be at most `more` higher than the lowest. With 0 the height left falls at every
/// step, so that a derivation ends.
fn lowest(grammar: &Grammar, symbol: SymbolId, options: &mut Vec<u32>, more: u32) {
    let low = options.iter().map(|option| excess(grammar, symbol, *option)).min().unwrap_or(0);
    options.retain(|option| excess(grammar, symbol, *option) <= low + more);
}

/// How much more an option needs than the lowest of its symbol: levels of a choice, items of a repetition. What needs no more
/// is free, or a grammar with many levels of operators would use up any allowance before it reaches an operand.
fn excess(grammar: &Grammar, symbol: SymbolId, option: u32) -> u32 {
    match grammar.kind(symbol) {
        Kind::Choice(alternatives) => {
            let height = |parts: &Vec<SymbolId>| parts.iter().map(|part| grammar.height(*part)).max().unwrap_or(0);
            let own = alternatives.get(option as usize).map_or(0, height);
            own + 1 - grammar.height(symbol).min(own + 1)
        }
        _ => option,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_derivations_of_bounded_size() {
        let grammar = Grammar::read(crate::grammar::bundled::ALL[0].source, None).expect("bundled");
        let mut tokens = TokenSource::default();
        for number in 0..300 {
            let mut rng = stream(1, "test", number);
            let what =
                Derivation { grammar: &grammar, tokens: &mut tokens, slot: Slot::Hole(0), allowance: 24, first: None };
            let tree = derive(what, grammar.start(), &mut Plain, &mut rng);
            assert!(tree.is_derivation(&grammar, grammar.start()));
            assert!(tree.text().len() < 2_000, "{}", tree.text().len());
        }
    }
}
