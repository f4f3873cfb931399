//! What an import drops or approximates: one warning a kind, with a count and the first places.

use crate::grammar::ast::Span;
use crate::grammar::diagnostic::Diagnostic;

/// Places named in one warning.
const SHOWN: usize = 3;

/// A kind of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Action,
    Predicate,
    SuperClass,
    Mode,
    Recursion,
    EmptyToken,
    Undeclared,
    Unmatched,
    CatchAll,
    Unused,
    Greedy,
}

/// What a warning of a kind says.
struct Words {
    code: &'static str,
    one: &'static str,
    many: &'static str,
    help: &'static str,
}

fn warning(code: &'static str, one: &'static str, many: &'static str, help: &'static str) -> Words {
    Words { code, one, many, help }
}

impl Loss {
    /// The code, what is said of one and of several, and what to do.
    fn words(self) -> Words {
        match self {
            Loss::Action => warning(
                "dropped-action",
                "piece of host code was dropped",
                "pieces of host code were dropped",
                "actions do not change what a grammar accepts, unless they change the lexer's state",
            ),
            Loss::Predicate => warning(
                "dropped-predicate",
                "predicate was dropped",
                "predicates were dropped",
                "what a predicate forbids is accepted: where that matters, write the condition as a rule",
            ),
            Loss::SuperClass => warning(
                "dropped-superclass",
                "base class in host code was dropped",
                "base classes in host code were dropped",
                "tokens that its code makes or changes are taken as their rules say",
            ),
            Loss::Mode => warning(
                "approximated-mode",
                "lexer mode was joined with the default one",
                "lexer modes were joined with the default one",
                "at each place every token that the parser rules accept there is tried, whatever the mode",
            ),
            Loss::Recursion => warning(
                "unfolded-recursion",
                "recursive lexer rule was unfolded",
                "recursive lexer rules were unfolded",
                "tokens must be regular, so deeper nesting is not accepted; a parser rule nests without a bound",
            ),
            Loss::EmptyToken => warning(
                "nullable-token",
                "lexer rule matches nothing at all, which was taken away",
                "lexer rules match nothing at all, which was taken away",
                "use `+` instead of `*` in the rule",
            ),
            Loss::Undeclared => warning(
                "token-without-rule",
                "token has no lexer rule and is taken as empty",
                "tokens have no lexer rule and are taken as empty",
                "host code is meant to make it; write a lexer rule for it, or expect inputs to be accepted that are not valid",
            ),
            Loss::Unmatched => warning(
                "unmatched-token",
                "lexer rule never matches, since an earlier one matches the same text",
                "lexer rules never match, since earlier ones match the same text",
                "move the rule of the single word up, before the rule that matches all words",
            ),
            Loss::CatchAll => warning(
                "approximated-catch-all",
                "lexer rule that skips any other character skips only those that begin no token",
                "lexer rules that skip any other character skip only those that begin no token",
                "name the characters that may be skipped, as in `[ \\t]`, if this is not enough",
            ),
            Loss::Unused => warning(
                "unused-token",
                "lexer rule is used by no parser rule",
                "lexer rules are used by no parser rule",
                "what it matches cannot be in an input; nothing to do, unless a parser rule should use it",
            ),
            Loss::Greedy => warning(
                "approximated-repetition",
                "non-greedy repetition was taken as a greedy one",
                "non-greedy repetitions were taken as greedy ones",
                "the rule is too large to be worked out; write it without `*?` and `+?`",
            ),
        }
    }
}

/// The losses of an import.
#[derive(Debug, Default)]
pub(super) struct Losses {
    found: Vec<(Loss, Vec<Span>)>,
}

impl Losses {
    pub(super) fn note(&mut self, loss: Loss, span: Span) {
        match self.found.iter_mut().find(|(other, _)| *other == loss) {
            Some((_, places)) => places.push(span),
            None => self.found.push((loss, vec![span])),
        }
    }

    pub(super) fn append(&mut self, other: Losses) {
        for (loss, places) in other.found {
            places.into_iter().for_each(|place| self.note(loss, place));
        }
    }

    pub(super) fn warnings(self) -> Vec<Diagnostic> {
        let counted = |(loss, places): (Loss, Vec<Span>)| {
            let Words { code, one, many, help } = loss.words();
            let message = format!("{} {}", places.len(), if places.len() == 1 { one } else { many });
            let mut shown = places.into_iter().take(SHOWN);
            let first = Diagnostic::warning(code, message, shown.next().unwrap_or(0..0), "");
            shown.fold(first, |found, place| found.with_label(place, "")).with_help(help)
        };
        self.found.into_iter().map(counted).collect()
    }
}
