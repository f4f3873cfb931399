//! The pattern as a whole: all holes varied at once, until enough distinct inputs have failed.

use super::candidates::Candidate;
use super::space::respaced;
use super::{Counts, Engine, Step};
use crate::generate::stream;
use crate::generate::validity::Validity;
use crate::oracle::Outcome;
use crate::pattern::instances::{Fillings, agree, filled};
use crate::pattern::{Condition, Evidence, Filling, Hole, only_leaf};
use crate::search::Stop;
use crate::tree::Tree;
use rand::RngExt;
use std::collections::VecDeque;

/// Runs that the proof may take for each failing input asked for, before it gives up.
const RUNS_PER_SAMPLE: u32 = 6;
/// Draws of known inputs in a row after which a pattern counts as used up.
const DUPLICATES: u32 = 600;
/// The share of even choices where nothing is invalid.
const PLAIN: f64 = 0.6;
/// The window over which validity is watched, and how many of it must be valid, early and late.
const WINDOW: usize = 24;
const VALID_EARLY: usize = 10;
const VALID_LATE: usize = 12;
/// Systematic fillings of a hole that may be invalid before no more are tried, if they are the most.
const MOSTLY_INVALID: u32 = 6;
/// Windows that must have been mostly invalid before a hole is given up.
const BAD_WINDOWS: u32 = 2;

/// Which of the holes that may be to blame is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// As they stand: the same for every seed.
    Given,
    /// The one with the most that was never part of a failure.
    MostNew,
}

/// Where a proof is.
#[derive(Clone)]
pub(super) struct Proof {
    /// The chance of a hole to be varied.
    share: f64,
    /// Whether the latest samples were valid.
    recent: VecDeque<bool>,
    bad_windows: u32,
    spent: u32,
    duplicates: u32,
    number: u64,
}

impl Default for Proof {
    fn default() -> Self {
        Proof { share: 1.0, recent: VecDeque::new(), bad_windows: 0, spent: 0, duplicates: 0, number: 0 }
    }
}

