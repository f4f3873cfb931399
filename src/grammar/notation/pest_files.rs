//! The notation of the pest parser.
//!
//! Blanks and comments, which pest takes in by itself between the parts of rules that are not atomic, are written out.

use super::losses::{Loss, Losses};
use super::predicates::{Peg, PegRule};
use super::{escaped, predicates, regex, span, syntax_error};
use crate::grammar::ast::{Annotation, Document, Expr, Rule as AstRule, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::diagnostic::Diagnostic;
use indexmap::IndexMap;
use pest::Parser;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/pest_files.pest"]
struct Notation;

const STACK: Loss = Loss {
    code: "approximated-stack",
    one: "use of the stack is taken as any text that could be there",
    many: "uses of the stack are taken as any text that could be there",
    help: "that both texts are the same is not checked",
};

/// The rule of what pest takes in by itself.
const IMPLICIT: &str = "implicit blanks";

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let mut pairs = Notation::parse(Rule::grammar, source).map_err(|e| vec![syntax_error(&e, source, expectation)])?;
    let pairs = pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Rule::rule);
    let rules: Vec<Written> = pairs.map(written).collect();
    let mut names: IndexMap<String, usize> = IndexMap::new();
    for (index, rule) in rules.iter().enumerate() {
        names.entry(rule.name.clone()).or_insert(index);
    }
    let implicit: Vec<&str> = ["WHITESPACE", "COMMENT"].into_iter().filter(|name| names.contains_key(*name)).collect();
    let mut pushed = Vec::new();
    rules.iter().for_each(|rule| collect_pushed(rule.body.clone(), &mut pushed));
    let mut reader = Reader {
        names: &names,
        rules: &rules,
        implicit: !implicit.is_empty(),
        pushed: &pushed,
        in_pushed: false,
        needed: Vec::new(),
        losses: Losses::default(),
    };
    let mut found = Vec::new();
    for rule in &rules {
        // That of the name is how the rule is when it is not called by an atomic one.
        let atomic = rule.is_atomic(false);
        found.push(reader.rule(rule, rule.name.clone(), atomic).map_err(|problem| vec![problem])?);
    }
    let mut next = 0;
    while let Some(index) = reader.needed.get(next).copied() {
        let rule = &rules[index];
        found.push(reader.rule(rule, atomic_name(&rule.name), true).map_err(|problem| vec![problem])?);
        next += 1;
    }
    let losses = reader.losses;
    let start = starts(&rules);
    if let Some(rule) = found.iter_mut().find(|found| Some(&found.rule.name) == start) {
        rule.rule.annotations.push(Annotation::new("start", rule.rule.span.clone()));
    }
    if !implicit.is_empty() {
        let rule = AstRule { name: IMPLICIT.to_owned(), ..AstRule::default() };
        let parts = implicit.iter().map(|name| Peg::Expr(Expr::Name((*name).to_owned(), 0..0))).collect();
        found.push(PegRule { rule, body: Peg::Repeat(Box::new(Peg::Choice(parts)), 0, None) });
    }
    Ok(predicates::document(found, "pest", losses))
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::text | Rule::caseless => "a quoted text",
        Rule::suffix => "`?`, `*`, `+` or `{n}`",
        Rule::primary | Rule::repeated | Rule::prefixed | Rule::sequence | Rule::choice => "a name, text or group",
        Rule::character | Rule::range => "a character",
        Rule::EOI => "the end",
        _ => "",
    }
}

/// How a rule called by an atomic one is named, where it is another one then.
fn atomic_name(name: &str) -> String {
    format!("{name} (atomic)")
}

struct Written<'i> {
    name: String,
    span: Span,
    kind: Option<&'i str>,
    body: Option<Pair<'i, Rule>>,
}

impl Written<'_> {
    fn is_atomic(&self, called_by_atomic: bool) -> bool {
        match self.kind {
            Some("@" | "$") => true,
            Some("!") => false,
            _ => called_by_atomic || self.name == "WHITESPACE" || self.name == "COMMENT",
        }
    }
}

fn written(pair: Pair<'_, Rule>) -> Written<'_> {
    let mut found = Written { name: String::new(), span: span(&pair), kind: None, body: None };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => (found.name, found.span) = (part.as_str().to_owned(), span(&part)),
            Rule::kind => found.kind = Some(part.as_str()),
            _ => found.body = Some(part),
        }
    }
    found
}

/// The rule that whole inputs are of: the first that speaks of the beginning of the input, else the first that is not implicit.
fn starts<'a>(rules: &'a [Written]) -> Option<&'a String> {
    let speaks = |rule: &&Written| {
        rule.body
            .as_ref()
            .is_some_and(|body| body.as_str().split(|c: char| !c.is_alphanumeric()).any(|word| word == "SOI"))
    };
    let usual = |rule: &&Written| rule.name != "WHITESPACE" && rule.name != "COMMENT";
    rules.iter().find(speaks).or_else(|| rules.iter().find(usual)).map(|rule| &rule.name)
}

