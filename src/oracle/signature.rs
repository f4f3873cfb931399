//! What makes a failure this failure: how the process ends and what it says, without what differs from run to run and from
//! input to input.

use std::fmt;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::report::Report;
use super::{OracleError, Process, Signal};

/// The kind of a message that is no report of a failure.
const MESSAGE: &str = "error message";

/// How alike two failures must be to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strictness {
    /// The same end, and the same class of error if one is named.
    Loose,
    /// Also the same message, apart from numbers, paths and words of the input, and so many of the innermost functions.
    Depth(u32),
    /// Also every word of the message, and all functions.
    Exact,
}

impl Default for Strictness {
    fn default() -> Self {
        Strictness::Depth(1)
    }
}

/// A failure, told from all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The exit status, if it exits by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The signal, if one ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// What wrote the report, and the class of error there; empty if there is no report.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The class of exception, or the kind of error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// The message as in the first run: for a person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// A regular expression that matches the message in any run; empty if the message does not matter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pattern: String,
    /// The innermost functions, as many as matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<String>,
}

impl Signature {
    /// The signature of a failure that was seen in each of these runs of one input; `None` if they have nothing in common by which
    /// a failure could be told (they end well, or each in another way).
    pub fn of(runs: &[Process], input: &[u8], strictness: Strictness) -> Option<Signature> {
        let first = runs.first()?;
        let end = |run: &Process| (run.exit, run.signal);
        if runs.iter().any(|run| run.timed_out || run.out_of_memory || end(run) != end(first)) {
            return None;
        }
        let seen: Vec<Option<Report>> = runs.iter().map(said).collect();
        let well = first.exit == Some(0);
        let mut signature = Signature {
            exit: first.exit,
            signal: first.signal.map(Signal),
            kind: String::new(),
            class: String::new(),
            message: String::new(),
            pattern: String::new(),
            frames: Vec::new(),
        };
        let Some(reports) = seen.into_iter().collect::<Option<Vec<Report>>>() else {
            return (!well).then_some(signature);
        };
        if reports.iter().any(|report| (&report.kind, &report.class) != (&reports[0].kind, &reports[0].class)) {
            return (!well).then_some(signature);
        }
        signature.kind.clone_from(&reports[0].kind);
        signature.class.clone_from(&reports[0].class);
        signature.message.clone_from(&reports[0].message);
        if strictness != Strictness::Loose {
            let messages: Vec<&str> = reports.iter().map(|report| report.message.as_str()).collect();
            let input = if strictness == Strictness::Exact { &[] } else { input };
            signature.pattern = template(&messages, &String::from_utf8_lossy(input));
            let depth = if let Strictness::Depth(depth) = strictness { depth as usize } else { usize::MAX };
            let mut frames = reports[0].frames.clone();
            frames.truncate(depth);
            let common = |report: &Report| frames.iter().zip(&report.frames).take_while(|(a, b)| a == b).count();
            let steady = reports.iter().map(common).min().unwrap_or(0);
            frames.truncate(steady);
            signature.frames = frames;
        }
        Some(signature)
    }

    /// Whether it rests on no report of a failure, but on the exit status and an ordinary message at most.
    pub(super) fn is_vague(&self) -> bool {
        self.kind.is_empty() || self.kind == MESSAGE
    }

    /// Ready to be compared.
    pub(super) fn compiled(&self) -> Result<CompiledSignature, OracleError> {
        let pattern = Regex::new(&self.pattern)
            .map_err(|error| OracleError::new(format!("the signature's message is no regular expression: {error}")))?;
        Ok(CompiledSignature { signature: self.clone(), pattern })
    }
}

/// A signature, ready to be compared.
pub(super) struct CompiledSignature {
    signature: Signature,
    pattern: Regex,
}

impl CompiledSignature {
    /// Whether the run shows this failure.
    pub(super) fn matches(&self, run: &Process) -> bool {
        let wanted = &self.signature;
        if (run.exit, run.signal) != (wanted.exit, wanted.signal.map(|signal| signal.0))
            || run.timed_out
            || run.out_of_memory
        {
            return false;
        }
        if wanted.kind.is_empty() {
            return true;
        }
        said(run).is_some_and(|report| {
            report.kind == wanted.kind
                && report.class == wanted.class
                && self.pattern.is_match(&report.message)
                && report.frames.starts_with(&wanted.frames)
        })
    }
}