impl Engine<'_, '_> {
    /// Asks for failing inputs of the present pattern. A pass is narrowed down to a hole, which becomes concrete.
    pub(super) fn prove(&mut self, mut proof: Proof) -> Result<(), Stop> {
        let wanted = self.options.confidence;
        while !self.holes.is_empty() && self.evidence.failed < wanted {
            self.keep(|| Step::Proof(proof.clone()));
            let Proof { share, recent, bad_windows, spent, duplicates, number } = &mut proof;
            if *spent >= wanted.saturating_mul(RUNS_PER_SAMPLE) {
                break;
            }
            let all = self.holes.len();
            let mut rng = stream(self.options.seed, "proof", *number);
            *number += 1;
            let chosen: Vec<usize> = (0..all).filter(|_| *share >= 1.0 || rng.random_bool(*share)).collect();
            let chosen = if chosen.is_empty() { vec![rng.random_range(0..all)] } else { chosen };
            // One hole at most tries something new, so that an unresolved run has one suspect.
            let explorer = rng.random_bool(self.exploration(recent)).then(|| chosen[rng.random_range(0..chosen.len())]);
            self.drawer.largest = 0;
            let plain = explorer.is_none() && rng.random_bool(self.plain_share());
            let fillings: Vec<(usize, Fillings)> = chosen
                .iter()
                .map(|&hole| match explorer {
                    Some(explorer) if explorer == hole => (hole, self.random_sample(hole, true, &mut rng)),
                    None if plain => {
                        (hole, self.drawer.draw(self.grammar, &self.tree, &self.holes[hole], (None, false), &mut rng))
                    }
                    _ => (hole, self.random_sample(hole, false, &mut rng)),
                })
                .collect();
            let flat: Fillings = fillings.iter().flat_map(|(_, fillings)| fillings.clone()).collect();
            if !agree(&self.tree, &self.holes, &flat) {
                *duplicates += 1;
                if *duplicates > DUPLICATES {
                    self.evidence.exhausted = true;
                    break;
                }
                continue;
            }
            let tree = filled(self.grammar, &self.tree, &flat);
            let spaced = self.free_space && rng.random_bool(0.5);
            let text = if spaced { respaced(self.grammar, &tree, &mut rng) } else { tree }.text().to_vec();
            if self.search.known(&text).is_some() {
                *share = (*share * 1.2).min(1.0);
                *duplicates += 1;
                if *duplicates > DUPLICATES {
                    self.evidence.exhausted = true;
                    break;
                }
                continue;
            }
            *duplicates = 0;
            *spent += 1;
            let outcome = self.ask_text(&text, &flat)?;
            if spaced && outcome != Outcome::Fail && self.ask(&flat)? == Outcome::Fail {
                // It was the white space.
                self.free_space = false;
                self.restart();
                continue;
            }
            // What was tried for the first time says little of what generation will make.
            if explorer.is_none() && !plain {
                self.validity.learn_size(self.drawer.largest, outcome != Outcome::Unresolved);
                recent.push_back(outcome != Outcome::Unresolved);
                if recent.len() > WINDOW {
                    recent.pop_front();
                }
            }
            match outcome {
                Outcome::Unresolved => {
                    self.evidence.unresolved += 1;
                    chosen.iter().for_each(|hole| self.holes[*hole].unresolved += 1);
                    *share = (*share * 0.75).max(0.5 / all as f64);
                    if self.is_mostly_invalid(recent) {
                        // It is still being learned what is valid: a first bad window may be the price of that.
                        recent.clear();
                        *bad_windows += 1 + u32::from(self.has_slots());
                        if *bad_windows >= BAD_WINDOWS && self.drop_most_blamed()? {
                            (*share, *bad_windows) = (1.0, 0);
                        }
                    }
                }
                Outcome::Fail => {
                    *share = (*share * 1.5).min(1.0);
                    chosen.iter().for_each(|hole| self.holes[*hole].failed += 1);
                    if chosen.len() == all {
                        self.count(flat);
                    }
                }
                Outcome::Pass => {
                    let guilty = self.culprits(&fillings, Order::MostNew)?;
                    self.refine(&guilty, &fillings)?;
                    (*share, *bad_windows) = (1.0, 0);
                    recent.clear();
                }
            }
        }
        Ok(())
    }

    /// The systematic fillings, those of all holes at once: so each alternative is met early, in the same order for every seed,
    /// and what passes is found before the proof has cost anything. Where such a run says nothing, each is tried alone.
    pub(super) fn hostile(&mut self, from: u64) -> Result<(), Stop> {
        let enough = self.options.confidence / 2;
        for number in from..u64::from(self.options.confidence) * 2 {
            self.keep(|| Step::Hostile(number));
            let mut planned: Vec<(usize, Fillings)> = Vec::new();
            for hole in 0..self.holes.len() {
                let at = self.holes[hole].members[0];
                let free = self.holes[hole].filling == Filling::Any;
                let Some(candidate) = self.candidate(at).filter(|_| free) else { continue };
                let Counts { failed, unresolved } = self.systematic.get(&at).copied().unwrap_or_default();
                if unresolved >= MOSTLY_INVALID && unresolved > 2 * failed {
                    continue;
                }
                planned.extend(self.next_filling(candidate, true).map(|filling| (hole, vec![(at, filling)])));
            }
            if planned.is_empty() {
                break;
            }
            let mut rng = stream(self.options.seed, "hostile", number);
            let mut fillings = planned.clone();
            for hole in 0..self.holes.len() {
                if !planned.iter().any(|(other, _)| *other == hole) {
                    fillings.push((hole, self.random_sample(hole, false, &mut rng)));
                }
            }
            let flat: Fillings = fillings.iter().flat_map(|(_, fillings)| fillings.clone()).collect();
            let text = filled(self.grammar, &self.tree, &flat).text().to_vec();
            if self.search.known(&text).is_some() || !agree(&self.tree, &self.holes, &flat) {
                continue;
            }
            match self.ask_text(&text, &flat)? {
                Outcome::Fail => {
                    for (_, own) in &planned {
                        self.systematic.entry(own[0].0).or_default().failed += 1;
                    }
                    self.holes.iter_mut().for_each(|hole| hole.failed += 1);
                    if self.evidence.failed < enough {
                        self.count(flat);
                    }
                }
                Outcome::Pass => {
                    let guilty = self.culprits(&fillings, Order::Given)?;
                    self.refine(&guilty, &fillings)?;
                }
                Outcome::Unresolved => {
                    self.evidence.unresolved += 1;
                    self.one_by_one(planned)?;
                }
            }
        }
        Ok(())
    }

