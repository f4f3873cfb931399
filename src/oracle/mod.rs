//! What tells whether an input reproduces the failure.
//!
//! An oracle knows bytes only: no grammar, no tree, no search.

mod calibration;
mod command;
pub mod environment;
mod guard;
pub mod limits;
mod orphans;
mod process;
mod report;
mod sandbox;
mod scratch;
mod signature;
mod spec;
mod vote;
mod watchdog;

use std::time::Duration;

pub use calibration::Calibration;
pub use command::{CommandOracle, Description};
pub use guard::{GUARD, guard};
pub use report::Report;
pub use sandbox::Sandbox;
pub use signature::{Signature, Strictness};
pub use spec::{CommandSpec, Invocation, Rules, SKIP, Signal, TIMEOUT, parse_bytes, parse_duration};
pub use vote::{MOST_RUNS, Need, Rate, Voting};

/// What one run says about an input: delta debugging's ✘, ✓ and ? (Zeller and Hildebrandt, 2002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The same failure again.
    Fail,
    /// The input was processed, and this failure did not occur.
    Pass,
    /// Nothing can be said: the input is invalid, or the run timed out.
    Unresolved,
}

/// One run: its outcome, and what led to it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The verdict.
    pub outcome: Outcome,
    /// Why it is the verdict, in words for a person ("exit status 0", "timed out after 10 s").
    pub reason: String,
    /// If the input fails in another way than the one looked for: in which.
    pub other: Option<String>,
    /// How the process ended and what it printed; `None` for an oracle that runs no process.
    pub process: Option<Process>,
}

/// What became of an oracle's process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Exit status, if it exited by itself.
    pub exit: Option<i32>,
    /// Signal number, if a signal ended it.
    pub signal: Option<i32>,
    /// Whether it was killed because its time was up.
    pub timed_out: bool,
    /// Whether it was killed since it used too much memory.
    pub out_of_memory: bool,
    /// Time on processors; known only of a run whose time was up.
    pub cpu: Duration,
    /// Wall time of the run.
    pub elapsed: Duration,
    /// What it wrote to standard output (bounded; see [`Process::truncated`]).
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Whether more was written than was kept.
    pub truncated: bool,
}

/// The oracle could not be asked. This is never an outcome of an input.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OracleError {
    /// What is wrong and what to do about it.
    pub message: String,
}

impl OracleError {
    /// An error that says what is wrong and what to do about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Anything that can tell whether an input fails.
pub trait Oracle: Send + Sync {
    /// Runs the input once. Never served from a cache.
    ///
    /// # Errors
    /// When the oracle itself cannot be run: the program is missing, the disk is full.
    fn run(&self, input: &[u8]) -> Result<Run, OracleError>;

    /// Two oracles with the same identity give the same outcomes, so that the outcomes of one may be reused for the other.
    fn identity(&self) -> String;
}

impl<F: Fn(&[u8]) -> Outcome + Send + Sync> Oracle for F {
    fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
        let outcome = self(input);
        Ok(Run { outcome, reason: format!("{outcome:?}").to_lowercase(), other: None, process: None })
    }

    fn identity(&self) -> String {
        std::any::type_name::<F>().to_owned()
    }
}
