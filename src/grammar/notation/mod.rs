//! The notations that grammar files come in. All build one [`ast`](super::ast).

mod abnf;
mod antlr;
mod bnf;
mod characters;
mod detect;
mod escaped;
mod fuzzingbook;
mod gbnf;
mod iso;
mod lark;
mod losses;
mod peg;
mod pest_files;
mod predicates;
mod regex;
mod surface;
#[cfg(test)]
mod tests;
mod tidy;
mod tree_sitter;
mod w3c;

use super::ast::{Annotation, Document, Expr, Rule, Span};
use super::diagnostic::Diagnostic;
use super::sources::{Source, Sources};
use pest::RuleType;
use pest::iterators::Pair;
use rustc_hash::FxHashSet;
use std::path::Path;
use surface::Surface;

/// A notation of grammar files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// EBNF as in the XML specification, extended as `docs/grammar-files.md` says.
    W3c,
    /// EBNF of ISO/IEC 14977.
    Iso,
    /// Grammars of ANTLR 4.
    Antlr,
    /// BNF: names in angle brackets, all else stands for itself.
    Bnf,
    /// ABNF of RFC 5234 and RFC 7405.
    Abnf,
    /// The notation of llama.cpp.
    Gbnf,
    /// The notation of the Lark parser.
    Lark,
    /// Parsing expression grammars as in Ford's paper of 2004.
    Peg,
    /// The notation of the pest parser.
    Pest,
    /// `grammar.json` of tree-sitter.
    TreeSitter,
    /// JSON as in The Fuzzing Book and DDSet.
    Fuzzingbook,
}

impl Format {
    /// All notations with the name that each has on the command line.
    pub const ALL: &[(Format, &'static str)] = &[
        (Format::W3c, "ebnf"),
        (Format::Iso, "iso"),
        (Format::Antlr, "antlr"),
        (Format::Bnf, "bnf"),
        (Format::Abnf, "abnf"),
        (Format::Gbnf, "gbnf"),
        (Format::Lark, "lark"),
        (Format::Peg, "peg"),
        (Format::Pest, "pest"),
        (Format::TreeSitter, "tree-sitter"),
        (Format::Fuzzingbook, "fuzzingbook"),
    ];

    /// Whether [`Grammar::read`](super::Grammar::read) finds the same rules in the text that it found as this notation.
    pub(super) fn is_native(self, text: &str) -> bool {
        matches!(self, Format::W3c | Format::Iso) && detect::format(text).is_ok_and(|found| found == self)
    }

    /// The notation of files with such a name, if it tells. That of `.ebnf`, `.bnf` and `.json` is told by the text in the end.
    pub(super) fn by_extension(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "ebnf" => Some(Format::W3c),
            "g4" => Some(Format::Antlr),
            "iso" => Some(Format::Iso),
            "bnf" => Some(Format::Bnf),
            "abnf" => Some(Format::Abnf),
            "gbnf" => Some(Format::Gbnf),
            "lark" => Some(Format::Lark),
            "peg" => Some(Format::Peg),
            "pest" => Some(Format::Pest),
            "fbjson" => Some(Format::Fuzzingbook),
            "json" if path.file_name()? == "grammar.json" => Some(Format::Fuzzingbook),
            _ => None,
        }
    }

    /// The names of the files that a file of this notation refers to, to be looked for beside it.
    pub(super) fn references(self, text: &str) -> Vec<String> {
        match self {
            Format::Antlr => antlr::references(text),
            Format::Lark => lark::references(text),
            _ => Vec::new(),
        }
    }

    /// Whether a text that is in our notation could be taken for another one.
    pub(super) fn is_mistaken(text: &str) -> bool {
        detect::format(text).is_ok_and(|found| found != Format::W3c)
    }

    /// The notation that a file is written in, going by its name and its text.
    pub(super) fn of(file: &Source) -> Format {
        Self::detect(file).unwrap_or(Format::W3c)
    }

    fn detect(file: &Source) -> Result<Format, Diagnostic> {
        match Self::by_extension(Path::new(&file.name)) {
            None | Some(Format::W3c | Format::Iso | Format::Bnf | Format::Fuzzingbook) => detect::format(&file.text),
            Some(format) => Ok(format),
        }
    }

    /// Reads files of this notation. Places count from the first byte of all files.
    fn read(self, files: &[&Source]) -> Result<Document, Vec<Diagnostic>> {
        if self == Format::Antlr {
            return antlr::read(files);
        }
        together(files.iter().enumerate().map(|(number, file)| {
            let found = self.read_alone(&file.text).map(|found| match self {
                Format::Lark if number > 0 => {
                    let texts = files.iter().map(|file| file.text.as_str());
                    let names = lark::imported_names(texts, Path::new(&file.name));
                    if names.is_empty() { found } else { lark::imported(found, Path::new(&file.name), &names) }
                }
                _ => found,
            });
            match found {
                Ok(found) => Ok(found.moved(file.start)),
                Err(found) => Err(found.into_iter().map(|problem| problem.moved(file.start)).collect()),
            }
        }))
    }

    /// Reads one text. Places count from its first byte.
    fn read_alone(self, text: &str) -> Result<Document, Vec<Diagnostic>> {
        if let Some(surface) = Surface::of(self) {
            let masked = surface.mask(text).map_err(|problem| vec![problem])?;
            detect::unmixed(self, &masked).map_err(|problem| vec![problem])?;
        }
        match self {
            Format::W3c => w3c::read(text),
            Format::Iso => iso::read(text),
            Format::Antlr => Ok(Document::default()),
            Format::Bnf => bnf::read(text),
            Format::Abnf => abnf::read(text),
            Format::Gbnf => gbnf::read(text),
            Format::Lark => lark::read(text),
            Format::Peg => peg::read(text),
            Format::Pest => pest_files::read(text),
            Format::TreeSitter => tree_sitter::read(text),
            Format::Fuzzingbook => fuzzingbook::read(text),
        }
    }
}