    /// Tries fillings alone. The first that passes decides its hole; the numbers of the others are no longer valid then.
    fn one_by_one(&mut self, planned: Vec<(usize, Fillings)>) -> Result<(), Stop> {
        let only = planned.len() == 1 && self.holes.len() == 1;
        for (hole, fillings) in planned {
            let at = fillings[0].0;
            let outcome = if only { Outcome::Unresolved } else { self.ask(&fillings)? };
            let counts = self.systematic.entry(at).or_default();
            match outcome {
                Outcome::Fail => counts.failed += 1,
                Outcome::Unresolved => counts.unresolved += 1,
                Outcome::Pass => return self.refine(&[hole], &[(hole, fillings)]),
            }
        }
        Ok(())
    }

    /// Random fillings for the holes that have nothing to do with the node at `at`.
    pub(super) fn draw_others(&mut self, at: usize) -> Fillings {
        let apart = |member: &usize| !self.is_inside(*member, at) && !self.is_inside(at, *member);
        let holes: Vec<usize> = (0..self.holes.len()).filter(|h| self.holes[*h].members.iter().all(apart)).collect();
        let number = self.search.runs();
        let mut rng = stream(self.options.seed, "together", number);
        holes.into_iter().flat_map(|hole| self.random_sample(hole, false, &mut rng)).collect()
    }

    /// The chance that a run tries something never seen valid: often at first, seldom at the end, and less where even what
    /// was seen valid often is not.
    fn exploration(&self, recent: &VecDeque<bool>) -> f64 {
        let progress = f64::from(self.evidence.failed) / f64::from(self.options.confidence.max(1));
        let often = if progress < 0.3 {
            0.5
        } else if progress < 0.7 {
            0.25
        } else {
            0.05
        };
        let valid = recent.iter().filter(|valid| **valid).count() as f64;
        let share = if recent.is_empty() { 1.0 } else { valid / recent.len() as f64 };
        often * ((share - 0.5) * 2.5).clamp(0.1, 1.0)
    }

    /// The share of runs in which every choice is even. What was learned steers away from invalid inputs; where few are, there
    /// is nothing to steer away from, and steering would only keep to what was seen before.
    fn plain_share(&self) -> f64 {
        let invalid = f64::from(self.invalid) / f64::from(self.asked.max(1));
        PLAIN * (1.0 - 4.0 * invalid).max(0.0)
    }

    fn random_sample(&mut self, hole: usize, explore: bool, rng: &mut rand_chacha::ChaCha8Rng) -> Fillings {
        let learned = (Some(&self.validity), explore);
        self.drawer.draw(self.grammar, &self.tree, &self.holes[hole], learned, rng)
    }

    pub(super) fn candidate(&self, at: usize) -> Option<Candidate> {
        self.candidates.iter().copied().find(|candidate| candidate.at == at)
    }

    fn is_mostly_invalid(&self, recent: &VecDeque<bool>) -> bool {
        let late = self.evidence.failed * 10 > self.options.confidence * 7;
        let least = if late { VALID_LATE } else { VALID_EARLY };
        recent.len() >= WINDOW && recent.iter().filter(|valid| **valid).count() < least
    }

    fn has_slots(&self) -> bool {
        self.holes.iter().any(|hole| self.tree.lexeme(hole.members[0]).is_empty())
    }

