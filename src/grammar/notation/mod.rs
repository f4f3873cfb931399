//! The notations that grammar files come in. Each has a pest grammar of its own; all build one [`ast`](super::ast).

mod characters;
mod iso;
mod w3c;

use super::ast::{Annotation, Document, Expr, Rule, Span};
use super::diagnostic::Diagnostic;
use super::sources::{Source, Sources};
use pest::RuleType;
use pest::iterators::Pair;
use std::path::Path;

/// A notation of grammar files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// EBNF as in the XML specification, extended as `docs/grammar-files.md` says; also BNF.
    W3c,
    /// EBNF of ISO/IEC 14977.
    Iso,
}

impl Format {
    /// All notations with the name that each has on the command line.
    pub const ALL: &[(Format, &'static str)] = &[(Format::W3c, "ebnf"), (Format::Iso, "iso")];

    /// Whether [`Grammar::read`](super::Grammar::read) finds the same rules in a text of this notation that it found before.
    pub(super) fn is_native(self) -> bool {
        matches!(self, Format::W3c | Format::Iso)
    }

    /// The notation of files with such a name, if the name's extension tells.
    pub(super) fn by_extension(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "ebnf" => Some(Format::W3c),
            _ => None,
        }
    }

    /// The names of the files that a file of this notation refers to, to be looked for beside it.
    pub(super) fn references(self, _text: &str) -> Vec<String> {
        Vec::new()
    }

    /// The notation that a file is written in, going by its name and its text.
    pub(super) fn of(file: &Source) -> Format {
        if is_iso(&file.text) { Format::Iso } else { Format::W3c }
    }

    fn read(self, file: &Source) -> Result<Document, Vec<Diagnostic>> {
        match self {
            Format::W3c => w3c::read(&file.text),
            Format::Iso => iso::read(&file.text),
        }
    }
}

/// Reads the files of a grammar, each in the notation given, else in the one that it looks like.
///
/// # Errors
/// What is wrong with the texts.
pub(super) fn read(sources: &Sources, format: Option<Format>) -> Result<Document, Vec<Diagnostic>> {
    let mut document = Document::default();
    let mut problems = Vec::new();
    for file in sources.files() {
        match format.unwrap_or_else(|| Format::of(file)).read(file) {
            Ok(found) => document.append(found.moved(file.start)),
            Err(found) => problems.extend(found.into_iter().map(|problem| problem.moved(file.start))),
        }
    }
    if problems.is_empty() { Ok(document) } else { Err(problems) }
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
fn syntax_error<R: RuleType>(
    error: &pest::error::Error<R>,
    source: &str,
    name: impl Fn(&R) -> &'static str,
) -> Diagnostic {
    let span: Span = match error.location {
        pest::error::InputLocation::Pos(at) => at..at,
        pest::error::InputLocation::Span((start, end)) => start..end,
    };
    if let Some(problem) = unterminated(source, span.start) {
        return problem;
    }
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

/// What begins with a quote or as a comment at a place, and does not end.
fn unterminated(source: &str, at: usize) -> Option<Diagnostic> {
    let rest = source.get(at..)?;
    let pairs = [("/*", "*/"), ("(*", "*)"), ("\"", "\""), ("'", "'"), ("[", "]")];
    let (begin, end) = pairs.into_iter().find(|(begin, _)| rest.starts_with(begin))?;
    let message = format!("what begins with `{begin}` here never ends");
    let problem = || Diagnostic::error("unterminated", message, at..at + begin.len(), "begins here");
    (!rest[begin.len()..].contains(end)).then(|| problem().with_help(format!("write `{end}` where it ends")))
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
) -> Result<Document, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for pair in pairs {
        match rule(pair) {
            Ok(rule) => found.push(rule),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Document { rules: found, warnings: Vec::new() }) } else { Err(problems) }
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
    let mut rule = Rule::default();
    for part in pair.into_inner() {
        match part_of(&part) {
            Part::Annotation => rule.annotations.extend(annotations(part)),
            Part::Name(name) => (rule.name, rule.span) = (name, span(&part)),
            Part::Body => rule.body = body(part).unwrap_or_else(Expr::defect),
        }
    }
    Ok(rule)
}

fn annotations<'i, R: RuleType>(pair: Pair<'i, R>) -> impl Iterator<Item = Annotation> + use<'i, R> {
    pair.into_inner().map(|word| Annotation::new(word.as_str(), span(&word)))
}

/// An alternative: what is said of it, and its parts, read by `sequence`.
fn alternative<'i, R: RuleType>(
    pair: Pair<'i, R>,
    is_annotation: impl Fn(&Pair<'i, R>) -> bool,
    sequence: impl Fn(Pair<'i, R>) -> Result<Expr, Diagnostic>,
) -> Result<Expr, Diagnostic> {
    let mut said = Vec::new();
    let mut body = Expr::nothing();
    for part in pair.into_inner() {
        if is_annotation(&part) {
            said.extend(annotations(part));
        } else {
            body = sequence(part)?;
        }
    }
    Ok(if said.is_empty() { body } else { Expr::Annotated(said, Box::new(body)) })
}

/// Alternatives, each read by `alternative`; one alone stands for itself.
fn choice<'i, R: RuleType>(
    pair: Pair<'i, R>,
    alternative: impl FnMut(Pair<'i, R>) -> Result<Expr, Diagnostic>,
) -> Result<Expr, Diagnostic> {
    pair.into_inner().map(alternative).collect::<Result<Vec<_>, _>>().map(Expr::choice)
}

/// One part after the other, each read by `part`; one alone stands for itself.
fn sequence<'i, R: RuleType>(
    pair: Pair<'i, R>,
    part: impl FnMut(Pair<'i, R>) -> Result<Expr, Diagnostic>,
) -> Result<Expr, Diagnostic> {
    pair.into_inner().map(part).collect::<Result<Vec<_>, _>>().map(Expr::sequence)
}

/// What stands between the quotes.
fn unquoted(written: &str) -> &str {
    let quote = written.chars().next().map_or(0, char::len_utf8);
    &written[quote..written.len() - quote]
}

fn span<R: RuleType>(pair: &Pair<'_, R>) -> Span {
    // The blanks before what follows belong to a rule that may go on.
    let start = pair.as_span().start();
    start..start + pair.as_str().trim_end().len()
}
