//! Single nodes: does the input still fail with other text in this place?

use super::candidates::{Candidate, candidates};
use super::fillings::cheapest;
use super::{Engine, Step, Trial};
use crate::generate::options;
use crate::grammar::{Grammar, SymbolId};
use crate::oracle::Outcome;
use crate::pattern::Filling;
use crate::search::Stop;
use crate::tree::Tree;

/// Careful fillings that must be valid before this many others are not, where random ones mostly were not.
const GOOD: u32 = 4;
const BAD: u32 = 6;
/// Empty parts that are looked at.
const SLOTS: usize = 16;

/// What a screening ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Some filling passed.
    Concrete,
    /// Enough fillings failed and none passed.
    Free,
    /// It became a hole with conditions.
    Restricted,
    /// Too few fillings were valid to say.
    Undecided,
}

impl Engine<'_, '_> {
    /// Every candidate without candidates below it, from the given one on, briefly.
    pub(super) fn screen_leaves(&mut self, from: usize) -> Result<(), Stop> {
        for (number, candidate) in self.candidates.clone().into_iter().enumerate().skip(from) {
            self.keep(|| Step::Leaves(number));
            if candidate.leaf && !self.dead.contains(&candidate.at) {
                self.screen(candidate, 2, 3)?;
            }
        }
        Ok(())
    }

    /// The candidates that are still open, outer ones first, from the given one on; only those below `root`, if it is given.
    pub(super) fn screen_inner(&mut self, from: usize, root: Option<usize>) -> Result<(), Stop> {
        for (number, candidate) in self.candidates.clone().into_iter().enumerate().skip(from) {
            if root.is_none() {
                self.keep(|| Step::Inner(number));
            }
            let at = candidate.at;
            let wanted = root.is_none_or(|root| root != at && self.is_inside(at, root));
            if !wanted || self.dead.contains(&at) || self.is_taken(at) || self.undecided.contains(&at) {
                continue;
            }
            let failed = self.counts.get(&at).map_or(0, |counts| counts.failed);
            let verdict = if candidate.leaf && failed >= 2 && !self.together {
                Verdict::Free
            } else {
                // What is undecided above with the same text is hardly decided here.
                let same_above = self
                    .undecided
                    .iter()
                    .any(|outer| self.is_inside(at, *outer) && self.tree.lexeme(*outer) == self.tree.lexeme(at));
                let tries = if candidate.leaf {
                    4
                } else if same_above {
                    3
                } else {
                    8
                };
                self.screen(candidate, 3, tries)?
            };
            match verdict {
                Verdict::Free => self.open_hole(at, Filling::Any),
                Verdict::Undecided => self.undecided.push(at),
                Verdict::Concrete | Verdict::Restricted => {}
            }
        }
        Ok(())
    }

    /// Tries fillings until `want` of them failed, one passed, or `tries` were spent.
    fn screen(&mut self, candidate: Candidate, want: u32, tries: u32) -> Result<Verdict, Stop> {
        let at = candidate.at;
        if let Some(words) = self.small(self.tree.node(at).symbol) {
            return self.screen_small(candidate, &words);
        }
        let mut counts = self.counts.get(&at).copied().unwrap_or_default();
        for _ in 0..tries {
            if counts.failed >= want {
                break;
            }
            let Some(filling) = self.next_filling(candidate, false) else { break };
            match self.ask_at(at, filling.clone())? {
                Outcome::Fail => counts.failed += 1,
                Outcome::Unresolved => counts.unresolved += 1,
                Outcome::Pass => return self.passed(candidate, &filling),
            }
            self.counts.insert(at, counts);
        }
        if counts.failed < want.min(2) {
            return Ok(Verdict::Undecided);
        }
        if want > 2 && counts.unresolved >= counts.failed {
            return self.gate(candidate);
        }
        Ok(Verdict::Free)
    }

    /// A filling passes: there may be a condition under which the others fail. What contains the node is concrete in any case.
    fn passed(&mut self, candidate: Candidate, filling: &Tree) -> Result<Verdict, Stop> {
        let condition = if self.together { None } else { self.condition(candidate, filling)? };
        if condition.is_none() {
            self.kill_with(candidate.at, filling);
            return Ok(Verdict::Concrete);
        }
        self.close_above(candidate.at);
        self.open_hole(candidate.at, Filling::Any);
        if let Some(hole) = self.holes.last_mut() {
            hole.condition = condition;
        }
        Ok(Verdict::Restricted)
    }