    /// Takes out the hole that most unresolved runs are blamed on; its parts are looked at anew. False if there is none.
    fn drop_most_blamed(&mut self) -> Result<bool, Stop> {
        let blame = |hole: &usize| {
            let at = self.holes[*hole].members[0] as u32;
            self.blame.get(&at).copied().unwrap_or(0.0)
        };
        // What may be inserted is the least of a pattern, and goes first.
        let slot = |hole: usize| self.tree.lexeme(self.holes[hole].members[0]).is_empty();
        let slots = (0..self.holes.len()).any(slot);
        let free =
            (0..self.holes.len()).filter(|hole| self.holes[*hole].filling == Filling::Any && slot(*hole) == slots);
        let Some(worst) = free.max_by(|a, b| blame(a).total_cmp(&blame(b))) else { return Ok(false) };
        let at = self.holes.remove(worst).members[0];
        if !slots {
            self.undecided.push(at);
        }
        self.uncover(at);
        self.blame.clear();
        self.restart();
        self.screen_inner(0, Some(at))?;
        Ok(true)
    }

    /// The holes whose fillings make the input pass: first the ones with the most that was never part of a failure are
    /// tried alone, which mostly settles it in one run; then delta debugging over the holes, with the same fillings.
    fn culprits(&mut self, fillings: &[(usize, Fillings)], by: Order) -> Result<Vec<usize>, Stop> {
        if fillings.len() == 1 {
            return Ok(vec![fillings[0].0]);
        }
        let novelty = |(_, fillings): &&(usize, Fillings)| {
            let edges = fillings.iter().flat_map(|(at, f)| Validity::edges(self.grammar, f, *at as u32));
            edges.filter(|edge| !self.validity.is_seen(edge)).count()
        };
        let mut order: Vec<&(usize, Fillings)> = fillings.iter().collect();
        if by == Order::MostNew {
            order.sort_by_key(|entry| std::cmp::Reverse(novelty(entry)));
        }
        let likely: Vec<(usize, Fillings)> = order.iter().take(2).map(|entry| (*entry).clone()).collect();
        for (hole, alone) in likely {
            if self.ask(&alone)? == Outcome::Pass {
                return Ok(vec![hole]);
            }
        }
        let mut kept: Vec<(usize, Fillings)> = fillings.to_vec();
        let mut parts = 2;
        while kept.len() > 1 {
            let step = kept.len().div_ceil(parts);
            let chunks: Vec<Vec<(usize, Fillings)>> = kept.chunks(step).map(<[_]>::to_vec).collect();
            let mut smaller = None;
            for chunk in &chunks {
                let rest: Vec<_> = kept.iter().filter(|entry| !chunk.contains(entry)).cloned().collect();
                for trial in [chunk.clone(), rest] {
                    if !trial.is_empty() && trial.len() < kept.len() && self.passes(&trial)? {
                        smaller = Some(trial);
                        break;
                    }
                }
                if smaller.is_some() {
                    break;
                }
            }
            match smaller {
                Some(trial) => (kept, parts) = (trial, 2),
                None if step == 1 => break,
                None => parts = (parts * 2).min(kept.len()),
            }
        }
        Ok(kept.into_iter().map(|(hole, _)| hole).collect())
    }

    fn passes(&mut self, fillings: &[(usize, Fillings)]) -> Result<bool, Stop> {
        let flat = fillings.iter().flat_map(|(_, fillings)| fillings.clone()).collect();
        Ok(self.ask(&flat)? == Outcome::Pass)
    }

