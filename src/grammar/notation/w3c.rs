//! The W3C notation (Extensible Markup Language 1.0, section 6), extended as `docs/grammar-files.md` says.

use super::{Part, characters, span, syntax_error};
use crate::grammar::ast::{Document, Expr, Rule as AstRule};
use crate::grammar::diagnostic::Diagnostic;
use pest::Parser;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/w3c.pest"]
struct Notation;

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let source = without_numbers(source);
    let mut pairs =
        Notation::parse(Rule::grammar, &source).map_err(|e| vec![syntax_error(&e, &source, expectation)])?;
    let rules = pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Rule::rule);
    super::rules(rules, rule)
}

/// Blanks for the numbers that specifications put before their rules: `[12] name ::= …`. Elsewhere than first on the line of
/// a rule's head such a number is a set.
fn without_numbers(source: &str) -> String {
    let blank = |line: &str| {
        let start = line.len() - line.trim_start().len();
        let inner = line[start..].strip_prefix('[')?;
        let digits = inner.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
        let rest = inner[digits..].strip_prefix(']')?;
        rest.contains("::=").then(|| format!("{}{}{rest}", &line[..start], " ".repeat(digits + 2)))
    };
    source.split_inclusive('\n').map(|line| blank(line).unwrap_or_else(|| line.to_owned())).collect()
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::annotation | Rule::word => "an annotation",
        Rule::text | Rule::caseless => "a quoted text",
        Rule::set => "a set of characters",
        Rule::code => "a code point",
        Rule::suffix | Rule::count => "`?`, `*`, `+` or `{n}`",
        Rule::primary | Rule::term | Rule::repeated | Rule::sequence | Rule::alternative | Rule::choice => {
            "a name, text or group"
        }
        Rule::integer => "a number",
        Rule::EOI => "the end",
        _ => "",
    }
}

fn rule(pair: Pair<Rule>) -> Result<AstRule, Diagnostic> {
    let part = |part: &Pair<Rule>| match part.as_rule() {
        Rule::annotation => Part::Annotation,
        Rule::name => Part::Name(name(part)),
        _ => Part::Body,
    };
    super::rule(pair, part, choice)
}

fn name(pair: &Pair<Rule>) -> String {
    pair.as_str().trim_start_matches('<').trim_end_matches('>').to_owned()
}

fn choice(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    super::choice(pair, |part| super::alternative(part, |part| part.as_rule() == Rule::annotation, sequence))
}

fn sequence(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    super::sequence(pair, term)
}

fn term(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let place = span(&pair);
    let mut parts = pair.into_inner().map(repeated).collect::<Result<Vec<_>, _>>()?;
    let first = parts.remove(0);
    Ok(match parts.pop() {
        Some(excluded) => Expr::Except(Box::new(first), Box::new(excluded), place),
        None => first,
    })
}

fn repeated(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let mut parts = pair.into_inner();
    let mut expr = match parts.next() {
        Some(part) => primary(part)?,
        None => Expr::Sequence(Vec::new()),
    };
    for suffix in parts {
        let counts = match suffix.as_str() {
            "?" => Ok((0, Some(1))),
            "*" => Ok((0, None)),
            "+" => Ok((1, None)),
            _ => counts(suffix),
        };
        expr = match counts {
            Ok((min, max)) => Expr::repeat(expr, min, max),
            Err(problem) => Expr::sequence(vec![expr, Expr::defect(problem)]),
        };
    }
    Ok(expr)
}

fn counts(suffix: Pair<Rule>) -> Result<(u32, Option<u32>), Diagnostic> {
    let place = span(&suffix);
    let mut numbers = Vec::new();
    let mut open = false;
    for part in suffix.into_inner().flat_map(Pair::into_inner) {
        match part.as_rule() {
            Rule::comma => open = true,
            _ => numbers.push(super::count(part.as_str(), span(&part))?),
        }
    }
    let min = numbers.first().copied().unwrap_or(0);
    let max = if open { numbers.get(1).copied() } else { Some(min) };
    if max.is_some_and(|max| max < min) {
        return Err(Diagnostic::error("reversed-range", "the greatest count is below the least", place, ""));
    }
    Ok((min, max))
}

fn primary(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let Some(inner) = pair.into_inner().next() else { return Ok(Expr::Sequence(Vec::new())) };
    let place = span(&inner);
    Ok(match inner.as_rule() {
        Rule::text => Expr::Text(super::unquoted(inner.as_str()).to_owned()),
        Rule::caseless => Expr::Caseless(super::unquoted(inner.as_str().trim_end_matches('i')).to_owned()),
        Rule::code => characters::code(inner.as_str(), place.start).map_or_else(Expr::defect, |c| Expr::Text(c.into())),
        Rule::set => characters::set(inner.as_str(), place.start).map_or_else(Expr::defect, Expr::Set),
        Rule::name => Expr::Name(name(&inner), place),
        _ => choice(inner)?,
    })
}
