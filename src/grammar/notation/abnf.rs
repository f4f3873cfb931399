//! ABNF: RFC 5234, case-sensitive texts of RFC 7405, lists of RFC 9110 (section 5.6.1).

use super::losses::{Loss, Losses};
use super::{span, syntax_error, tidy};
use crate::grammar::ast::{Document, Expr, Rule as AstRule, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::code::Code;
use crate::grammar::diagnostic::Diagnostic;
use indexmap::IndexMap;
use pest::Parser;
use pest::iterators::Pair;
use std::borrow::Cow;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/abnf.pest"]
struct Notation;

const PROSE: Loss = Loss {
    code: "dropped-prose",
    one: "description in prose is taken as any text",
    many: "descriptions in prose are taken as any text",
    help: "add the rules that they speak of, from the documents that have them",
};

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let source = without_page_breaks(source);
    let mut pairs =
        Notation::parse(Rule::grammar, &source).map_err(|e| vec![syntax_error(&e, &source, expectation)])?;
    let rules: Vec<Pair<Rule>> =
        pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Rule::rule).collect();
    let mut reader = Reader::default();
    for pair in &rules {
        if let Some(head) = pair.clone().into_inner().next() {
            let name = name(&head);
            reader.spellings.entry(name.to_ascii_lowercase()).or_insert(name);
        }
    }
    let mut found: IndexMap<String, AstRule> = IndexMap::new();
    let mut document = Document::default();
    let mut problems = Vec::new();
    for pair in rules {
        match reader.rule(pair) {
            Ok((rule, true)) if found.contains_key(&rule.name) => {
                if let Some(first) = found.get_mut(&rule.name) {
                    first.body = either(std::mem::take(&mut first.body), rule.body);
                }
            }
            Ok((rule, _)) if found.contains_key(&rule.name) => document.rules.push(rule),
            Ok((rule, _)) => _ = found.insert(rule.name.clone(), rule),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let again = std::mem::take(&mut document.rules);
    document.rules = found.into_values().chain(again).collect();
    document.rules.extend(reader.core_rules());
    document.warnings = reader.losses.warnings();
    Ok(document)
}

/// The same text with blanks for the lines that RFCs have between two pages.
fn without_page_breaks(source: &str) -> Cow<'_, str> {
    let foot = |line: &str| line.trim_end().ends_with(']') && line.contains("[Page ");
    let head = |line: &str| {
        let year = line.trim_end().rsplit(' ').next().unwrap_or("");
        line.starts_with("RFC ") && year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !source.lines().any(foot) {
        return Cow::Borrowed(source);
    }
    let blank = |line: &str| {
        let text = line.trim_end_matches('\n');
        if foot(text) || head(text) { " ".repeat(text.len()) + &line[text.len()..] } else { line.to_owned() }
    };
    Cow::Owned(source.split_inclusive('\n').map(blank).collect())
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::text => "a quoted text",
        Rule::code => "a code such as %x41",
        Rule::more => "`=`",
        Rule::element | Rule::repeated | Rule::sequence | Rule::choice => "a name, text or group",
        Rule::option => "an option",
        Rule::times => "a count",
        Rule::EOI => "the end",
        _ => "",
    }
}

fn name(pair: &Pair<Rule>) -> String {
    pair.as_str().trim_start_matches('<').trim_end_matches('>').to_owned()
}

fn either(one: Expr, other: Expr) -> Expr {
    let alternatives = |expr| if let Expr::Choice(parts) = expr { parts } else { vec![expr] };
    Expr::Choice(alternatives(one).into_iter().chain(alternatives(other)).collect())
}

#[derive(Default)]
struct Reader {
    /// Names are alike in any case: how each is spelled where it is first defined, by its lower case.
    spellings: IndexMap<String, String>,
    /// The core rules that are needed and not defined.
    core: Vec<&'static str>,
    losses: Losses,
}

