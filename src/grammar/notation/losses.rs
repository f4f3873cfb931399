//! What a reader cannot express: one warning for each kind, with its count.

use crate::grammar::ast::Span;
use crate::grammar::diagnostic::Diagnostic;

/// A kind of loss.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub code: &'static str,
    /// The rest of "1 …".
    pub one: &'static str,
    /// The rest of "2 …".
    pub many: &'static str,
    /// What follows from it, and what to do.
    pub help: &'static str,
}

/// The losses so far.
#[derive(Default)]
pub(super) struct Losses {
    found: Vec<(&'static Loss, Vec<Span>)>,
}

impl Losses {
    /// Takes note of one more.
    pub(super) fn note(&mut self, loss: &'static Loss, span: Span) {
        match self.found.iter_mut().find(|(other, _)| *other == loss) {
            Some((_, spans)) => spans.push(span),
            None => self.found.push((loss, vec![span])),
        }
    }

    /// A warning for each kind, with the first places.
    pub(super) fn warnings(self) -> Vec<Diagnostic> {
        let warning = |(loss, mut spans): (&'static Loss, Vec<Span>)| {
            spans.sort_by_key(|span| span.start);
            let count = spans.len();
            let message = if count == 1 { format!("1 {}", loss.one) } else { format!("{count} {}", loss.many) };
            let mut places = spans.into_iter().take(3);
            let first = places.next().unwrap_or_default();
            let warning = Diagnostic::warning(loss.code, message, first, "").with_help(loss.help);
            places.fold(warning, |warning, place| warning.with_label(place, ""))
        };
        self.found.into_iter().map(warning).collect()
    }
}
