//! Conditions: a node at which some filling passes may still be free from some number on, from some length on, among some
//! alternatives, or as long as it is another text than somewhere else.
//!
//! Each is looked for where one run can rule it out, and is believed only after fresh fillings on both sides: inside it they
//! fail, outside they pass.

use super::Engine;
use super::candidates::Candidate;
use crate::generate::{Plain, options, stream};
use crate::grammar::Kind;
use crate::oracle::Outcome;
use crate::pattern::condition::{length, number};
use crate::pattern::instances::{SIZES, with_text};
use crate::pattern::{Condition, Filling, Hole, only_leaf};
use crate::search::Stop;
use crate::tree::Tree;

/// Fresh fillings on each side of a condition.
const EACH_SIDE: u64 = 2;
/// A rule with more alternatives than this is not taken apart: each costs runs.
const ALTERNATIVES: usize = 12;
/// Alternatives that pass before any that fails, after which the rest is not tried.
const PASSING: usize = 3;

impl Engine<'_, '_> {
    /// The simplest condition under which the node is free, though `passing` made the input pass.
    pub(super) fn condition(&mut self, candidate: Candidate, passing: &Tree) -> Result<Option<Condition>, Stop> {
        let known = self.hole_of(candidate.at).and_then(|hole| hole.condition.clone());
        if let Some(known) = known {
            // A second condition on one hole says little. One more text that is left out is still one condition.
            return match known {
                Condition::Except(_) | Condition::Without(_) => self.exception(candidate, passing, Some(known)),
                _ => Ok(None),
            };
        }
        if only_leaf(self.grammar, &self.tree, candidate.at).is_some() {
            if let Some(found) = self.numbers(candidate.at, passing)? {
                return Ok(Some(found));
            }
            if let Some(found) = self.difference(candidate.at, passing)? {
                return Ok(Some(found));
            }
            if let Some(found) = self.lengths(candidate.at, passing)? {
                return Ok(Some(found));
            }
        } else if matches!(self.grammar.kind(self.tree.node(candidate.core).symbol), Kind::Repeat { .. })
            && let Some(found) = self.lengths(candidate.at, passing)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = self.alternatives(candidate)? {
            return Ok(Some(found));
        }
        self.exception(candidate, passing, None)
    }

    fn hole_of(&self, at: usize) -> Option<&Hole> {
        self.holes.iter().find(|hole| hole.members.contains(&at))
    }

    fn text_at(&mut self, at: usize, text: &[u8]) -> Result<Option<Outcome>, Stop> {
        match with_text(self.grammar, &self.tree, at, text) {
            Some(filling) => self.ask_at(at, filling).map(Some),
            None => Ok(None),
        }
    }

    fn number_at(&mut self, at: usize, number: u64) -> Result<Option<Outcome>, Stop> {
        self.text_at(at, number.to_string().as_bytes())
    }

    /// Numbers from some bound on, up to some bound, or both, by bisection.
    fn numbers(&mut self, at: usize, passing: &Tree) -> Result<Option<Condition>, Stop> {
        let (Some(own), Some(passed)) = (number(self.tree.lexeme(at)), number(passing.lexeme(0))) else {
            return Ok(None);
        };
        let fails = Some(Outcome::Fail);
        let (mut from, mut to) = (None, None);
        if passed < own {
            if self.number_at(at, own.saturating_add(1))? != fails {
                return Ok(None);
            }
            from = self.bisect(at, passed, own)?;
            let far = own.saturating_mul(1_000).saturating_add(65_536);
            if self.number_at(at, far)? == Some(Outcome::Pass) {
                to = self.bisect(at, far, own)?;
            }
        } else {
            if own > 0 && self.number_at(at, own - 1)? != fails {
                return Ok(None);
            }
            to = self.bisect(at, passed, own)?;
            if own > 0 && self.number_at(at, 0)? == Some(Outcome::Pass) {
                from = self.bisect(at, 0, own)?;
            }
        }
        // A single number is no hole.
        if from.is_none() && to.is_none() || Some(from.unwrap_or(0)) == to {
            return Ok(None);
        }
        let condition = Condition::Number { from, to };
        for draw in 0..EACH_SIDE {
            let mut rng = stream(self.options.seed, "inside", ((at as u64) << 32) + draw);
            let hole = Hole { condition: Some(condition.clone()), ..Hole::new(vec![at], Filling::Any) };
            let inside = self.drawer.draw(self.grammar, &self.tree, &hole, (None, false), &mut rng);
            if self.ask(&inside)? != Outcome::Fail {
                return Ok(None);
            }
            let outside = [from.map(|n| n / (2 + draw)), to.map(|n| n.saturating_mul(2 + draw))];
            for number in
                outside.into_iter().flatten().filter(|n| from.is_some_and(|f| *n < f) || to.is_some_and(|t| *n > t))
            {
                if self.number_at(at, number)? == fails {
                    return Ok(None);
                }
            }
        }
        Ok(Some(condition))
    }

