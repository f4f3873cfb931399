//! What a process oracle is asked to run, and which ends of the process are which outcome.
//!
//! Plain data: it is kept in a run's folder, so that the run can go on without its arguments.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use regex::bytes::Regex;
use rustix::process::Signal as Os;
use serde::{Deserialize, Serialize};

use super::environment::Variable;
use super::signature::{CompiledSignature, Signature, other_failure};
use super::{OracleError, Outcome, Process, Run, Sandbox};

/// The exit status by which a script says "this input tells nothing" (`git bisect run` has the same).
pub const SKIP: i32 = 125;

/// The time one run may take as long as nothing is known of how long runs take.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A process oracle: what is run, on which file name, and how its end is read.
///
/// The order of the verdict: a timeout, then the fail rules, then the unresolved rules, else [`Outcome::Pass`].
///
/// ```
/// use ddset::oracle::{CommandSpec, Rules};
/// let mut spec = CommandSpec::program(["grep", "-q", "bug", "{}"]);
/// spec.fail = Rules { exit: vec![0], ..Rules::default() };
/// assert!(spec.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// What is run.
    pub invocation: Invocation,
    /// When a run is [`Outcome::Fail`]. Empty for a script, whose exit status 0 says so. Empty for a program: it
    /// fails if a signal ends it, save a signal that `unresolved` names.
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub fail: Rules,
    /// When a run that is no `Fail` is [`Outcome::Unresolved`]. A script's exit status 125 is so in any case.
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub unresolved: Rules,
    /// Wall time after which a run is killed; `None` if it follows from the runs of the original, see
    /// [`CommandOracle::settle_time`](super::CommandOracle::settle_time).
    #[serde(default, with = "duration", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Whether a run that is killed for its time is `Fail` (the failure is a hang); else it is `Unresolved`.
    #[serde(default)]
    pub timeout_is_fail: bool,
    /// How much memory a run may use, in bytes, before it is killed and `Unresolved`; `None` for the default of
    /// [`limits`](super::limits).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_memory: Option<u64>,
    /// What differs in the environment; see [`environment`](super::environment).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<Variable>,
    /// How a run is kept from doing harm. No part of the oracle's identity: it must not matter to what a run says.
    #[serde(default, skip_serializing_if = "Sandbox::is_off")]
    pub sandbox: Sandbox,
    /// The folder that relative paths start from: a script, a program with a `/` in its name, an argument that names a file.
    pub base: PathBuf,
    /// The candidate's file name, without folders. Some programs go by its extension.
    pub file_name: String,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invocation {
    /// `SCRIPT FILE`, with the candidate on standard input too: exit status 0 is `Fail`, 125 `Unresolved`, any other `Pass`.
    Script {
        /// The script; relative to [`CommandSpec::base`].
        path: PathBuf,
    },
    /// A program and its arguments. `{}` and `@@` stand for the candidate's path, anywhere in an argument; with
    /// neither, the candidate is standard input.
    Program {
        /// The program's name or path, then its arguments.
        argv: Vec<String>,
    },
}

