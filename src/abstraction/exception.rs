//! Exceptions: anything will do in a hole, apart from a text that was met.
//!
//! The filling that passed is made smaller first, so that what is left out is what matters in it.

use super::Engine;
use super::candidates::Candidate;
use crate::generate::{resized, stream};
use crate::grammar::SymbolId;
use crate::oracle::Outcome;
use crate::pattern::instances::filled;
use crate::pattern::{Condition, Filling, Hole};
use crate::search::Stop;
use crate::tree::{Builder, Tree, least};

/// Fillings of a hole that must have failed before one that passes may be an exception.
const FAILED: u32 = 4;
/// Leaves of a filling beyond which it is not taken apart.
const LEAVES: usize = 12;
/// Exceptions of one hole: with more, the hole is not free.
const EXCEPTIONS: usize = 3;
/// Fresh fillings without the exception that must fail.
const FRESH: u64 = 3;

impl Engine<'_, '_> {
    /// The condition that leaves out what makes `passing` pass, together with what `known` leaves out already.
    pub(super) fn exception(
        &mut self,
        candidate: Candidate,
        passing: &Tree,
        known: Option<Condition>,
    ) -> Result<Option<Condition>, Stop> {
        let at = candidate.at;
        let hole = self.holes.iter().find(|hole| hole.members == [at]);
        let failed = hole.map(|hole| hole.failed).into_iter().chain(self.counts.get(&at).map(|counts| counts.failed));
        if failed.max().unwrap_or(0) < FAILED {
            return Ok(None);
        }
        let Some((symbol, text)) = self.culprit(at, passing)? else { return Ok(None) };
        let anywhere = self.passes_anywhere(at, passing, symbol, &text)?;
        if !self.passes_alone(at, passing, symbol, &text)? {
            return Ok(None);
        }
        let condition = match (known, anywhere) {
            (Some(Condition::Without(mut texts)), true) if texts.len() < EXCEPTIONS => {
                texts.push(text);
                Condition::Without(texts)
            }
            (Some(Condition::Except(mut texts)), false) if texts.len() < EXCEPTIONS => {
                texts.push(text);
                Condition::Except(texts)
            }
            (None, true) => Condition::Without(vec![text]),
            (None, false) if passing.lexeme(0) == text => Condition::Except(vec![text]),
            _ => return Ok(None),
        };
        // The other side: fresh fillings without it fail.
        let hole = Hole { condition: Some(condition.clone()), ..Hole::new(vec![at], Filling::Any) };
        for draw in 0..FRESH {
            let mut rng = stream(self.options.seed, "exception", ((at as u64) << 32) + draw);
            let learned = (Some(&self.validity), false);
            let fillings = self.drawer.draw(self.grammar, &self.tree, &hole, learned, &mut rng);
            let fresh = fillings.iter().all(|(_, filling)| condition.holds(self.grammar, filling));
            if fresh && self.ask(&fillings)? == Outcome::Pass {
                return Ok(None);
            }
        }
        Ok(Some(condition))
    }

    /// The one leaf of a filling that makes it pass, and the shortest text there that does.
    fn culprit(&mut self, at: usize, passing: &Tree) -> Result<Option<(SymbolId, Vec<u8>)>, Stop> {
        let grammar = self.grammar;
        let special = |tree: &Tree, leaf: usize| {
            let symbol = tree.node(leaf).symbol;
            tree.is_leaf(grammar, leaf)
                && !grammar.is_literal(symbol)
                && tree.lexeme(leaf) != grammar.least_leaf(symbol)
        };
        let mut filling = passing.clone();
        let leaves: Vec<usize> = (0..filling.len()).filter(|leaf| special(&filling, *leaf)).collect();
        if leaves.is_empty() || leaves.len() > LEAVES {
            return Ok(None);
        }
        if leaves.len() > 1 {
            for &leaf in &leaves {
                let plain = least(grammar, filling.node(leaf).symbol);
                let trial = filling.replace(grammar.lexicon(), &[(leaf, &plain)]);
                if self.glance(at, trial.clone())? == Outcome::Pass {
                    filling = trial;
                }
            }
        }
        let left: Vec<usize> = (0..filling.len()).filter(|leaf| special(&filling, *leaf)).collect();
        let [leaf] = left.as_slice() else { return Ok(None) };
        let symbol = filling.node(*leaf).symbol;
        let mut text = filling.lexeme(*leaf).to_vec();
        let mut step = text.len() / 2;
        while step > 0 {
            let mut from = 0;
            while from + step <= text.len() && text.len() > step {
                let shorter = [&text[..from], &text[from + step..]].concat();
                match self.leaf_passes(at, &filling, *leaf, &shorter)? {
                    true => text = shorter,
                    false => from += step,
                }
            }
            step /= 2;
        }
        // The shortest text of all that passes is no exception: it is the rule.
        Ok((text != grammar.least_leaf(symbol)).then_some((symbol, text)))
    }

    /// The outcome with a filling, without a second look at a pass: what follows from it is verified in the end.
    fn glance(&mut self, at: usize, filling: Tree) -> Result<Outcome, Stop> {
        let text = filled(self.grammar, &self.tree, &[(at, filling)]);
        self.outcome(text.text(), false)
    }

    fn leaf_passes(&mut self, at: usize, filling: &Tree, leaf: usize, text: &[u8]) -> Result<bool, Stop> {
        let symbol = filling.node(leaf).symbol;
        if !self.grammar.lexicon().is_match(symbol, text) {
            return Ok(false);
        }
        let mut builder = Builder::default();
        builder.leaf(symbol, b"", text);
        let trial = filling.replace(self.grammar.lexicon(), &[(leaf, &builder.fragment())]);
        Ok(self.glance(at, trial)? == Outcome::Pass)
    }

    /// Whether the text makes the input pass inside of longer ones, too.
    fn passes_anywhere(&mut self, at: usize, filling: &Tree, symbol: SymbolId, text: &[u8]) -> Result<bool, Stop> {
        let grammar = self.grammar;
        let Some(leaf) = (0..filling.len()).find(|leaf| filling.node(*leaf).symbol == symbol) else { return Ok(false) };
        let mut tried = 0;
        for more in [b"1", b"a", b"x", b"7"] {
            for longer in [[text, more.as_slice()].concat(), [more.as_slice(), text].concat()] {
                if tried < 2 && grammar.lexicon().is_match(symbol, &longer) {
                    tried += 1;
                    if !self.leaf_passes(at, filling, leaf, &longer)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(tried > 0)
    }

    /// Whether it is just this text that passes: others of its length and kind fail.
    fn passes_alone(&mut self, at: usize, filling: &Tree, symbol: SymbolId, text: &[u8]) -> Result<bool, Stop> {
        let Some(leaf) = (0..filling.len()).find(|leaf| filling.node(*leaf).symbol == symbol) else { return Ok(false) };
        let length = String::from_utf8_lossy(text).chars().count();
        for draw in 0..FRESH {
            let mut rng = stream(self.options.seed, "neighbour", ((at as u64) << 32) + draw);
            let Some(other) = resized(self.grammar, symbol, text, length, &mut rng) else { return Ok(false) };
            if other == text || self.leaf_passes(at, filling, leaf, &other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
