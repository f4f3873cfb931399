//! Looking ahead: what will be asked next, found out by the code that will ask it.
//!
//! An algorithm keeps a copy of its state at a clean point. While a run is waited for, the copy is lent a *scout*: a search that
//! answers what is known as it was, guesses the rest, and notes what it had to guess. The copy comes by the same way to where the
//! algorithm is now, and on from there. What the scout noted is run ahead, in that order. A guess never becomes an outcome: a
//! wrong one costs runs that nobody asks for, and nothing else.

use super::pool::{Pool, Task, Turn};
use super::{Known, Search, Stop};
use crate::oracle::Outcome;
use crate::search::Key;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How many runs are planned for each job. More are wasted when a guess is wrong, fewer make scouts more frequent.
const PLANNED: usize = 8;
/// How long a scout may look once the run that it looks beyond has ended.
const PATIENCE: Duration = Duration::from_millis(20);
/// Scouts may take this part of the time that runs took, and [`ALLOWANCE`]: an oracle may be faster than they are.
const SHARE: u32 = 2;
const ALLOWANCE: Duration = Duration::from_millis(100);

/// What a search knew at a clean point of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    runs: u64,
    contradictions: u64,
    phase: &'static str,
}

/// What an algorithm does from a clean point on.
pub(crate) struct Ahead<'f, 'a> {
    pub mark: Mark,
    pub go_on: &'f dyn Fn(&mut Search<'a>),
}

/// A search that a state works with. A copy of the state has none until it is lent one.
pub(crate) struct Lent<'s, 'a>(Option<&'s mut Search<'a>>);

impl<'s, 'a> Lent<'s, 'a> {
    pub(crate) fn new(search: &'s mut Search<'a>) -> Self {
        Lent(Some(search))
    }
}

impl Clone for Lent<'_, '_> {
    fn clone(&self) -> Self {
        Lent(None)
    }
}

impl<'a> Deref for Lent<'_, 'a> {
    type Target = Search<'a>;

    fn deref(&self) -> &Search<'a> {
        self.0.as_deref().expect("a state goes on only after it was lent a search")
    }
}

impl DerefMut for Lent<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.as_deref_mut().expect("a state goes on only after it was lent a search")
    }
}

/// What makes a search a scout.
pub(super) struct Scout {
    /// What was known after so many runs is known; what came later is an outcome still to be asked for.
    since: u64,
    learnt: FxHashMap<Key, Known>,
    plan: Vec<Task>,
    guesses: FxHashMap<Turn, Outcome>,
    most: usize,
    /// The run that is waited for meanwhile.
    awaited: Turn,
    begin: Instant,
}

/// What a search remembers of its scouts.
#[derive(Default)]
pub(super) struct Foresight {
    guesses: FxHashMap<Turn, Outcome>,
    /// The latest outcomes of each phase, by weight.
    trends: FxHashMap<&'static str, [f32; 3]>,
    scouted: Duration,
    ran: Duration,
}

impl Foresight {
    fn guess(&self, phase: &str) -> Outcome {
        let [fail, pass, unresolved] = self.trends.get(phase).copied().unwrap_or_default();
        if fail > pass + unresolved {
            Outcome::Fail
        } else if unresolved > pass {
            Outcome::Unresolved
        } else {
            Outcome::Pass
        }
    }

    /// Notes an outcome. Whether it was guessed otherwise, so that what was planned will likely not be asked for.
    pub(super) fn learn(&mut self, turn: Turn, phase: &'static str, outcome: Outcome, elapsed: Duration) -> bool {
        let trend = self.trends.entry(phase).or_default();
        trend.iter_mut().for_each(|weight| *weight *= 0.75);
        trend[match outcome {
            Outcome::Fail => 0,
            Outcome::Pass => 1,
            Outcome::Unresolved => 2,
        }] += 1.0;
        self.ran += elapsed;
        let guess = self.guesses.remove(&turn);
        guess.is_some_and(|guess| (guess == Outcome::Fail) != (outcome == Outcome::Fail))
    }

    fn may_scout(&self) -> bool {
        self.scouted < self.ran / SHARE + ALLOWANCE
    }
}

impl<'a> Search<'a> {
    /// Whether runs are made ahead, so that it pays to keep a copy of the state at clean points.
    pub(crate) fn looks_ahead(&self) -> bool {
        self.pool.is_some()
    }

    /// What is known now, for a copy of the state.
    pub(crate) fn mark(&self) -> Mark {
        Mark { runs: self.runs, contradictions: self.contradictions, phase: self.phase }
    }