/// Reads the files of a grammar, each in the notation given, else in the one that it looks like.
///
/// # Errors
/// What is wrong with the texts.
pub(super) fn read(sources: &Sources, format: Option<Format>) -> Result<Document, Vec<Diagnostic>> {
    let mut groups: Vec<(Format, Vec<&Source>)> = Vec::new();
    let mut unknown = Vec::new();
    for file in sources.files() {
        match format.map_or_else(|| Format::detect(file), Ok) {
            Ok(format) => match groups.iter_mut().find(|(other, _)| *other == format) {
                Some((_, files)) => files.push(file),
                None => groups.push((format, vec![file])),
            },
            Err(problem) => unknown.push(problem.moved(file.start)),
        }
    }
    let unknown = if unknown.is_empty() { Ok(Document::default()) } else { Err(unknown) };
    together(groups.into_iter().map(|(format, files)| format.read(&files)).chain([unknown]))
}

/// All documents as one, or all that is wrong.
fn together(found: impl Iterator<Item = Result<Document, Vec<Diagnostic>>>) -> Result<Document, Vec<Diagnostic>> {
    let mut document = Document::default();
    let mut problems = Vec::new();
    for found in found {
        match found {
            Ok(found) => document.append(found),
            Err(found) => problems.extend(found),
        }
    }
    drop_repeated(&mut document.rules);
    if problems.is_empty() { Ok(document) } else { Err(problems) }
}

/// Brackets may not be nested deeper than this, since readers recurse over them.
const MAX_DEPTH: usize = 200;

/// Refuses a text whose brackets are nested too deeply. What stands between `quotes`, opening and closing ones, on the same
/// line does not count.
fn check_depth(text: &str, quotes: &[(u8, u8)]) -> Result<(), Diagnostic> {
    let bytes = text.as_bytes();
    let mut depth: usize = 0;
    let mut at = 0;
    while at < bytes.len() {
        let quote = quotes.iter().find(|(open, _)| *open == bytes[at]);
        match (bytes[at], quote) {
            (_, Some((_, close))) => at = quoted_end(bytes, at, *close).unwrap_or(at),
            (b'\\', _) => at += 1,
            (b'(' | b'[' | b'{', _) => depth += 1,
            (b')' | b']' | b'}', _) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} brackets are open here");
            return Err(Diagnostic::error("nested-too-deeply", message, at..at + 1, "")
                .with_help("give inner parts rules of their own"));
        }
        at += 1;
    }
    Ok(())
}

/// Where a quoted text that begins at `from` ends, if on the same line.
fn quoted_end(bytes: &[u8], from: usize, close: u8) -> Option<usize> {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == close => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Rules that a reader adds by itself, which stand nowhere, are needed once, and not at all where the grammar has its own.
fn drop_repeated(rules: &mut Vec<Rule>) {
    let written = |rule: &Rule| !rule.span.is_empty();
    let mut known: FxHashSet<String> =
        rules.iter().filter(|rule| written(rule)).map(|rule| rule.name.clone()).collect();
    rules.retain(|rule| written(rule) || known.insert(rule.name.clone()));
}

/// A JSON text that cannot be read: where, and why.
fn json_error(source: &str, error: &serde_json::Error) -> Diagnostic {
    let line: usize = source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let mut at = (line + error.column().saturating_sub(1)).min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    Diagnostic::error("malformed-json-grammar", format!("this JSON cannot be read: {error}"), at..at, "")
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error("nested-too-deeply", "this is nested too deeply", span, "")
        .with_help("give the inner part a rule of its own")
}

/// A name that our notation can write, in angle brackets if need be.
fn writable(name: &str) -> String {
    let written: String =
        name.chars().map(|c| if c.is_control() || "<>\u{FEFF}".contains(c) { '_' } else { c }).collect();
    let written = written.trim();
    if written.is_empty() { "_".to_owned() } else { written.to_owned() }
}

/// `?`, `*`, `+`, `{2}`, `{2,}`, `{,3}` or `{2,3}` as least and greatest count.
fn counts(written: &str, place: &Span) -> Result<(u32, Option<u32>), Diagnostic> {
    let inner = match written {
        "?" => return Ok((0, Some(1))),
        "*" => return Ok((0, None)),
        "+" => return Ok((1, None)),
        _ => written.trim_start_matches('{').trim_end_matches('}'),
    };
    let bound = |digits: &str| {
        let digits = digits.trim();
        (!digits.is_empty()).then(|| count(digits, place.clone())).transpose()
    };
    let (min, max) = match inner.split_once(',') {
        Some((min, max)) => (bound(min)?.unwrap_or(0), bound(max)?),
        None => {
            let exact = bound(inner)?.unwrap_or(0);
            (exact, Some(exact))
        }
    };
    if max.is_some_and(|max| max < min) {
        let message = "the greatest count is below the least";
        return Err(Diagnostic::error("reversed-range", message, place.clone(), ""));
    }
    Ok((min, max))
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
    Diagnostic::error("grammar-syntax", "this is no grammar rule", span, label).with_help(
        "docs/grammar-files.md shows how each notation writes its rules; --grammar-format says which one is meant",
    )
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