/// Conditions on the end of a run.
///
/// There are two kinds: how the process ended (`exit`, `signal`) and what it printed (`output`). Each kind that is given must hold;
/// within a kind any one suffices. Exit status and signal are one kind, since no process has both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Exit statuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exit: Vec<i32>,
    /// Signals that end the process itself. (A shell that runs the program reports exit status 128 + signal instead.)
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signal: Vec<Signal>,
    /// Regular expressions over bytes, searched for in standard output and in standard error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
    /// What makes the failure this one, found out from runs of the original. It stands for all other rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl CommandSpec {
    /// A script as oracle, with the default timeout and names.
    pub fn script(path: impl Into<PathBuf>) -> Self {
        Self::new(Invocation::Script { path: path.into() })
    }

    /// A program as oracle, with the default timeout and names, and no rules yet.
    pub fn program<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self::new(Invocation::Program { argv: argv.into_iter().map(Into::into).collect() })
    }

    fn new(invocation: Invocation) -> Self {
        Self {
            invocation,
            fail: Rules::default(),
            unresolved: Rules::default(),
            timeout: None,
            timeout_is_fail: false,
            max_memory: None,
            env: Vec::new(),
            sandbox: Sandbox::Off,
            base: PathBuf::from("."),
            file_name: "input".to_owned(),
        }
    }

    /// Whether the parts fit together, without a look at the file system.
    ///
    /// # Errors
    /// A regular expression that does not parse, a file name that is a path, a script with fail rules, no program.
    pub fn check(&self) -> Result<(), OracleError> {
        self.verdicts().map(|_| ())
    }

    /// Whether nothing is said of what the failure is, so that runs of the original must tell.
    pub fn is_open(&self) -> bool {
        matches!(self.invocation, Invocation::Program { .. }) && self.fail.is_empty() && !self.timeout_is_fail
    }

    /// What to do when the first input does not fail: how its run ended, and the rule that would say that this is the failure.
    pub fn advice(&self, run: &Run) -> String {
        let Some(process) = &run.process else { return run.reason.clone() };
        let rule = match (&self.invocation, process.exit, process.signal) {
            (_, _, _) if process.timed_out => {
                "if the failure is that it hangs, say that a timeout is a failure; else allow more time".to_owned()
            }
            (Invocation::Script { path }, ..) => {
                format!("{} must exit with status 0 when the input fails", path.display())
            }
            (_, Some(exit), _) => {
                format!("if this is the failure, add `--fail-exit {exit}`, or `--fail-output` with what it prints")
            }
            (_, _, Some(signal)) => format!("if this is the failure, add `--fail-signal {}`", Signal(signal)),
            _ => "add a rule that tells the failure".to_owned(),
        };
        format!("the run ended with {}; {rule}", run.reason)
    }

    /// The rules in words, in the order in which they are tried.
    pub fn rules_in_words(&self) -> Vec<String> {
        let late = if self.timeout_is_fail { "fail" } else { "unresolved" };
        let script = matches!(self.invocation, Invocation::Script { .. });
        let mut words = vec![
            format!("{late}: its time is up"),
            "unresolved: it uses too much memory, or writes too large a file".to_owned(),
        ];
        words.push(match (script, self.fail.is_empty()) {
            (true, _) => "fail: exit status 0".to_owned(),
            (false, false) => format!("fail: {}", self.fail),
            (false, true) if self.unresolved.signal.is_empty() => "fail: ended by a signal".to_owned(),
            (false, true) => format!("fail: ended by a signal other than {}", list(&self.unresolved.signal)),
        });
        if script {
            words.push(format!("unresolved: exit status {SKIP}, or the script is ended by a signal"));
        }
        if !self.unresolved.is_empty() {
            words.push(format!("unresolved: {}", self.unresolved));
        }
        words.push("pass: anything else".to_owned());
        words
    }

    pub(super) fn verdicts(&self) -> Result<Verdicts, OracleError> {
        let name = Path::new(&self.file_name);
        if name.file_name().is_none_or(|last| last != name.as_os_str()) || self.file_name.contains('\0') {
            let name = &self.file_name;
            return Err(OracleError::new(format!("the candidate's file name `{name}` is not a plain file name")));
        }
        match &self.invocation {
            Invocation::Script { .. } if !self.fail.is_empty() => {
                return Err(OracleError::new(
                    "a test script says by exit status 0 that the input fails: write other rules into the script, \
                     or give the program itself instead",
                ));
            }
            Invocation::Program { argv } if argv.first().is_none_or(String::is_empty) => {
                return Err(OracleError::new("no program to run: give a command, or a test script"));
            }
            _ => {}
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(OracleError::new("a timeout of zero lets no run end: give a longer one"));
        }
        Ok(Verdicts {
            script: matches!(self.invocation, Invocation::Script { .. }),
            fail: Compiled::new(&self.fail)?,
            unresolved: Compiled::new(&self.unresolved)?,
            timeout_is_fail: self.timeout_is_fail,
        })
    }
}

impl Rules {
    /// Whether no rule is given.
    pub fn is_empty(&self) -> bool {
        self.exit.is_empty() && self.signal.is_empty() && self.output.is_empty() && self.signature.is_none()
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(signature) = &self.signature {
            return write!(f, "{signature}");
        }
        let mut ends = Vec::new();
        if !self.exit.is_empty() {
            ends.push(format!("exit status {}", list(&self.exit)));
        }
        if !self.signal.is_empty() {
            ends.push(format!("signal {}", list(&self.signal)));
        }
        let mut kinds = Vec::new();
        if !ends.is_empty() {
            kinds.push(ends.join(" or "));
        }
        if !self.output.is_empty() {
            let quoted: Vec<_> = self.output.iter().map(|regex| format!("`{regex}`")).collect();
            kinds.push(format!("output matches {}", list(&quoted)));
        }
        f.write_str(&kinds.join(" and "))
    }
}

