//! The notations that grammar files come in. Each has a pest grammar of its own; all build one [`ast`](super::ast).

mod characters;
mod iso;
mod w3c;

use super::ast::{Expr, Rule, Span};
use super::diagnostic::Diagnostic;
use pest::RuleType;
use pest::iterators::Pair;

/// Reads a grammar file in whichever notation its first rule is written in.
///
/// # Errors
/// What is wrong with the text, as diagnostics over its bytes.
pub fn read(source: &str) -> Result<Vec<Rule>, Vec<Diagnostic>> {
    if is_iso(source) { iso::read(source) } else { w3c::read(source) }
}

/// The first rule head decides: `name =` is ISO 14977, `name ::=` is W3C. Comments are passed over, since they may hold either.
fn is_iso(source: &str) -> bool {
    let mut rest = source;
    while let Some(at) = rest.find(['(', '/', '=', ':']) {
        rest = &rest[at..];
        let comment_end = match rest {
            _ if rest.starts_with("(*") => "*)",
            _ if rest.starts_with("/*") => "*/",
            _ if rest.starts_with('=') => return true,
            _ if rest.starts_with("::=") => return false,
            _ => "",
        };
        match rest[1..].find(comment_end) {
            Some(end) => rest = &rest[1 + end + comment_end.len()..],
            None => return false,
        }
    }
    false
}

/// A pest error as a diagnostic: the place, and what could have stood there.
fn syntax_error<R: RuleType>(error: &pest::error::Error<R>, name: impl Fn(&R) -> &'static str) -> Diagnostic {
    let span: Span = match error.location {
        pest::error::InputLocation::Pos(at) => at..at,
        pest::error::InputLocation::Span((start, end)) => start..end,
    };
    let mut expected: Vec<&str> = match &error.variant {
        pest::error::ErrorVariant::ParsingError { positives, .. } => positives.iter().map(name).collect(),
        pest::error::ErrorVariant::CustomError { .. } => Vec::new(),
    };
    expected.retain(|word| !word.is_empty());
    expected.sort_unstable();
    expected.dedup();
    let label = if expected.is_empty() { String::new() } else { format!("expected {}", expected.join(", ")) };
    Diagnostic::error("grammar-syntax", "this is no grammar rule", span, label)
        .with_help("a rule is `name ::= …` (W3C) or `name = … ;` (ISO 14977); docs/grammar-files.md has both notations")
}

/// A count of repetitions. The bound keeps a typing error from making millions of rules.
fn count(written: &str, span: Span) -> Result<u32, Diagnostic> {
    written.parse().ok().filter(|count| *count <= 1000).ok_or_else(|| {
        Diagnostic::error("count-too-large", "this count is too large", span, "")
            .with_help("counts up to 1000 are supported; `*` and `+` have no bound")
    })
}

/// All rules, or all that is wrong with them.
fn rules<'i, R: RuleType>(
    pairs: impl Iterator<Item = Pair<'i, R>>,
    rule: impl Fn(Pair<'i, R>) -> Result<Rule, Diagnostic>,
) -> Result<Vec<Rule>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for pair in pairs {
        match rule(pair) {
            Ok(rule) => found.push(rule),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// What the parts of a rule are to be read as.
enum Part {
    Annotation,
    Name(String),
    Body,
}

/// A rule: annotations, a name, and what it stands for.
fn rule<'i, R: RuleType>(
    pair: Pair<'i, R>,
    part_of: impl Fn(&Pair<'i, R>) -> Part,
    body: impl Fn(Pair<'i, R>) -> Result<Expr, Diagnostic>,
) -> Result<Rule, Diagnostic> {
    let mut rule = Rule { name: String::new(), span: 0..0, annotations: Vec::new(), body: Expr::Sequence(Vec::new()) };
    for part in pair.into_inner() {
        match part_of(&part) {
            Part::Annotation => {
                rule.annotations.extend(part.into_inner().map(|word| (word.as_str().to_owned(), span(&word))));
            }
            Part::Name(name) => (rule.name, rule.span) = (name, span(&part)),
            Part::Body => rule.body = body(part)?,
        }
    }
    Ok(rule)
}

/// Alternatives, each read by `alternative`; one alone stands for itself.
fn choice<'i, R: RuleType>(
    pair: Pair<'i, R>,
    alternative: impl FnMut(Pair<'i, R>) -> Result<Expr, Diagnostic>,
) -> Result<Expr, Diagnostic> {
    let mut parts = pair.into_inner().map(alternative).collect::<Result<Vec<_>, _>>()?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Choice(parts) })
}

/// One part after the other, each read by `part`; one alone stands for itself.
fn sequence<'i, R: RuleType>(
    pair: Pair<'i, R>,
    part: impl FnMut(Pair<'i, R>) -> Result<Expr, Diagnostic>,
) -> Result<Expr, Diagnostic> {
    let mut parts = pair.into_inner().map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Sequence(parts) })
}

fn span<R: RuleType>(pair: &Pair<'_, R>) -> Span {
    pair.as_span().start()..pair.as_span().end()
}
