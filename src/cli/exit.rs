//! Exit codes: what a script can tell from them.

use super::diagnostics::Findings;

/// Why the program ends. The number is its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The input does not fail: there is nothing to do.
    DoesNotFail = 1,
    /// The command line cannot be made sense of.
    Usage = 2,
    /// The grammar is broken, or the input is none of its inputs.
    Grammar = 3,
    /// The oracle could not be run.
    Oracle = 4,
    /// The failure comes and goes.
    Flaky = 5,
    /// Interrupted; the best so far is kept.
    Interrupted = 130,
}

/// An error that a user sees: the message, and how the program ends.
#[derive(Debug)]
pub(crate) struct Failure {
    pub exit: Exit,
    pub message: Message,
}

/// What is said of it.
#[derive(Debug)]
pub(crate) enum Message {
    Words(String),
    Findings(Findings),
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Failure { exit, message: Message::Words(message.into()) }
    }

    /// Something about files or the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::new(Exit::Usage, message)
    }

    /// The same, with a line more.
    pub(crate) fn with_more(mut self, line: &str) -> Self {
        if let Message::Words(words) = &mut self.message {
            words.push('\n');
            words.push_str(line);
        }
        self
    }

    /// The first line of what is said of it.
    pub(crate) fn first_line(&self) -> &str {
        match &self.message {
            Message::Words(words) => words.lines().next().unwrap_or_default(),
            Message::Findings(_) => "",
        }
    }

    /// What is wrong with a grammar or an input.
    pub(crate) fn findings(findings: Findings) -> Self {
        Failure { exit: Exit::Grammar, message: Message::Findings(findings) }
    }
}