    /// What reduction emptied: repetitions and options that may hold anything again. One with few words is not worth a run, and
    /// white space is no hole.
    pub(super) fn screen_slots(&mut self) -> Result<(), Stop> {
        let slots = candidates(self.grammar, &self.tree, true);
        let empty = |slot: &Candidate| self.tree.lexeme(slot.at).is_empty();
        let slots: Vec<Candidate> = slots.into_iter().filter(empty).take(SLOTS).collect();
        for slot in slots {
            let symbol = self.tree.node(slot.at).symbol;
            let blank = shortest_text(self.grammar, self.tree.node(slot.core).symbol)
                .is_none_or(|text| text.trim_ascii().is_empty());
            if self.dead.contains(&slot.at) || self.is_taken(slot.at) || blank || self.small(symbol).is_some() {
                continue;
            }
            if self.screen(slot, 3, 4)? == Verdict::Free {
                self.candidates.push(slot);
                self.open_hole(slot.at, Filling::Any);
            }
            // What is not known to be free is left empty: nothing stands there that could be called concrete.
            self.reasons.remove(&slot.at);
        }
        Ok(())
    }

    /// A hole with few valid fillings looks free and is not: with what was learned, most of them must be valid.
    fn gate(&mut self, candidate: Candidate) -> Result<Verdict, Stop> {
        let (mut good, mut bad) = (0, 0);
        while good < GOOD && bad < BAD {
            let Some(filling) = self.careful_filling(candidate) else { break };
            match self.ask_at(candidate.at, filling.clone())? {
                Outcome::Fail => good += 1,
                Outcome::Unresolved => bad += 1,
                Outcome::Pass => return self.passed(candidate, &filling),
            }
        }
        Ok(if bad >= BAD { Verdict::Undecided } else { Verdict::Free })
    }

    /// A node with few words: all are tried. Some may fail and others pass.
    fn screen_small(&mut self, candidate: Candidate, words: &[Tree]) -> Result<Verdict, Stop> {
        let at = candidate.at;
        if let Some(known) = self.counts.get(&at).filter(|_| !self.together) {
            let free = known.failed > 0 && known.unresolved == 0;
            return Ok(if free { Verdict::Free } else { Verdict::Undecided });
        }
        let mut counts = super::Counts::default();
        let mut failing: Vec<Tree> = Vec::new();
        let mut passing = 0;
        for word in words {
            // A keyword in other letters is the same keyword.
            if word.lexeme(0).eq_ignore_ascii_case(self.tree.lexeme(at)) {
                failing.push(word.clone());
                continue;
            }
            match self.ask_at(at, word.clone())? {
                Outcome::Fail => {
                    counts.failed += 1;
                    failing.push(word.clone());
                }
                Outcome::Unresolved => counts.unresolved += 1,
                Outcome::Pass => {
                    passing += 1;
                    self.kill(at, word.lexeme(0));
                    if passing >= 3 && counts.failed == 0 {
                        break;
                    }
                }
            }
        }
        self.counts.insert(at, counts);
        if counts.failed == 0 {
            return Ok(if passing > 0 { Verdict::Concrete } else { Verdict::Undecided });
        }
        if passing == 0 && counts.unresolved == 0 {
            return Ok(Verdict::Free);
        }
        if failing.len() < 2 {
            return Ok(if passing > 0 { Verdict::Concrete } else { Verdict::Undecided });
        }
        self.dead.remove(&at);
        self.reasons.remove(&at);
        self.open_hole(at, Filling::OneOf(failing));
        Ok(Verdict::Restricted)
    }

    /// Runs with one filling, and with random fillings in the other holes if they are to be varied together.
    pub(super) fn ask_at(&mut self, at: usize, filling: Tree) -> Result<Outcome, Stop> {
        let mut fillings = if self.together { self.draw_others(at) } else { Vec::new() };
        let text = filling.lexeme(0).to_vec();
        fillings.push((at, filling));
        let outcome = self.ask(&fillings)?;
        self.trials.push(Trial { at, text, outcome });
        Ok(outcome)
    }
}

/// The text of a repetition or option with one item, as short as it gets; `None` if there is no such thing.
fn shortest_text(grammar: &Grammar, symbol: SymbolId) -> Option<Vec<u8>> {
    let filled = options(grammar, symbol).into_iter().map(|option| cheapest(grammar, symbol, option));
    let texts = filled.map(|fragment| fragment.lexeme(0).to_vec()).filter(|text| !text.is_empty());
    texts.min_by_key(Vec::len)
}