    /// The number next to those that pass, between one that passes and one that fails. None where a run says nothing.
    fn bisect(&mut self, at: usize, mut passes: u64, mut fails: u64) -> Result<Option<u64>, Stop> {
        while passes.abs_diff(fails) > 1 {
            let middle = passes.min(fails) + passes.abs_diff(fails) / 2;
            match self.number_at(at, middle)? {
                Some(Outcome::Fail) => fails = middle,
                Some(Outcome::Pass) => passes = middle,
                _ => return Ok(None),
            }
        }
        Ok(Some(fails))
    }

    /// Lengths from some bound on, up to some bound, or both: characters of a token, items of a repetition.
    fn lengths(&mut self, at: usize, passing: &Tree) -> Result<Option<Condition>, Stop> {
        let own = length(self.grammar, &self.tree.fragment(at));
        let passed = length(self.grammar, passing);
        if own == passed
            || self.length_at(at, own, 0)? != Some(Outcome::Fail)
            || self.length_at(at, own, 1)? != Some(Outcome::Fail)
        {
            return Ok(None);
        }
        let (mut from, mut to) = (None, None);
        if passed < own {
            from = self.bisect_length(at, passed, own)?;
            let far = own * 4 + 16;
            if self.length_at(at, far, 0)? == Some(Outcome::Pass) {
                to = self.bisect_length(at, far, own)?;
            }
        } else {
            to = self.bisect_length(at, passed, own)?;
        }
        let (Some(bound), outside) = (from.or(to), from.map(|from| from - 1).or(to.map(|to| to + 1))) else {
            return Ok(None);
        };
        for draw in 2..2 + EACH_SIDE {
            let inside = self.length_at(at, bound, draw)?;
            let outside = match outside {
                Some(outside) => self.length_at(at, outside, draw)?,
                None => None,
            };
            if inside != Some(Outcome::Fail) || outside == Some(Outcome::Fail) {
                return Ok(None);
            }
        }
        Ok(Some(Condition::Length { from, to }))
    }

    /// The outcome with a random filling of this length.
    fn length_at(&mut self, at: usize, length: usize, draw: u64) -> Result<Option<Outcome>, Stop> {
        let mut rng = stream(self.options.seed, "length", ((at as u64) << 32) + ((length as u64) << 8) + draw);
        let bounds = (Some(length), Some(length));
        match self.drawer.of_length(self.grammar, &self.tree, at, bounds, &mut Plain, &mut rng) {
            Some(filling) if filling.lexeme(0) != self.tree.lexeme(at) => self.ask_at(at, filling).map(Some),
            _ => Ok(None),
        }
    }

    fn bisect_length(&mut self, at: usize, mut passes: usize, mut fails: usize) -> Result<Option<usize>, Stop> {
        while passes.abs_diff(fails) > 1 {
            let middle = passes.min(fails) + passes.abs_diff(fails) / 2;
            match self.length_at(at, middle, 0)? {
                Some(Outcome::Fail) => fails = middle,
                Some(Outcome::Pass) => passes = middle,
                _ => return Ok(None),
            }
        }
        Ok(Some(fails))
    }