/// What is put on the stack anywhere.
fn collect_pushed<'i>(body: Option<Pair<'i, Rule>>, pushed: &mut Vec<Pair<'i, Rule>>) {
    let mut open: Vec<Pair<Rule>> = body.into_iter().collect();
    while let Some(pair) = open.pop() {
        if pair.as_rule() == Rule::push || pair.as_rule() == Rule::slice {
            pushed.extend(pair.clone().into_inner());
        }
        open.extend(pair.into_inner());
    }
}

struct Reader<'a, 'i> {
    names: &'a IndexMap<String, usize>,
    rules: &'a [Written<'i>],
    /// Whether anything is taken in between parts.
    implicit: bool,
    pushed: &'a [Pair<'i, Rule>],
    in_pushed: bool,
    /// The rules that are needed as atomic ones call them.
    needed: Vec<usize>,
    losses: Losses,
}

impl Reader<'_, '_> {
    fn rule(&mut self, rule: &Written, name: String, atomic: bool) -> Result<PegRule, Diagnostic> {
        let body = rule.body.clone().map_or(Ok(Peg::Sequence(Vec::new())), |body| self.choice(body, atomic))?;
        Ok(PegRule { rule: AstRule { name, span: rule.span.clone(), ..AstRule::default() }, body })
    }

    fn choice(&mut self, pair: Pair<Rule>, atomic: bool) -> Result<Peg, Diagnostic> {
        let alternatives = pair.into_inner().map(|part| self.sequence(part, atomic));
        let mut alternatives = alternatives.collect::<Result<Vec<_>, _>>()?;
        Ok(if alternatives.len() == 1 { alternatives.remove(0) } else { Peg::Choice(alternatives) })
    }

    fn sequence(&mut self, pair: Pair<Rule>, atomic: bool) -> Result<Peg, Diagnostic> {
        let mut parts = Vec::new();
        for prefixed in pair.into_inner() {
            let place = span(&prefixed);
            let mut signs = Vec::new();
            let mut peg = Peg::Sequence(Vec::new());
            for part in prefixed.into_inner() {
                match part.as_rule() {
                    Rule::ahead => signs.push(part.as_str() == "&"),
                    Rule::repeated => peg = self.repeated(part, atomic)?,
                    _ => {}
                }
            }
            let is_ahead = !signs.is_empty();
            if is_ahead {
                let wanted = signs.iter().filter(|sign| !**sign).count() % 2 == 0;
                peg = Peg::Ahead { wanted, what: Box::new(peg), place };
            }
            // What is looked for takes in nothing: blanks stand before what follows it.
            let after_ahead = matches!(parts.last(), Some(Peg::Ahead { .. }));
            if !atomic && self.implicit && !parts.is_empty() && !after_ahead {
                parts.push(Peg::Expr(Expr::Name(IMPLICIT.to_owned(), 0..0)));
            }
            parts.push(peg);
        }
        Ok(Peg::Sequence(parts))
    }

    fn repeated(&mut self, pair: Pair<Rule>, atomic: bool) -> Result<Peg, Diagnostic> {
        let mut parts = pair.into_inner();
        let mut peg = parts.next().map_or(Ok(Peg::Sequence(Vec::new())), |part| self.primary(part, atomic))?;
        for suffix in parts {
            let (min, max) = super::counts(suffix.as_str(), &span(&suffix))?;
            if predicates::is_large(&peg) {
                return Err(super::too_deep(span(&suffix)));
            }
            peg = self.times(peg, min, max, atomic);
        }
        Ok(peg)
    }

    /// `x*` with blanks between: `(x (blanks x)*)?`.
    fn times(&self, peg: Peg, min: u32, max: Option<u32>, atomic: bool) -> Peg {
        if atomic || !self.implicit || max.is_some_and(|max| max < 2) {
            return Peg::Repeat(Box::new(peg), min, max);
        }
        let more = Peg::Sequence(vec![Peg::Expr(Expr::Name(IMPLICIT.to_owned(), 0..0)), peg.clone()]);
        let rest = Peg::Repeat(Box::new(more), min.saturating_sub(1), max.map(|max| max - 1));
        let all = Peg::Sequence(vec![peg, rest]);
        if min == 0 { Peg::Repeat(Box::new(all), 0, Some(1)) } else { all }
    }