    /// As [`Search::test`]; while the run is waited for, what follows is planned.
    pub(crate) fn test_ahead(&mut self, input: &[u8], ahead: Option<&Ahead<'_, 'a>>) -> Result<Outcome, Stop> {
        let key = Key::of(input);
        match self.recall(&key) {
            Some((outcome, _)) => {
                self.hits += 1;
                Ok(outcome)
            }
            None => self.ask(key, input, ahead),
        }
    }

    /// As [`Search::retest`]; while the run is waited for, what follows is planned.
    pub(crate) fn retest_ahead(&mut self, input: &[u8], ahead: Option<&Ahead<'_, 'a>>) -> Result<Outcome, Stop> {
        self.ask(Key::of(input), input, ahead)
    }

    /// Plans what follows the awaited run, if there is room for more.
    pub(super) fn look_ahead(&mut self, pool: &Rc<Pool>, ahead: &Ahead<'_, 'a>, awaited: Turn, input: &[u8]) {
        let left = self.budget.max_runs.map_or(u64::MAX, |max| (max + self.replayed).saturating_sub(self.runs + 1));
        let most = (PLANNED * pool.jobs).min(usize::try_from(left).unwrap_or(usize::MAX));
        if most == 0 || pool.planned() >= pool.jobs || !self.foresight.borrow().may_scout() {
            return;
        }
        let begin = Instant::now();
        let (since, learnt, guesses) = (ahead.mark.runs, FxHashMap::default(), FxHashMap::default());
        let mut scout = Search {
            oracle: self.oracle,
            memory: Rc::clone(&self.memory),
            observer: None,
            stop: None,
            budget: super::Budget::default(),
            known: Rc::clone(&self.known),
            phase: ahead.mark.phase,
            phases: IndexMap::new(),
            runs: ahead.mark.runs,
            replayed: 0,
            hits: 0,
            confirmed: 0,
            contradictions: ahead.mark.contradictions,
            pool: self.pool.clone(),
            foresight: Rc::clone(&self.foresight),
            scout: Some(Scout { since, learnt, plan: Vec::new(), guesses, most, awaited, begin }),
            begin,
        };
        (ahead.go_on)(&mut scout);
        let mut foresight = self.foresight.borrow_mut();
        foresight.scouted += begin.elapsed();
        if let Some(scout) = scout.scout {
            foresight.guesses = scout.guesses;
            // It may wait for a thread still, and comes first.
            let awaited = Task { turn: awaited, input: input.to_vec() };
            pool.plan(std::iter::once(awaited).chain(scout.plan));
        }
    }

    /// A scout's answer.
    pub(super) fn foresee(&mut self, turn: Turn, input: &[u8], before: Option<Outcome>) -> Result<Outcome, Stop> {
        let (Some(scout), Some(pool)) = (&mut self.scout, &self.pool) else { return Err(Stop::Interrupted) };
        let asked = self.known.borrow().get(&turn.0).and_then(|known| known.nth(turn.1));
        let remembered = || self.memory.borrow().as_ref().and_then(|memory| memory.lookup(&turn.0, turn.1));
        if let Some(outcome) = asked.or_else(|| pool.outcome(&turn)).or_else(remembered) {
            return Ok(outcome);
        }
        let late = scout.begin.elapsed() > PATIENCE || scout.plan.len() >= pool.jobs;
        if scout.plan.len() >= scout.most || late && pool.is_done(&scout.awaited) {
            return Err(Stop::Interrupted);
        }
        // One more run of an input mostly says what the one before did.
        let guess = before.unwrap_or_else(|| self.foresight.borrow().guess(self.phase));
        scout.guesses.insert(turn, guess);
        if turn != scout.awaited && !pool.is_begun(&turn) {
            scout.plan.push(Task { turn, input: input.to_vec() });
        }
        Ok(guess)
    }

    /// What is known of an input: its outcome, and the number of the next run.
    pub(super) fn recall(&self, key: &Key) -> Option<(Outcome, u32)> {
        let known = self.known.borrow();
        match &self.scout {
            Some(scout) => match scout.learnt.get(key) {
                Some(known) => known.after(u64::MAX),
                None => known.get(key).and_then(|known| known.after(scout.since)),
            },
            None => known.get(key).and_then(|known| known.after(u64::MAX)),
        }
    }

    /// Notes an outcome of an input.
    pub(super) fn note(&mut self, key: Key, outcome: Outcome, counted: bool) {
        let mut known = self.known.borrow_mut();
        let known = match &mut self.scout {
            Some(scout) => {
                let before = || known.get(&key).map(|known| known.until(scout.since)).unwrap_or_default();
                scout.learnt.entry(key).or_insert_with(before)
            }
            None => known.entry(key).or_default(),
        };
        known.add(self.runs, outcome, counted);
    }
}
