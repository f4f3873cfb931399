//! Findings about a grammar or an input, as data. How they look is the command line's business.

use std::ops::Range;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can be done with the grammar or input.
    Error,
    /// It works, and probably not as meant.
    Warning,
}

/// One finding: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Diagnostic {
    /// Stable name of this kind of finding, such as `undefined-name`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The places in the source that it speaks of (byte ranges), the first being the main one.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

/// A place in the source and what to say of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Label {
    /// Byte range in the source.
    pub span: Range<usize>,
    /// What is there; may be empty.
    pub text: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, message: impl Into<String>, span: Range<usize>, text: impl Into<String>) -> Self {
        let labels = vec![Label { span, text: text.into() }];
        Diagnostic { code, severity: Severity::Error, message: message.into(), labels, help: None }
    }

    /// A warning at a place.
    pub fn warning(
        code: &'static str,
        message: impl Into<String>,
        span: Range<usize>,
        text: impl Into<String>,
    ) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span, text) }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with all places `by` bytes later.
    #[must_use]
    pub fn moved(mut self, by: usize) -> Self {
        self.labels.iter_mut().for_each(|label| label.span = label.span.start + by..label.span.end + by);
        self
    }

    /// The same, with a further place.
    #[must_use]
    pub fn with_label(mut self, span: Range<usize>, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }
}
