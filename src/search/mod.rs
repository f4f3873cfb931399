//! Between an oracle and the algorithms that ask it: outcomes by content, counts, budgets, memory.
//!
//! A search knows bytes only: no grammar, no tree.

use crate::oracle::{Oracle, OracleError, Outcome, Run};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Identifies an input by its content.
pub type Key = blake3::Hash;

/// Why a search ends before it is done. What was found so far stays valid.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The allowed number of runs is used up.
    #[error("the budget of {0} runs is used up")]
    Budget(u64),
    /// The oracle could not be asked.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A run could not be remembered.
    #[error("a run could not be written down: {0}")]
    Memory(#[from] std::io::Error),
}

/// Outcomes of earlier runs, and a place to keep those of this one. With it, a search that was killed goes on as if it had not
/// been: the same questions get the same answers.
pub trait Memory {
    /// The outcome of the `ordinal`-th run of the input, if it was run so often.
    fn lookup(&self, key: &Key, ordinal: u32) -> Option<Outcome>;

    /// Keeps the outcome of a run.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn record(&mut self, key: &Key, ordinal: u32, run: &Record<'_>) -> std::io::Result<()>;
}

/// One run, as it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its outcome.
    pub outcome: Outcome,
    /// What it was for.
    pub phase: &'a str,
    /// Length of the input in bytes.
    pub len: usize,
    /// Wall time in microseconds.
    pub micros: u64,
}

/// Runs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Runs that failed in the way in question.
    pub fail: u64,
    /// Runs without that failure.
    pub pass: u64,
    /// Runs that said nothing.
    pub unresolved: u64,
}

impl Counts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.fail + self.pass + self.unresolved
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Fail => self.fail += 1,
            Outcome::Pass => self.pass += 1,
            Outcome::Unresolved => self.unresolved += 1,
        }
    }
}

/// What an observer is told.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A run ended.
    Ran {
        /// What it was for.
        phase: &'a str,
        /// Its outcome.
        outcome: Outcome,
        /// How many runs there were, this one included.
        runs: u64,
    },
    /// A smaller failing input is known.
    Best(&'a [u8]),
}

type Observer<'a> = Box<dyn FnMut(&Event<'_>) -> std::io::Result<()> + 'a>;

/// Asks an oracle on behalf of an algorithm.
pub struct Search<'a> {
    oracle: &'a dyn Oracle,
    outcomes: FxHashMap<Key, Outcome>,
    /// How often each input was run.
    ordinals: FxHashMap<Key, u32>,
    memory: Option<Box<dyn Memory + 'a>>,
    observer: Option<Observer<'a>>,
    stop: Option<Arc<AtomicBool>>,
    max_runs: Option<u64>,
    phase: &'static str,
    phases: IndexMap<&'static str, Counts>,
    runs: u64,
    replayed: u64,
    contradictions: u64,
}

impl std::fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").field("runs", &self.runs).field("phases", &self.phases).finish_non_exhaustive()
    }
}

impl<'a> Search<'a> {
    /// A search without memory and budget.
    ///
    /// ```
    /// use ddset::oracle::Outcome;
    /// let oracle = |input: &[u8]| if input.contains(&b'x') { Outcome::Fail } else { Outcome::Pass };
    /// let mut search = ddset::search::Search::new(&oracle);
    /// assert_eq!(search.test(b"xyz")?, Outcome::Fail);
    /// assert_eq!(search.test(b"xyz")?, Outcome::Fail);
    /// assert_eq!(search.runs(), 1);
    /// # Ok::<(), ddset::search::Stop>(())
    /// ```
    pub fn new(oracle: &'a dyn Oracle) -> Self {
        Search {
            oracle,
            outcomes: FxHashMap::default(),
            ordinals: FxHashMap::default(),
            memory: None,
            observer: None,
            stop: None,
            max_runs: None,
            phase: "other",
            phases: IndexMap::new(),
            runs: 0,
            replayed: 0,
            contradictions: 0,
        }
    }