    /// Any text but the one at another place: where that changes, too, it is the other's text that is forbidden; where it
    /// does not help, the text itself.
    fn difference(&mut self, at: usize, passing: &Tree) -> Result<Option<Condition>, Stop> {
        let Some(leaf) = only_leaf(self.grammar, &self.tree, at) else { return Ok(None) };
        let symbol = self.tree.node(leaf).symbol;
        let text = passing.lexeme(0).to_vec();
        let others: Vec<usize> = (0..self.tree.len())
            .filter(|other| self.tree.node(*other).symbol == symbol && self.tree.lexeme(*other) == text)
            .filter(|other| !self.is_inside(*other, at))
            .collect();
        if others.is_empty() {
            return Ok(None);
        }
        let mut used = vec![text.clone()];
        for draw in 0..1 + EACH_SIDE {
            let mut rng = stream(self.options.seed, "difference", ((at as u64) << 32) + draw);
            let hole = Hole::new(vec![at], Filling::Same);
            let fresh = self.drawer.name(self.grammar, &self.tree, &hole, &used, &mut rng);
            used.extend(fresh.iter().map(|(_, name)| name.lexeme(0).to_vec()));
            if self.ask(&fresh)? != Outcome::Fail {
                return Ok(None);
            }
        }
        // Both places hold the same fresh text.
        let places = others.iter().copied().chain([at]).collect();
        let mut rng = stream(self.options.seed, "difference", ((at as u64) << 32) + u64::from(u32::MAX));
        let both = self.drawer.name(self.grammar, &self.tree, &Hole::new(places, Filling::Same), &used, &mut rng);
        Ok(Some(match self.ask(&both)? {
            Outcome::Fail => Condition::Except(vec![text]),
            _ => Condition::Differs(others),
        }))
    }

    /// Some alternatives of a rule, each free in itself.
    fn alternatives(&mut self, candidate: Candidate) -> Result<Option<Condition>, Stop> {
        let Candidate { at, core, .. } = candidate;
        let node = *self.tree.node(core);
        let all = options(self.grammar, node.symbol);
        if self.grammar.is_leaf(node.symbol) || all.len() < 3 || all.len() > ALTERNATIVES {
            return Ok(None);
        }
        let mut good = Vec::new();
        let mut passing = 0;
        let others = all.iter().copied().filter(|option| *option != node.alternative);
        for option in [node.alternative].into_iter().chain(others) {
            match self.alternative_fails(candidate, option)? {
                Outcome::Fail => good.push(option),
                _ if option == node.alternative => return Ok(None),
                Outcome::Pass => passing += 1,
                Outcome::Unresolved => {}
            }
            if passing >= PASSING && good.len() == 1 {
                return Ok(None);
            }
        }
        good.sort_unstable();
        self.sources.remove(&at);
        Ok((good.len() > 1 && passing > 0).then_some(Condition::Among(good)))
    }

    /// Whether random fillings with this option fail.
    fn alternative_fails(&mut self, candidate: Candidate, option: u32) -> Result<Outcome, Stop> {
        let mut failed = 0;
        for draw in 0..EACH_SIDE + 2 {
            let mut rng =
                stream(self.options.seed, "alternative", ((candidate.at as u64) << 32) + u64::from(option) * 64 + draw);
            let mut policy = self.validity.policy(candidate.at as u32, false);
            let size = SIZES[(draw / 2) as usize % 2];
            let filling =
                self.drawer.with_option(self.grammar, &self.tree, candidate.at, option, size, &mut policy, &mut rng);
            if filling.lexeme(0) == self.tree.lexeme(candidate.at) {
                continue;
            }
            match self.ask_at(candidate.at, filling)? {
                Outcome::Fail => failed += 1,
                Outcome::Pass => return Ok(Outcome::Pass),
                Outcome::Unresolved => {}
            }
            if failed >= EACH_SIDE {
                break;
            }
        }
        Ok(if failed > 0 { Outcome::Fail } else { Outcome::Unresolved })
    }
}