fn list<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// The rules, ready to judge runs.
pub(super) struct Verdicts {
    script: bool,
    fail: Compiled,
    unresolved: Compiled,
    timeout_is_fail: bool,
}

impl Verdicts {
    /// The outcome of a run, why, and which other failure it shows.
    pub(super) fn judge(&self, process: &Process, limit: Duration) -> (Outcome, String, Option<String>) {
        let (outcome, reason) = self.verdict(process, limit);
        let other = if outcome == Outcome::Fail || self.script { None } else { other_failure(process) };
        match other {
            // Whether it would have failed as the original does cannot be told.
            Some(other) if self.fail.signature.is_some() => {
                (Outcome::Unresolved, format!("{reason}; another failure: {other}"), Some(other))
            }
            other => (outcome, reason, other),
        }
    }

    fn verdict(&self, process: &Process, limit: Duration) -> (Outcome, String) {
        if process.timed_out {
            let outcome = if self.timeout_is_fail { Outcome::Fail } else { Outcome::Unresolved };
            return (outcome, format!("timed out after {}", humantime::format_duration(limit)));
        }
        if process.out_of_memory {
            return (Outcome::Unresolved, "out of memory".to_owned());
        }
        let too_large = Os::XFSZ.as_raw();
        let is_failure = self.fail.signals.contains(&too_large)
            || self.fail.signature.as_ref().is_some_and(|signature| signature.matches(process));
        if process.signal == Some(too_large) && !is_failure {
            return (Outcome::Unresolved, "it wrote too large a file (signal SIGXFSZ)".to_owned());
        }
        let end = match (process.exit, process.signal) {
            (_, Some(signal)) => format!("signal {}", Signal(signal)),
            (Some(127), _) if self.script => "exit status 127 (in a shell: a command was not found)".to_owned(),
            (Some(126), _) if self.script => "exit status 126 (in a shell: a command is not executable)".to_owned(),
            (Some(exit), _) => format!("exit status {exit}"),
            (None, None) => "an unknown end".to_owned(),
        };
        if self.script {
            match process.exit {
                Some(0) => return (Outcome::Fail, end),
                // A script that a signal ends did not come to a verdict.
                Some(SKIP) | None => return (Outcome::Unresolved, end),
                Some(_) => {}
            }
        } else if self.fail.none() {
            if process.signal.is_some_and(|signal| !self.unresolved.signals.contains(&signal)) {
                return (Outcome::Fail, end);
            }
        } else if let Some(signature) = &self.fail.signature {
            if signature.matches(process) {
                return (Outcome::Fail, end);
            }
        } else if let Some(found) = self.fail.hold(process) {
            return (Outcome::Fail, end + &found);
        }
        if !self.unresolved.none()
            && let Some(found) = self.unresolved.hold(process)
        {
            return (Outcome::Unresolved, end + &found);
        }
        (Outcome::Pass, end)
    }
}

struct Compiled {
    exits: Vec<i32>,
    signals: Vec<i32>,
    output: Vec<Regex>,
    signature: Option<CompiledSignature>,
}

impl Compiled {
    fn new(rules: &Rules) -> Result<Self, OracleError> {
        let compile = |text: &String| {
            Regex::new(text).map_err(|error| {
                OracleError::new(format!("the output rule `{text}` is no regular expression: {error}"))
            })
        };
        Ok(Self {
            exits: rules.exit.clone(),
            signals: rules.signal.iter().map(|signal| signal.0).collect(),
            output: rules.output.iter().map(compile).collect::<Result<_, _>>()?,
            signature: rules.signature.as_ref().map(Signature::compiled).transpose()?,
        })
    }

    fn none(&self) -> bool {
        self.exits.is_empty() && self.signals.is_empty() && self.output.is_empty() && self.signature.is_none()
    }

