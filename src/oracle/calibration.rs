//! Before the first candidate: what the failure looks like, how steady it is, and what a rejected input looks like.

use std::fmt;
use std::time::Duration;

use super::signature::{Signature, Strictness};
use super::{CommandOracle, CommandSpec, Oracle, OracleError};

/// How often the original is run. Two runs tell what differs from run to run; the third that this was not chance.
const RUNS: usize = 3;

/// What a few runs of the original input, and of inputs that are surely invalid, have shown.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// What makes the failure this one; `None` if the original shows none, or each time another.
    pub signature: Option<Signature>,
    /// Whether every run of the original was ended by the timeout: the failure is a hang.
    pub hangs: bool,
    /// How each run of the original ended, in words.
    pub ends: Vec<String>,
    /// The exit statuses by which the program rejects an input.
    pub rejects: Vec<i32>,
    /// Of the invalid inputs those that show the very failure, by what they are (`an empty input`).
    pub suspicious: Vec<&'static str>,
    /// The longest run of the original.
    pub slowest: Duration,
}

impl Calibration {
    /// Runs the original three times, and three invalid inputs once each.
    ///
    /// # Errors
    /// When the oracle cannot be run.
    pub fn of(oracle: &CommandOracle, input: &[u8], strictness: Strictness) -> Result<Calibration, OracleError> {
        let mut runs = Vec::new();
        let mut ends = Vec::new();
        for _ in 0..RUNS {
            let run = oracle.run(input)?;
            ends.push(run.reason.clone());
            runs.extend(run.process);
        }
        let signature = Signature::of(&runs, input, strictness);
        let hangs = runs.iter().all(|run| run.timed_out);
        let slowest = runs.iter().map(|run| run.elapsed).max().unwrap_or_default();
        let mut calibration =
            Calibration { signature, hangs, ends, rejects: Vec::new(), suspicious: Vec::new(), slowest };
        if calibration.signature.is_some() || hangs {
            calibration.probe(oracle, input)?;
        }
        Ok(calibration)
    }

    fn probe(&mut self, oracle: &CommandOracle, input: &[u8]) -> Result<(), OracleError> {
        let compiled = self.signature.as_ref().map(Signature::compiled).transpose()?;
        for (name, probe) in probes(input) {
            let Some(run) = oracle.run(&probe)?.process else { continue };
            if compiled.as_ref().is_some_and(|signature| signature.matches(&run)) || self.hangs && run.timed_out {
                self.suspicious.push(name);
            } else if let Some(exit) = run.exit.filter(|exit| *exit != 0) {
                self.rejects.push(exit);
            }
        }
        self.rejects.sort_unstable();
        self.rejects.dedup();
        Ok(())
    }

    /// The rules that follow, for a program that was given none. A user's own rules for unresolved runs stay as they are.
    pub fn apply(&self, spec: &mut CommandSpec) {
        spec.fail.signature.clone_from(&self.signature);
        spec.timeout_is_fail |= self.hangs;
        if spec.unresolved.is_empty() {
            spec.unresolved.exit.clone_from(&self.rejects);
        }
    }
}

impl fmt::Display for Calibration {
    /// What is looked for, in a line, and what follows from the rest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.signature {
            Some(signature) => write!(f, "failure:  {signature}")?,
            None if self.hangs => write!(f, "failure:  it hangs")?,
            None => write!(f, "failure:  none")?,
        }
        if !self.rejects.is_empty() {
            let statuses = self.rejects.iter().map(i32::to_string).collect::<Vec<_>>().join(" or ");
            write!(f, "\nrejected: exit status {statuses}, as for invalid input; such runs say nothing")?;
        }
        if !self.suspicious.is_empty() {
            write!(
                f,
                "\nwarning:  {} fails in the same way: if that is how invalid input is rejected, say what the failure is \
                 with --fail-exit, --fail-signal or --fail-output",
                self.suspicious.join(", and ")
            )?;
        }
        Ok(())
    }
}

/// Inputs that no program should take for valid.
fn probes(input: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let garbage = b"\x01\x02)]}>;\"'`#@!\xff\xfe<%$ \x7f".to_vec();
    [("garbage", garbage), ("the input's first half", input[..input.len() / 2].to_vec()), ("an empty input", Vec::new())]
}