/// What a run says of its failure: a report, else the line that looks most like an error message.
pub(super) fn said(run: &Process) -> Option<Report> {
    Report::find(&run.stdout, &run.stderr).or_else(|| {
        if run.exit == Some(0) {
            return None;
        }
        let text = String::from_utf8_lossy(&run.stderr);
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let telling =
            |line: &&str| ["error", "fatal", "fail", "panic"].iter().any(|word| line.to_lowercase().contains(word));
        let line = lines.clone().find(telling).or_else(|| lines.next_back())?;
        let (kind, class) = (MESSAGE.to_owned(), String::new());
        Some(Report { kind, class, message: line.trim().to_owned(), frames: Vec::new() })
    })
}

/// The other failure that a run shows, in a few words, if it shows any.
pub(super) fn other_failure(run: &Process) -> Option<String> {
    let report = Report::find(&run.stdout, &run.stderr);
    if report.is_none() && run.signal.is_none() {
        return None;
    }
    Signature::of(std::slice::from_ref(run), b"", Strictness::default()).map(|signature| signature.to_string())
}

/// A regular expression for messages that differ only in numbers, paths, words of the input, and where these ones differ.
fn template(messages: &[&str], input: &str) -> String {
    let words: rustc_hash::FxHashSet<&str> =
        input.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let split: Vec<Vec<&str>> = messages.iter().map(|message| tokens(message)).collect();
    let Some(first) = split.first() else { return String::new() };
    let even = split.iter().all(|other| other.len() == first.len());
    let quoted = quoted(first, input);
    let mut pattern = String::from("(?s)^");
    let mut open = false;
    for (place, token) in first.iter().enumerate() {
        let varies = if even {
            split.iter().any(|other| other[place] != *token)
        } else {
            // From where they part on nothing is known.
            split.iter().any(|other| other.get(..=place) != first.get(..=place))
        };
        let numeric = token.starts_with(|c: char| c.is_ascii_digit());
        let loose =
            varies || numeric || quoted[place] || token.starts_with('/') && token.len() > 1 || words.contains(token);
        if !loose {
            pattern.push_str(&regex::escape(token));
        } else if !open {
            pattern.push_str(".*?");
        }
        open = loose;
        if varies && !even {
            break;
        }
    }
    pattern.push('$');
    pattern
}

