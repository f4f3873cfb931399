//! From what a process did to an outcome.

use super::process::Ended;
use super::signal::signal_name;
use super::{OracleError, Outcome};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

/// What a run of a program must show to be a failure, or to say nothing.
///
/// Every *kind* of fail rule that is given must hold (of several of one kind, any). With no fail rule at all, death by any
/// signal is the failure. If the fail rules do not hold, any unresolved rule that does makes the run unresolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Exit statuses.
    pub fail_exit: Vec<i32>,
    /// Signal numbers.
    pub fail_signal: Vec<i32>,
    /// Regular expressions over standard output and, apart, standard error.
    pub fail_output: Vec<String>,
    /// Exit statuses.
    pub unresolved_exit: Vec<i32>,
    /// Signal numbers.
    pub unresolved_signal: Vec<i32>,
    /// Regular expressions over standard output and, apart, standard error.
    pub unresolved_output: Vec<String>,
}

/// Rules with their expressions compiled.
#[derive(Debug)]
pub(super) struct Judge {
    rules: Rules,
    fail_output: Vec<Regex>,
    unresolved_output: Vec<Regex>,
}

impl Judge {
    pub(super) fn new(rules: Rules) -> Result<Self, OracleError> {
        let compiled = |written: &Vec<String>| {
            let compile = |pattern: &String| {
                Regex::new(pattern).map_err(|error| OracleError {
                    message: format!("the regular expression `{pattern}` cannot be used: {error}"),
                })
            };
            written.iter().map(compile).collect::<Result<Vec<_>, _>>()
        };
        let fail_output = compiled(&rules.fail_output)?;
        let unresolved_output = compiled(&rules.unresolved_output)?;
        Ok(Judge { rules, fail_output, unresolved_output })
    }

    pub(super) fn judge(&self, ended: &Ended) -> (Outcome, String) {
        let how = ended.in_words();
        let rules = &self.rules;
        let exits = |wanted: &Vec<i32>| ended.exit.is_some_and(|exit| wanted.contains(&exit));
        let signals = |wanted: &Vec<i32>| ended.signal.is_some_and(|signal| wanted.contains(&signal));
        let output = |wanted: &[Regex]| {
            let streams = [("standard output", &ended.stdout), ("standard error", &ended.stderr)];
            wanted.iter().find_map(|regex| {
                let hit = streams.iter().find(|(_, text)| regex.is_match(text));
                hit.map(|(name, _)| format!("{name} matches `{regex}`"))
            })
        };
        let printed = output(&self.fail_output);
        let none = rules.fail_exit.is_empty() && rules.fail_signal.is_empty() && self.fail_output.is_empty();
        let fails = if none {
            ended.signal.is_some()
        } else {
            (rules.fail_exit.is_empty() || exits(&rules.fail_exit))
                && (rules.fail_signal.is_empty() || signals(&rules.fail_signal))
                && (self.fail_output.is_empty() || printed.is_some())
        };
        if fails {
            return (Outcome::Fail, printed.map_or(how.clone(), |printed| format!("{how}, {printed}")));
        }
        if exits(&rules.unresolved_exit) || signals(&rules.unresolved_signal) {
            return (Outcome::Unresolved, how);
        }
        match output(&self.unresolved_output) {
            Some(printed) => (Outcome::Unresolved, format!("{how}, {printed}")),
            None => (Outcome::Pass, format!("{how}, no rule for a failure holds")),
        }
    }
}

impl Rules {
    /// The rules in words, one a line.
    pub fn in_words(&self) -> String {
        let list = |items: Vec<String>| items.join(" or ");
        let kinds = |exit: &Vec<i32>, signal: &Vec<i32>, output: &Vec<String>| {
            let mut kinds = Vec::new();
            if !exit.is_empty() {
                kinds.push(format!("exit status {}", list(exit.iter().map(i32::to_string).collect())));
            }
            if !signal.is_empty() {
                kinds.push(format!("killed by {}", list(signal.iter().map(|n| signal_name(*n)).collect())));
            }
            if !output.is_empty() {
                kinds.push(format!("output matches {}", list(output.iter().map(|r| format!("`{r}`")).collect())));
            }
            kinds
        };
        let fail = kinds(&self.fail_exit, &self.fail_signal, &self.fail_output);
        let unresolved = kinds(&self.unresolved_exit, &self.unresolved_signal, &self.unresolved_output);
        let fail = if fail.is_empty() { "killed by any signal (no rule was given)".to_owned() } else { fail.join(", and ") };
        let unresolved = if unresolved.is_empty() { "never".to_owned() } else { unresolved.join(", or ") };
        format!("fails:      {fail}\nunresolved: {unresolved}")
    }
}
