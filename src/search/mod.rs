//! Asks the oracle on behalf of an algorithm: counts runs, remembers outcomes.

use crate::oracle::{Oracle, OracleError, Outcome};
use rustc_hash::FxHashMap;

/// Why a search ends before it is done.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The oracle could not be asked.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// The allowed number of runs is used up.
    #[error("the budget of runs is used up")]
    Budget,
}

/// Between an algorithm and an oracle.
pub struct Search<'a> {
    oracle: &'a dyn Oracle,
    outcomes: FxHashMap<Vec<u8>, Outcome>,
    runs: u64,
    /// Most runs.
    pub limit: u64,
    phase: &'static str,
    /// Runs and failures by phase.
    pub by: std::collections::BTreeMap<&'static str, (u64, u64)>,
}

impl<'a> Search<'a> {
    /// A search without a limit.
    pub fn new(oracle: &'a dyn Oracle) -> Self {
        Search { oracle, outcomes: FxHashMap::default(), runs: 0, limit: u64::MAX, phase: "", by: Default::default() }
    }

    /// Names what the next runs are for.
    pub fn enter(&mut self, phase: &'static str) {
        self.phase = phase;
    }

    /// The outcome of an input.
    ///
    /// # Errors
    /// When the search must end.
    pub fn test(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        if let Some(outcome) = self.known(input) {
            return Ok(outcome);
        }
        if self.runs >= self.limit {
            return Err(Stop::Budget);
        }
        self.runs += 1;
        let outcome = self.oracle.run(input)?.outcome;
        let by = self.by.entry(self.phase).or_default();
        by.0 += 1;
        by.1 += u64::from(outcome == Outcome::Fail);
        self.outcomes.insert(input.to_vec(), outcome);
        Ok(outcome)
    }

    /// The outcome, if the input was tested before.
    pub fn known(&self, input: &[u8]) -> Option<Outcome> {
        self.outcomes.get(input).copied()
    }

    /// Notes the best input so far.
    pub fn improved(&mut self, _input: &[u8]) {}

    /// How many runs there were.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}
impl Search<'_> {
    /// x
    pub fn retest(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        self.runs += 1;
        Ok(self.oracle.run(input)?.outcome)
    }
    /// x
    pub fn contradictions(&self) -> u64 {
        0
    }
}