impl Reader {
    /// A rule, and whether it adds to one.
    fn rule(&mut self, pair: Pair<Rule>) -> Result<(AstRule, bool), Diagnostic> {
        let mut rule = AstRule::default();
        let mut more = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => (rule.name, rule.span) = (self.spelled(&name(&part)), span(&part)),
                Rule::more => more = true,
                _ => rule.body = self.choice(part)?,
            }
        }
        Ok((rule, more))
    }

    fn spelled(&mut self, name: &str) -> String {
        let lower = name.to_ascii_lowercase();
        if let Some(spelling) = self.spellings.get(&lower) {
            return spelling.clone();
        }
        match CORE.iter().find(|(core, _)| core.eq_ignore_ascii_case(name)) {
            Some((core, _)) => {
                self.core.push(core);
                self.spellings.insert(lower, (*core).to_owned());
                (*core).to_owned()
            }
            None => name.to_owned(),
        }
    }

    fn choice(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        super::choice(pair, |part| super::sequence(part, |part| self.repeated(part)))
    }

    fn repeated(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        let mut times = None;
        let mut item = Expr::nothing();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::times => times = Some((part.as_str().to_owned(), span(&part))),
                _ => item = self.element(part)?,
            }
        }
        let Some((written, place)) = times else { return Ok(item) };
        let Some(sign) = written.find(['*', '#']) else {
            let count = super::count(&written, place)?;
            return Ok(Expr::repeat(item, count, Some(count)));
        };
        let bound = |digits: &str| (!digits.is_empty()).then(|| super::count(digits, place.clone())).transpose();
        let min = bound(&written[..sign])?.unwrap_or(0);
        let max = bound(&written[sign + 1..])?;
        if max.is_some_and(|max| max < min) {
            return Err(Diagnostic::error("reversed-range", "the greatest count is below the least", place, ""));
        }
        match written[sign..].starts_with('#') {
            true => self.list(item, min, max, &place),
            false => Ok(Expr::repeat(item, min, max)),
        }
    }

    /// `1#item`: items with commas between, around which blanks may stand.
    fn list(&mut self, item: Expr, min: u32, max: Option<u32>, place: &Span) -> Result<Expr, Diagnostic> {
        if tidy::is_large(&item) {
            return Err(super::too_deep(place.clone()));
        }
        let blank = Expr::Name(self.spelled("OWS"), place.clone());
        let rest = Expr::Sequence(vec![blank.clone(), Expr::Text(",".to_owned()), blank, item.clone()]);
        let rest = Expr::repeat(rest, min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
        let list = Expr::Sequence(vec![item, rest]);
        Ok(if min == 0 { Expr::repeat(list, 0, Some(1)) } else { list })
    }

    fn element(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        let Some(inner) = pair.into_inner().next() else { return Ok(Expr::nothing()) };
        let place = span(&inner);
        Ok(match inner.as_rule() {
            Rule::choice => self.choice(inner)?,
            Rule::option => {
                let inner = inner.into_inner().next().map_or(Ok(Expr::nothing()), |inner| self.choice(inner))?;
                Expr::repeat(inner, 0, Some(1))
            }
            Rule::text => text(inner.as_str()),
            Rule::code => code(inner.as_str(), &place)?,
            Rule::name => Expr::Name(self.spelled(&name(&inner)), place),
            _ => {
                self.losses.note(&PROSE, place);
                Expr::repeat(Expr::any(), 0, None)
            }
        })
    }

    /// The core rules (RFC 5234, appendix B.1) that the grammar uses, with those that they use.
    fn core_rules(&self) -> Vec<AstRule> {
        let rule = |(name, body): &CoreRule| AstRule { name: (*name).to_owned(), body: body(), ..AstRule::default() };
        CORE.iter().filter(|(name, _)| self.core.contains(name)).map(rule).collect()
    }
}

/// Texts are alike in any case, unless marked.
fn text(written: &str) -> Expr {
    let sensitive = written.starts_with("%s") || written.starts_with("%S");
    let inner = written.trim_start_matches(|c| c != '"').trim_matches('"').to_owned();
    let cased = inner.chars().any(char::is_alphabetic);
    if sensitive || !cased { Expr::Text(inner) } else { Expr::Caseless(inner) }
}

fn code(written: &str, place: &Span) -> Result<Expr, Diagnostic> {
    let radix = match written.as_bytes().get(1).map(u8::to_ascii_lowercase) {
        Some(b'x') => 16,
        Some(b'd') => 10,
        _ => 2,
    };
    let number = |digits: &str| {
        let code = Code::from_str_radix(digits, radix).ok().filter(|code| *code <= Code::from(char::MAX));
        code.ok_or_else(|| no_character(place))
    };
    let digits = &written[2..];
    if let Some((low, high)) = digits.split_once('-') {
        // Ranges of what is no text, as of 32-bit numbers, end with the last character.
        let last = |_: Diagnostic| Code::from(char::MAX);
        let (low, high) = (number(low)?, number(high).unwrap_or_else(last));
        if high < low {
            return Err(Diagnostic::error("reversed-range", "the range runs backwards", place.clone(), "")
                .with_help("write the lower character first"));
        }
        let set = CharSet::from_ranges([(low, high)]).intersection(&CharSet::default().complement());
        return if set.is_empty() { Err(no_character(place)) } else { Ok(Expr::Set(set)) };
    }
    let character = |digits| number(digits).and_then(|code| char::from_u32(code).ok_or_else(|| no_character(place)));
    digits.split('.').map(character).collect::<Result<String, _>>().map(Expr::Text)
}

fn no_character(place: &Span) -> Diagnostic {
    Diagnostic::error("no-such-character", "there is no such character", place.clone(), "")
        .with_help("code points run from %x0 to %x10FFFF, without %xD800 to %xDFFF")
}

/// A rule that needs no definition.
type CoreRule = (&'static str, fn() -> Expr);

const CORE: &[CoreRule] = &[
    ("ALPHA", || ranges(&[(65, 90), (97, 122)])),
    ("BIT", || ranges(&[(48, 49)])),
    ("CHAR", || ranges(&[(1, 127)])),
    ("CR", || Expr::Text("\r".to_owned())),
    ("CRLF", || Expr::Text("\r\n".to_owned())),
    ("CTL", || ranges(&[(0, 31), (127, 127)])),
    ("DIGIT", || ranges(&[(48, 57)])),
    ("DQUOTE", || Expr::Text("\"".to_owned())),
    ("HEXDIG", || ranges(&[(48, 57), (65, 70), (97, 102)])),
    ("HTAB", || Expr::Text("\t".to_owned())),
    ("LF", || Expr::Text("\n".to_owned())),
    ("LWSP", || {
        let blank = ranges(&[(9, 9), (32, 32)]);
        let line = Expr::Text("\r\n".to_owned());
        Expr::repeat(Expr::Choice(vec![blank.clone(), Expr::Sequence(vec![line, blank])]), 0, None)
    }),
    ("OCTET", || ranges(&[(0, 255)])),
    ("OWS", || Expr::repeat(ranges(&[(9, 9), (32, 32)]), 0, None)),
    ("SP", || Expr::Text(" ".to_owned())),
    ("VCHAR", || ranges(&[(33, 126)])),
    ("WSP", || ranges(&[(9, 9), (32, 32)])),
];

fn ranges(ranges: &[(Code, Code)]) -> Expr {
    Expr::Set(CharSet::from_ranges(ranges.iter().copied()))
}