    fn primary(&mut self, pair: Pair<Rule>, atomic: bool) -> Result<Peg, Diagnostic> {
        let Some(inner) = pair.into_inner().next() else { return Ok(Peg::Sequence(Vec::new())) };
        let place = span(&inner);
        Ok(Peg::Expr(match inner.as_rule() {
            Rule::text => text(&inner)?,
            Rule::caseless => {
                let text = inner.into_inner().next().map_or(Ok(Expr::nothing()), |inner| text(&inner))?;
                if let Expr::Text(text) = text { Expr::Caseless(text) } else { text }
            }
            Rule::range => {
                let ends = inner
                    .into_inner()
                    .map(|end| escaped::character(super::unquoted(end.as_str()), span(&end).start + 1));
                let ends = ends.collect::<Result<Vec<_>, _>>()?;
                let range = (ends.first().copied().unwrap_or(0), ends.last().copied().unwrap_or(0));
                let set = CharSet::from_ranges([range]).intersection(&CharSet::default().complement());
                if set.is_empty() {
                    return Err(Diagnostic::error("reversed-range", "the range runs backwards", place, "")
                        .with_help("write the lower character first"));
                }
                Expr::Set(set)
            }
            Rule::push => {
                return inner
                    .into_inner()
                    .next()
                    .map_or(Ok(Peg::Sequence(Vec::new())), |inner| self.choice(inner, atomic));
            }
            // What is put on the stack without being read.
            Rule::slice if inner.as_str().starts_with("PUSH") => return Ok(Peg::Sequence(Vec::new())),
            Rule::slice => return self.stack(place),
            Rule::name => return self.name(inner.as_str(), place, atomic),
            _ => return self.choice(inner, atomic),
        }))
    }

    fn name(&mut self, name: &str, place: Span, atomic: bool) -> Result<Peg, Diagnostic> {
        if let Some(index) = self.names.get(name) {
            let rule = &self.rules[*index];
            let other = atomic && self.implicit && !rule.is_atomic(false) && rule.is_atomic(true);
            if other && !self.needed.contains(index) {
                self.needed.push(*index);
            }
            let name = if other { atomic_name(name) } else { name.to_owned() };
            return Ok(Peg::Expr(Expr::Name(name, place)));
        }
        match name {
            "SOI" | "EOI" | "DROP" | "PUSH" => return Ok(Peg::Sequence(Vec::new())),
            "PEEK" | "POP" | "PEEK_ALL" | "POP_ALL" => return self.stack(place),
            _ => {}
        }
        Ok(Peg::Expr(built_in(name).unwrap_or_else(|| Expr::Name(name.to_owned(), place))))
    }

    /// Whatever is put on the stack anywhere.
    fn stack(&mut self, place: Span) -> Result<Peg, Diagnostic> {
        self.losses.note(&STACK, place);
        if self.in_pushed {
            return Ok(Peg::Sequence(Vec::new()));
        }
        self.in_pushed = true;
        let pushed = self.pushed;
        let all = pushed.iter().map(|pushed| match pushed.as_rule() {
            Rule::text => text(pushed).map(Peg::Expr),
            _ => self.choice(pushed.clone(), true),
        });
        let all = all.collect::<Result<Vec<_>, _>>();
        self.in_pushed = false;
        let all = all?;
        Ok(if all.is_empty() { Peg::Sequence(all) } else { Peg::Choice(all) })
    }
}

fn text(pair: &Pair<Rule>) -> Result<Expr, Diagnostic> {
    Ok(Expr::Text(escaped::text(super::unquoted(pair.as_str()), span(pair).start + 1)?))
}

/// The rules that pest has by itself ("Built-in rules" of its book).
fn built_in(name: &str) -> Option<Expr> {
    let ascii = |written: &str| regex::class(written).map(Expr::Set);
    match name {
        "ANY" => Some(Expr::any()),
        "ASCII_DIGIT" => ascii("[0-9]"),
        "ASCII_NONZERO_DIGIT" => ascii("[1-9]"),
        "ASCII_BIN_DIGIT" => ascii("[01]"),
        "ASCII_OCT_DIGIT" => ascii("[0-7]"),
        "ASCII_HEX_DIGIT" => ascii("[0-9a-fA-F]"),
        "ASCII_ALPHA_LOWER" => ascii("[a-z]"),
        "ASCII_ALPHA_UPPER" => ascii("[A-Z]"),
        "ASCII_ALPHA" => ascii("[a-zA-Z]"),
        "ASCII_ALPHANUMERIC" => ascii("[0-9a-zA-Z]"),
        "ASCII" => ascii(r"[\x00-\x7F]"),
        "NEWLINE" => {
            Some(Expr::Choice(["\n", "\r\n", "\r"].into_iter().map(|end| Expr::Text(end.to_owned())).collect()))
        }
        _ => regex::class(&format!("\\p{{{name}}}")).map(Expr::Set),
    }
}