    /// A culprit becomes concrete and its parts are looked at. Of several that pass only together ("A or B is enough"), the
    /// smallest does, and its parts are looked at while the other holes vary.
    fn refine(&mut self, guilty: &[usize], fillings: &[(usize, Fillings)]) -> Result<(), Stop> {
        let size = |hole: &&usize| {
            let at = self.holes[**hole].members[0];
            (self.tree.lexeme(at).len(), at)
        };
        let Some(&hole) = guilty.iter().min_by_key(size) else { return Ok(()) };
        let alone = guilty.len() == 1;
        if self.restricted(hole, guilty, fillings)? {
            self.recount();
            return Ok(());
        }
        self.restart();
        let removed = self.holes.remove(hole);
        let filling = fillings.iter().find(|(number, _)| *number == hole).and_then(|(_, fillings)| fillings.first());
        for member in &removed.members {
            if let (true, Some((_, filling))) = (alone, filling) {
                self.kill_with(*member, filling);
            } else {
                self.dead.insert(*member);
                self.close_above(*member);
            }
        }
        if let [at] = removed.members.as_slice() {
            self.uncover(*at);
            self.together = !alone;
            let screened = self.screen_inner(0, Some(*at));
            self.together = false;
            screened?;
        }
        Ok(())
    }

    /// A failing input of the pattern as it is.
    fn count(&mut self, fillings: Fillings) {
        self.evidence.failed += 1;
        self.samples.push(fillings);
    }

    /// The pattern is another one: what was counted says nothing of it.
    fn restart(&mut self) {
        self.evidence = Evidence::default();
        self.samples.clear();
    }

    /// A hole has a new condition: the inputs that meet it are inputs of the new pattern, too.
    fn recount(&mut self) {
        let (grammar, tree, holes) = (self.grammar, &self.tree, &self.holes);
        let meets = |fillings: &Fillings| {
            let met = |(at, filling): &(usize, Tree)| {
                let hole = holes.iter().find(|hole| hole.members == [*at]);
                let condition = hole.and_then(|hole| hole.condition.as_ref());
                condition.is_none_or(|condition| condition.holds(grammar, filling))
            };
            fillings.iter().all(met) && agree(tree, holes, fillings)
        };
        self.samples.retain(meets);
        self.evidence.failed = self.samples.len() as u32;
    }

    /// Finds a condition for a culprit, so that it may stay a hole.
    fn restricted(&mut self, hole: usize, guilty: &[usize], fillings: &[(usize, Fillings)]) -> Result<bool, Stop> {
        let filling = |number: usize| {
            let own = fillings.iter().find(|(hole, _)| *hole == number)?;
            own.1.first().map(|(at, filling)| (*at, filling.clone()))
        };
        if let [one, other] = *guilty
            && let (Some((at, text)), Some((place, same))) = (filling(one.max(other)), filling(one.min(other)))
            && text.lexeme(0) == same.lexeme(0)
            && self.holes[one.max(other)].condition.is_none()
            && only_leaf(self.grammar, &self.tree, at).is_some()
            && only_leaf(self.grammar, &self.tree, place).is_some()
            && self.fails_apart(at, place)?
        {
            self.holes[one.max(other)].condition = Some(Condition::Differs(vec![place]));
            return Ok(true);
        }
        let [_] = guilty else { return Ok(false) };
        let free = self.holes[hole].filling == Filling::Any;
        let (Some((at, passing)), true) = (filling(hole), free) else { return Ok(false) };
        let Some(candidate) = self.candidate(at) else { return Ok(false) };
        let found = self.condition(candidate, &passing)?;
        let place = self.holes.iter().position(|hole| hole.members == [at]);
        if let (Some(condition), Some(place)) = (found, place) {
            self.holes[place].condition = Some(condition);
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the input fails with different texts at two places.
    fn fails_apart(&mut self, one: usize, other: usize) -> Result<bool, Stop> {
        for number in 0..3 {
            let mut rng = stream(self.options.seed, "apart", ((one as u64) << 32) + number);
            let mut fillings = Fillings::new();
            let mut used = Vec::new();
            for at in [one, other] {
                let named = Hole::new(vec![at], Filling::Same);
                let name = self.drawer.name(self.grammar, &self.tree, &named, &used, &mut rng);
                used.extend(name.iter().map(|(_, name)| name.lexeme(0).to_vec()));
                fillings.extend(name);
            }
            if self.ask(&fillings)? != Outcome::Fail {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
