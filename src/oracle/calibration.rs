//! Before the first candidate: what the failure looks like, how steady it is, and what a rejected input looks like.

use std::fmt;
use std::time::Duration;

use super::signature::{Signature, Strictness};
use super::{CommandOracle, CommandSpec, Oracle, OracleError, Process, Rate};

/// How often the original is run. Two runs tell what differs from run to run; the third that this was not chance.
const RUNS: usize = 3;

/// How often it is run if the runs disagree.
const MORE_RUNS: usize = 20;

/// How many invalid inputs are tried.
const PROBES: usize = 3;

/// What a few runs of the original input, and of inputs that are surely invalid, have shown.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// What makes the failure this one; `None` if the original shows none, or each time another.
    pub signature: Option<Signature>,
    /// Whether every run of the original was ended by the timeout: the failure is a hang.
    pub hangs: bool,
    /// Whether the failure comes and goes: some runs show it, and the others end well or are rejected.
    pub rate: Rate,
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
    /// Runs the original three times (twenty if the runs disagree), and three invalid inputs once each.
    ///
    /// # Errors
    /// When the oracle cannot be run.
    pub fn of(oracle: &CommandOracle, input: &[u8], strictness: Strictness) -> Result<Calibration, OracleError> {
        let mut runs = Vec::new();
        let mut ends: Vec<String> = Vec::new();
        while ends.len() < RUNS || ends.len() < MORE_RUNS && ends.iter().any(|end| *end != ends[0]) {
            let run = oracle.run(input)?;
            ends.push(run.reason.clone());
            runs.extend(run.process);
        }
        let failing = failing(&runs);
        let signature = Signature::of(&failing, input, strictness);
        let rate = Rate { failed: failing.len() as u32, of: runs.len() as u32 };
        let hangs = runs.iter().all(|run| run.timed_out);
        let slowest = runs.iter().map(|run| run.elapsed).max().unwrap_or_default();
        let mut calibration =
            Calibration { signature, hangs, rate, ends, rejects: Vec::new(), suspicious: Vec::new(), slowest };
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

    /// Whether the failure can be told by its signature. A program that ends so whatever it is given, and says nothing of a
    /// failure, is rather called in a wrong way.
    pub fn is_telling(&self) -> bool {
        let vague = |signature: &Signature| signature.signal.is_none() && signature.is_vague();
        let only_here = self.suspicious.len() < PROBES;
        self.hangs && only_here || self.signature.as_ref().is_some_and(|signature| only_here || !vague(signature))
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

/// The runs that show the failure: all, if they ended alike; else those that did not end well, if these ended alike.
fn failing(runs: &[Process]) -> Vec<Process> {
    let end = |run: &Process| (run.exit, run.signal, run.timed_out);
    let alike = |runs: &[Process]| runs.windows(2).all(|pair| end(&pair[0]) == end(&pair[1]));
    if alike(runs) {
        return runs.to_vec();
    }
    let bad: Vec<Process> = runs.iter().filter(|run| run.exit != Some(0)).cloned().collect();
    if alike(&bad) { bad } else { Vec::new() }
}

/// Inputs that no program should take for valid.
fn probes(input: &[u8]) -> [(&'static str, Vec<u8>); PROBES] {
    let garbage = b"\x01\x02)]}>;\"'`#@!\xff\xfe<%$ \x7f".to_vec();
    [
        ("garbage", garbage),
        ("the input's first half", input[..input.len() / 2].to_vec()),
        ("an empty input", Vec::new()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Outcome, Signal};

    fn sh(script: &str) -> CommandSpec {
        CommandSpec::program(["sh", "-c", script, "sh", "{}"])
    }

    fn calibrated(script: &str, input: &[u8]) -> (Calibration, CommandOracle) {
        let oracle = CommandOracle::new(sh(script)).unwrap();
        let found = Calibration::of(&oracle, input, Strictness::default()).unwrap();
        let mut spec = sh(script);
        found.apply(&mut spec);
        (found, CommandOracle::new(spec).unwrap())
    }

    #[test]
    fn a_crash_a_rejection_and_another_crash() {
        let script =
            "case $(cat $1) in a*bug*) kill -SEGV $$;; a*other*) kill -ABRT $$;; a*) exit 0;; *) exit 2;; esac";
        let (found, oracle) = calibrated(script, b"a word before the bug");
        assert_eq!(found.signature.as_ref().unwrap().signal, Some(Signal(11)));
        assert_eq!(found.rejects, [2]);
        assert!(found.suspicious.is_empty(), "{found:?}");
        let outcome = |input: &[u8]| oracle.run(input).unwrap().outcome;
        assert_eq!(outcome(b"a bug"), Outcome::Fail);
        assert_eq!(outcome(b"a b"), Outcome::Pass);
        assert_eq!(outcome(b"b"), Outcome::Unresolved);
        let other = oracle.run(b"a other").unwrap();
        assert_eq!((other.outcome, other.other.as_deref()), (Outcome::Unresolved, Some("signal SIGABRT")));
    }

    #[test]
    fn addresses_pids_paths_and_times_do_not_matter() {
        let script = "echo \"$1:3: internal error: cell 0x$$ of $(date +%N) ms in $1\" >&2; exit 70";
        let (found, oracle) = calibrated(script, b"x");
        assert!(found.signature.is_some());
        assert_eq!(oracle.run(b"y").unwrap().outcome, Outcome::Fail);
    }

    #[test]
    fn what_fails_whatever_it_is_given_is_not_telling() {
        let (found, _) = calibrated("exit 3", b"x");
        assert_eq!((found.suspicious.len(), found.is_telling()), (3, false));
        let (found, _) = calibrated("exit 0", b"x");
        assert!(found.signature.is_none() && !found.is_telling());
        let (found, _) = calibrated("kill -SEGV $$", b"x");
        assert!(found.is_telling());
        assert!(
            found.to_string().contains("warning:  garbage, and the input's first half, and an empty input"),
            "{found}"
        );
    }

    #[test]
    fn a_hang_is_a_failure() {
        let mut spec = sh("grep -q hang $1 && sleep 100; exit 0");
        spec.timeout = Some(Duration::from_millis(300));
        let oracle = CommandOracle::new(spec.clone()).unwrap();
        let found = Calibration::of(&oracle, b"now hang", Strictness::default()).unwrap();
        assert!(found.hangs && found.signature.is_none());
        found.apply(&mut spec);
        assert!(spec.timeout_is_fail);
    }
}