    /// If every kind that is given holds: what to add to the reason.
    fn hold(&self, process: &Process) -> Option<String> {
        let any_end = self.exits.is_empty() && self.signals.is_empty();
        let exit = process.exit.is_some_and(|exit| self.exits.contains(&exit));
        let signal = process.signal.is_some_and(|signal| self.signals.contains(&signal));
        if !(any_end || exit || signal) {
            return None;
        }
        if self.output.is_empty() {
            return Some(String::new());
        }
        let found =
            self.output.iter().find(|regex| regex.is_match(&process.stdout) || regex.is_match(&process.stderr))?;
        Some(format!("; output matches `{found}`"))
    }
}

/// A signal, by its number on this system. Reads and prints as a name (`SEGV`, `SIGSEGV`) or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signal(
    /// The number.
    pub i32,
);

const NAMES: [(&str, Os); 28] = [
    ("HUP", Os::HUP),
    ("INT", Os::INT),
    ("QUIT", Os::QUIT),
    ("ILL", Os::ILL),
    ("TRAP", Os::TRAP),
    ("ABRT", Os::ABORT),
    ("BUS", Os::BUS),
    ("FPE", Os::FPE),
    ("KILL", Os::KILL),
    ("USR1", Os::USR1),
    ("SEGV", Os::SEGV),
    ("USR2", Os::USR2),
    ("PIPE", Os::PIPE),
    ("ALRM", Os::ALARM),
    ("TERM", Os::TERM),
    ("CHLD", Os::CHILD),
    ("CONT", Os::CONT),
    ("STOP", Os::STOP),
    ("TSTP", Os::TSTP),
    ("TTIN", Os::TTIN),
    ("TTOU", Os::TTOU),
    ("URG", Os::URG),
    ("XCPU", Os::XCPU),
    ("XFSZ", Os::XFSZ),
    ("VTALRM", Os::VTALARM),
    ("PROF", Os::PROF),
    ("IO", Os::IO),
    ("SYS", Os::SYS),
];

impl FromStr for Signal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse::<i32>() {
            return if (1..=64).contains(&number) {
                Ok(Self(number))
            } else {
                Err(format!("{number} is no signal: they are numbered from 1 to 64"))
            };
        }
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, signal)| Self(signal.as_raw())).ok_or_else(|| {
            format!("`{text}` is no signal: give a name such as SEGV, ABRT, BUS, FPE, ILL, TRAP, or a number")
        })
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, signal)| signal.as_raw() == self.0) {
            Some((name, _)) => write!(f, "SIG{name}"),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Signal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a signal's name or number")]
        enum Either {
            Number(i32),
            Name(String),
        }
        let text = match Either::deserialize(deserializer)? {
            Either::Number(number) => number.to_string(),
            Either::Name(name) => name,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Reads a time span: `10s`, `1m 30s`, `500ms`, or a bare number of seconds (`10`, `0.5`).
///
/// # Errors
/// When it is none of these.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = |_| format!("`{text}` is no time span: write, for instance, `10s`, `500ms` or `2m`");
    match text.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| wrong(())),
        Err(_) => humantime::parse_duration(text).map_err(|_| wrong(())),
    }
}

/// Reads a size in bytes: `512M`, `2G`, `100K`, or a bare number.
///
/// # Errors
/// When it is none of these, or nothing.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let unit = match text[digits.len()..].trim_end_matches(['B', 'b', 'i']).to_ascii_uppercase().as_str() {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    let bytes = unit.and_then(|unit: u64| digits.trim().parse::<u64>().ok()?.checked_mul(unit));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| format!("`{text}` is no size: write, for instance, `512M` or `2G`"))
}