    /// Takes the outcomes of earlier runs from `memory`, and keeps new ones there.
    #[must_use]
    pub fn with_memory(mut self, memory: Box<dyn Memory + 'a>) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Ends with [`Stop::Interrupted`] before the next run once the flag is set.
    #[must_use]
    pub fn with_stop(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = Some(flag);
        self
    }

    /// Ends with [`Stop::Budget`] instead of making more runs.
    #[must_use]
    pub fn with_max_runs(mut self, max_runs: Option<u64>) -> Self {
        self.max_runs = max_runs;
        self
    }

    /// Tells `observer` of each run and each gain. An error of its ends the search.
    #[must_use]
    pub fn with_observer(mut self, observer: impl FnMut(&Event<'_>) -> std::io::Result<()> + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Names what the next runs are for.
    pub fn enter(&mut self, phase: &'static str) {
        self.phase = phase;
    }

    /// The outcome of an input; a run only if it was not tested before.
    ///
    /// # Errors
    /// When the search must end.
    pub fn test(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        match self.known(input) {
            Some(outcome) => Ok(outcome),
            None => self.run(input),
        }
    }

    /// The outcome of an input, if it was tested before.
    pub fn known(&self, input: &[u8]) -> Option<Outcome> {
        self.outcomes.get(&blake3::hash(input)).copied()
    }

    /// One more run of an input, whatever is known of it. If any run of it failed, it fails: a failure is a fact.
    ///
    /// # Errors
    /// When the search must end.
    pub fn retest(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        self.run(input)
    }

    /// A fresh run, served from no memory and remembered in none: the last word on a result.
    ///
    /// # Errors
    /// When the oracle cannot be asked.
    pub fn confirm(&mut self, input: &[u8]) -> Result<Run, Stop> {
        let run = self.oracle.run(input)?;
        self.count(run.outcome)?;
        Ok(run)
    }

    /// Tells the observer of a smaller failing input.
    ///
    /// # Errors
    /// When the observer fails, for example because the disk is full.
    pub fn improved(&mut self, best: &[u8]) -> Result<(), Stop> {
        if let Some(observer) = &mut self.observer {
            observer(&Event::Best(best))?;
        }
        Ok(())
    }

    /// How many runs there were, replayed ones included.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many of them were served from memory.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// How often two runs of one input differed.
    pub fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// The runs by what they were for, in the order in which that first came up.
    pub fn phases(&self) -> &IndexMap<&'static str, Counts> {
        &self.phases
    }

    fn run(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        let key = blake3::hash(input);
        let ordinal = self.ordinals.get(&key).copied().unwrap_or(0);
        let remembered = self.memory.as_ref().and_then(|memory| memory.lookup(&key, ordinal));
        let outcome = match remembered {
            Some(outcome) => {
                self.replayed += 1;
                outcome
            }
            None => self.ask(input, &key, ordinal)?,
        };
        self.ordinals.insert(key, ordinal + 1);
        let known = self.outcomes.get(&key).copied();
        self.contradictions += u64::from(known.is_some_and(|known| known != outcome));
        if known != Some(Outcome::Fail) {
            self.outcomes.insert(key, outcome);
        }
        self.count(outcome)?;
        Ok(outcome)
    }

    fn ask(&mut self, input: &[u8], key: &Key, ordinal: u32) -> Result<Outcome, Stop> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Stop::Interrupted);
        }
        if let Some(max_runs) = self.max_runs.filter(|max_runs| self.runs >= *max_runs) {
            return Err(Stop::Budget(max_runs));
        }
        let begin = Instant::now();
        let outcome = self.oracle.run(input)?.outcome;
        // A Ctrl-C can reach the oracle's process, too: what it then says is not about the input.
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Stop::Interrupted);
        }
        if let Some(memory) = &mut self.memory {
            let micros = begin.elapsed().as_micros() as u64;
            memory.record(key, ordinal, &Record { outcome, phase: self.phase, len: input.len(), micros })?;
        }
        Ok(outcome)
    }

    fn count(&mut self, outcome: Outcome) -> Result<(), Stop> {
        self.runs += 1;
        self.phases.entry(self.phase).or_default().add(outcome);
        if let Some(observer) = &mut self.observer {
            observer(&Event::Ran { phase: self.phase, outcome, runs: self.runs })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_failure_is_a_fact_and_a_contradiction_is_counted() {
        let runs = AtomicU32::new(0);
        let oracle = |_: &[u8]| if runs.fetch_add(1, Ordering::Relaxed) == 1 { Outcome::Fail } else { Outcome::Pass };
        let mut search = Search::new(&oracle);
        let outcomes: Vec<Outcome> = (0..3).map(|_| search.retest(b"x").expect("runs")).collect();
        assert_eq!(outcomes, [Outcome::Pass, Outcome::Fail, Outcome::Pass]);
        assert_eq!(search.known(b"x"), Some(Outcome::Fail));
        assert_eq!((search.runs(), search.contradictions()), (3, 2));
    }

    #[test]
    fn a_budget_ends_the_search_and_known_outcomes_stay_free() {
        let oracle = |_: &[u8]| Outcome::Pass;
        let mut search = Search::new(&oracle).with_max_runs(Some(1));
        assert!(search.test(b"a").is_ok());
        assert!(matches!(search.test(b"b"), Err(Stop::Budget(1))));
        assert!(search.test(b"a").is_ok());
    }

    #[derive(Default)]
    struct Known(Vec<(Key, u32, Outcome)>);

    impl Memory for Known {
        fn lookup(&self, key: &Key, ordinal: u32) -> Option<Outcome> {
            self.0.iter().find(|(k, o, _)| k == key && *o == ordinal).map(|(.., outcome)| *outcome)
        }

        fn record(&mut self, key: &Key, ordinal: u32, run: &Record<'_>) -> std::io::Result<()> {
            self.0.push((*key, ordinal, run.outcome));
            Ok(())
        }
    }

    #[test]
    fn remembered_runs_are_replayed_in_their_order() {
        let key = blake3::hash(b"x");
        let memory = Known(vec![(key, 0, Outcome::Pass), (key, 1, Outcome::Fail)]);
        let oracle = |_: &[u8]| Outcome::Unresolved;
        let mut search = Search::new(&oracle).with_memory(Box::new(memory));
        let outcomes: Vec<Outcome> = (0..3).map(|_| search.retest(b"x").expect("runs")).collect();
        assert_eq!(outcomes, [Outcome::Pass, Outcome::Fail, Outcome::Unresolved]);
        assert_eq!((search.runs(), search.replayed()), (3, 2));
    }
}