/// Which tokens of a message belong to a piece of the input that it quotes: several tokens, a word among them.
fn quoted(tokens: &[&str], input: &str) -> Vec<bool> {
    let mut quoted = vec![false; tokens.len()];
    let mut start = 0;
    while start < tokens.len() {
        let mut end = start;
        let mut piece = String::new();
        while end < tokens.len() && input.contains(&(piece.clone() + tokens[end])) {
            piece.push_str(tokens[end]);
            end += 1;
        }
        if end > start + 1 && piece.contains(is_word) {
            quoted[start..end].fill(true);
        }
        start = end.max(start + 1);
    }
    quoted
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Words, numbers (with what hangs on them), paths, and single characters.
fn tokens(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        let path = |c: char| is_word(c) || "/.@+-~".contains(c);
        let word_end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let end = match c {
            '/' => rest.find(|c| !path(c)).unwrap_or(rest.len()),
            _ if is_word(c) => word_end,
            _ => c.len_utf8(),
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

impl fmt::Display for Signature {
    /// One line: `exit status 1, Python exception IndexError: list index out of range, in c.py load_array`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exit, self.signal) {
            (Some(exit), _) => write!(f, "exit status {exit}")?,
            (None, Some(signal)) => write!(f, "signal {signal}")?,
            (None, None) => write!(f, "an unknown end")?,
        }
        if !self.kind.is_empty() {
            write!(f, ", {}", self.kind)?;
        }
        if !self.class.is_empty() && self.kind != "message" {
            write!(f, " {}", self.class)?;
        }
        if let Some(line) = self.message.lines().next() {
            const SHOWN: usize = 100;
            let more = if line.chars().count() > SHOWN { "…" } else { "" };
            write!(f, ": {}{more}", line.chars().take(SHOWN).collect::<String>())?;
        }
        if let Some(frame) = self.frames.first() {
            write!(f, ", in {frame}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn run(exit: Option<i32>, signal: Option<i32>, stderr: &str) -> Process {
        Process {
            exit,
            signal,
            timed_out: false,
            out_of_memory: false,
            cpu: std::time::Duration::ZERO,
            elapsed: Duration::ZERO,
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
            truncated: false,
        }
    }

    fn python(message: &str, line: u32, function: &str) -> Process {
        let text = format!(
            "Traceback (most recent call last):\n  File \"/a/t.py\", line 3, in main\n  \
             File \"/a/t.py\", line {line}, in {function}\n{message}\n"
        );
        run(Some(1), None, &text)
    }

    fn signature(runs: &[Process], input: &str, strictness: Strictness) -> CompiledSignature {
        Signature::of(runs, input.as_bytes(), strictness).unwrap().compiled().unwrap()
    }

    #[test]
    fn what_hangs_on_the_input_does_not_matter() {
        let original = python("KeyError: no 'speed' in table 12", 9, "load");
        let same = signature(std::slice::from_ref(&original), "speed = 1", Strictness::default());
        assert!(same.matches(&original));
        assert!(same.matches(&python("KeyError: no 'x' in table 3", 10, "load")));
        for other in [
            python("KeyError: no 'speed' in list 12", 9, "load"),
            python("IndexError: no 'speed' in table 12", 9, "load"),
            python("KeyError: no 'speed' in table 12", 9, "save"),
            run(Some(1), None, "KeyError: no 'speed' in table 12"),
            run(Some(0), None, ""),
        ] {
            assert!(!same.matches(&other), "{other:?}");
        }
    }

    #[test]
    fn a_piece_of_the_input_may_be_quoted() {
        let same =
            signature(&[python("ValueError: bad `f(1, x)` here", 9, "load")], "y = f(1, x) + 2", Strictness::default());
        assert!(same.matches(&python("ValueError: bad `g` here", 9, "load")));
        assert!(!same.matches(&python("ValueError: odd `f(1, x)` here", 9, "load")));
    }

    #[test]
    fn what_differs_from_run_to_run_does_not_matter() {
        let said = |text: &str| run(None, Some(6), &format!("tool: internal error: node {text} lost\n"));
        let same = signature(&[said("abc at 0x7f12"), said("def at 0x7f99")], "", Strictness::default());
        assert!(same.matches(&said("ghi at 0x1")));
        assert!(!same.matches(&run(None, Some(6), "tool: internal error: leaf abc at 0x1 lost\n")));
        assert!(!same.matches(&run(None, Some(11), "tool: internal error: node abc at 0x1 lost\n")));
        // Of messages that part ways only the beginning is known.
        let same = signature(&[said("a"), said("b c d")], "", Strictness::default());
        assert!(same.matches(&said("anything at all")));
    }

    #[test]
    fn loose_and_exact() {
        let original = python("KeyError: no 'speed' in table 12", 9, "load");
        let loose = signature(std::slice::from_ref(&original), "speed", Strictness::Loose);
        assert!(loose.matches(&python("KeyError: something else", 9, "save")));
        assert!(!loose.matches(&python("IndexError: something else", 9, "load")));
        let exact = signature(std::slice::from_ref(&original), "speed", Strictness::Exact);
        assert!(exact.matches(&python("KeyError: no 'speed' in table 13", 10, "load")));
        assert!(!exact.matches(&python("KeyError: no 'x' in table 12", 9, "load")));
    }

    #[test]
    fn without_a_report_the_end_and_the_message_tell() {
        let plain = signature(&[run(Some(3), None, "")], "", Strictness::default());
        assert!(plain.matches(&run(Some(3), None, "what")) && !plain.matches(&run(Some(4), None, "")));
        let worded = signature(&[run(Some(3), None, "in: error: bad depth 9\n")], "", Strictness::default());
        assert!(worded.matches(&run(Some(3), None, "in: error: bad depth 1\n")));
        assert!(!worded.matches(&run(Some(3), None, "in: error: bad name 1\n")));
    }

    #[test]
    fn no_signature_where_nothing_fails_or_each_run_differs() {
        let of = |runs: &[Process]| Signature::of(runs, b"", Strictness::default());
        assert_eq!(of(&[run(Some(0), None, "error: none\n")]), None);
        assert_eq!(of(&[run(Some(1), None, ""), run(Some(0), None, "")]), None);
        assert_eq!(of(&[Process { timed_out: true, ..run(None, Some(9), "") }]), None);
    }

    #[test]
    fn a_line_for_a_person() {
        let found = Signature::of(&[python("KeyError: 'x'", 9, "load")], b"", Strictness::default()).unwrap();
        assert_eq!(found.to_string(), "exit status 1, Python exception KeyError: 'x', in t.py load");
        let found = Signature::of(&[run(None, Some(11), "")], b"", Strictness::default()).unwrap();
        assert_eq!(found.to_string(), "signal SIGSEGV");
    }
}