mod duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(span: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => serializer.collect_str(&humantime::format_duration(*span)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| super::parse_duration(&text).map_err(serde::de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(exit: Option<i32>, signal: Option<i32>, stderr: &str) -> Process {
        Process {
            exit,
            signal,
            timed_out: false,
            out_of_memory: false,
            cpu: Duration::ZERO,
            elapsed: Duration::ZERO,
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
            truncated: false,
        }
    }

    fn judge(spec: &CommandSpec, process: &Process) -> Outcome {
        spec.verdicts().unwrap().judge(process, Duration::from_secs(1)).0
    }

    #[test]
    fn a_script_answers_by_exit_status() {
        let mut spec = CommandSpec::script("t.sh");
        spec.unresolved.exit = vec![3];
        let outcomes = [0, 1, 3, 125, 127].map(|exit| judge(&spec, &ended(Some(exit), None, "")));
        assert_eq!(outcomes, [Outcome::Fail, Outcome::Pass, Outcome::Unresolved, Outcome::Unresolved, Outcome::Pass]);
        assert_eq!(judge(&spec, &ended(None, Some(9), "")), Outcome::Unresolved);
    }

    #[test]
    fn each_kind_must_hold_and_within_a_kind_any() {
        let mut spec = CommandSpec::program(["p"]);
        spec.fail = Rules {
            exit: vec![1, 2],
            signal: vec![Signal(11)],
            output: vec!["boom".to_owned(), "b[a-z]+g".to_owned()],
            signature: None,
        };
        assert_eq!(judge(&spec, &ended(Some(2), None, "a bug")), Outcome::Fail);
        assert_eq!(judge(&spec, &ended(None, Some(11), "boom")), Outcome::Fail);
        assert_eq!(judge(&spec, &ended(Some(1), None, "fine")), Outcome::Pass);
        assert_eq!(judge(&spec, &ended(Some(3), None, "boom")), Outcome::Pass);
    }

    #[test]
    fn without_a_rule_a_signal_is_the_failure() {
        let mut spec = CommandSpec::program(["p"]);
        spec.unresolved.signal = vec![Signal(9)];
        assert_eq!(judge(&spec, &ended(None, Some(11), "")), Outcome::Fail);
        assert_eq!(judge(&spec, &ended(None, Some(9), "")), Outcome::Unresolved);
        assert_eq!(judge(&spec, &ended(Some(1), None, "")), Outcome::Pass);
    }

    #[test]
    fn fail_is_tried_before_unresolved_and_a_timeout_before_both() {
        let mut spec = CommandSpec::program(["p"]);
        spec.fail.output = vec!["x".to_owned()];
        spec.unresolved.exit = vec![1];
        assert_eq!(judge(&spec, &ended(Some(1), None, "x")), Outcome::Fail);
        assert_eq!(judge(&spec, &ended(Some(1), None, "")), Outcome::Unresolved);
        let late = Process { timed_out: true, ..ended(None, Some(9), "x") };
        assert_eq!(judge(&spec, &late), Outcome::Unresolved);
        spec.timeout_is_fail = true;
        assert_eq!(judge(&spec, &late), Outcome::Fail);
    }

    #[test]
    fn output_is_bytes() {
        let mut spec = CommandSpec::program(["p"]);
        spec.fail.output = vec![r"(?-u)\xff".to_owned()];
        let mut process = ended(Some(0), None, "");
        process.stdout = vec![b'a', 0xff];
        assert_eq!(judge(&spec, &process), Outcome::Fail);
    }

    #[test]
    fn signals_by_name_and_number() {
        for text in ["SEGV", "SIGSEGV", "sigsegv", "11"] {
            assert_eq!(text.parse::<Signal>().unwrap().to_string(), "SIGSEGV");
        }
        assert!("SIGFOO".parse::<Signal>().unwrap_err().contains("SEGV"));
        assert!("0".parse::<Signal>().is_err());
    }

    #[test]
    fn time_spans() {
        assert_eq!(parse_duration("0.5").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_duration("1m 30s").unwrap(), Duration::from_secs(90));
        assert!(parse_duration("-1").is_err() && parse_duration("soon").is_err());
    }

    #[test]
    fn a_spec_survives_its_text() {
        let mut spec = CommandSpec::program(["p", "{}"]);
        spec.fail.signal = vec![Signal(11)];
        spec.timeout = Some(Duration::from_secs(10));
        let text = serde_json::to_string(&spec).unwrap();
        assert!(text.contains("SIGSEGV") && text.contains("\"10s\""), "{text}");
        assert_eq!(serde_json::from_str::<CommandSpec>(&text).unwrap(), spec);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let mut script = CommandSpec::script("t.sh");
        script.fail.exit = vec![1];
        assert!(script.check().is_err());
        let mut regex = CommandSpec::program(["p"]);
        regex.fail.output = vec!["(".to_owned()];
        assert!(regex.check().unwrap_err().message.contains("`(`"));
        for name in ["a/b", "..", "", "/", "a/"] {
            let mut spec = CommandSpec::program(["p"]);
            spec.file_name = name.to_owned();
            assert!(spec.check().is_err(), "{name}");
        }
        assert!(CommandSpec::program([""; 0]).check().is_err());
    }
}
