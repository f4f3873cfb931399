//! Single nodes: does the input still fail with other text in this place?

use super::candidates::Candidate;
use super::{Engine, Step};
use crate::oracle::Outcome;
use crate::pattern::Filling;
use crate::search::Stop;
use crate::tree::Tree;

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
            let text = filling.lexeme(0).to_vec();
            let outcome = self.ask_at(at, filling)?;
            match outcome {
                Outcome::Fail => counts.failed += 1,
                Outcome::Unresolved => counts.unresolved += 1,
                Outcome::Pass => {
                    self.kill(at, &text);
                    return Ok(Verdict::Concrete);
                }
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

    /// A hole with few valid fillings looks free and is not: with what was learned, most of them must be valid.
    fn gate(&mut self, candidate: Candidate) -> Result<Verdict, Stop> {
        let (mut good, mut bad) = (0, 0);
        while good < 3 && bad < 3 {
            let Some(filling) = self.careful_filling(candidate) else { break };
            let text = filling.lexeme(0).to_vec();
            match self.ask_at(candidate.at, filling)? {
                Outcome::Fail => good += 1,
                Outcome::Unresolved => bad += 1,
                Outcome::Pass => {
                    self.kill(candidate.at, &text);
                    return Ok(Verdict::Concrete);
                }
            }
        }
        Ok(if bad >= 3 { Verdict::Undecided } else { Verdict::Free })
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
            if word.lexeme(0) == self.tree.lexeme(at) {
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
        self.dead.remove(&at);
        self.reasons.remove(&at);
        self.open_hole(at, Filling::OneOf(failing));
        Ok(Verdict::Restricted)
    }

    /// Runs with one filling, and with random fillings in the other holes if they are to be varied together.
    fn ask_at(&mut self, at: usize, filling: Tree) -> Result<Outcome, Stop> {
        let mut fillings = if self.together { self.draw_others(at) } else { Vec::new() };
        fillings.push((at, filling));
        self.ask(&fillings)
    }
}
