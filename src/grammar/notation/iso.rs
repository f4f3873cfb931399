//! ISO/IEC 14977:1996, extended as `docs/grammar-files.md` says.

use super::{Part, characters, span, syntax_error};
use crate::grammar::ast::{Document, Expr, Rule as AstRule};
use crate::grammar::diagnostic::Diagnostic;
use pest::Parser;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/iso.pest"]
struct Notation;

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let mut pairs = Notation::parse(Rule::grammar, source).map_err(|e| vec![syntax_error(&e, source, expectation)])?;
    let rules = pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Rule::rule);
    super::rules(rules, rule)
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::annotation | Rule::word => "an annotation",
        Rule::text | Rule::caseless => "a quoted text",
        Rule::special | Rule::set | Rule::code => "a special sequence `? […] ?`",
        Rule::primary | Rule::term | Rule::factor | Rule::sequence | Rule::alternative | Rule::choice => {
            "a name, text or group"
        }
        Rule::option | Rule::repetition => "an option or repetition",
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

/// Gaps inside a name are not significant (4.14 of the standard): one blank stands for each.
fn name(pair: &Pair<Rule>) -> String {
    pair.as_str().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn choice(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    super::choice(pair, |part| super::alternative(part, |part| part.as_rule() == Rule::annotation, sequence))
}

fn sequence(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    super::sequence(pair, term)
}

/// `a - b` excludes; `{a} -`, with nothing after, is the idiom for "at least once" (5.8 of the standard).
fn term(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let place = span(&pair);
    let mut factors = pair.into_inner().map(factor).collect::<Result<Vec<_>, _>>()?;
    let first = factors.remove(0);
    Ok(match (factors.pop(), first) {
        // The notation lets a factor be nothing at all, and so finds one after every `-`.
        (Some(Expr::Sequence(nothing)), first) if nothing.is_empty() => match first {
            Expr::Repeat { item, max, .. } => Expr::Repeat { item, min: 1, max },
            first => first,
        },
        (Some(excluded), first) => Expr::Except(Box::new(first), Box::new(excluded), place),
        (None, first) => first,
    })
}

fn factor(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let mut times = None;
    let mut expr = Expr::Sequence(Vec::new());
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::integer => times = Some(super::count(part.as_str(), span(&part))),
            _ => expr = primary(part)?,
        }
    }
    Ok(match times {
        Some(Ok(n)) => Expr::repeat(expr, n, Some(n)),
        Some(Err(problem)) => Expr::sequence(vec![expr, Expr::defect(problem)]),
        None => expr,
    })
}

fn primary(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let Some(inner) = pair.into_inner().next() else { return Ok(Expr::Sequence(Vec::new())) };
    let place = span(&inner);
    Ok(match inner.as_rule() {
        Rule::text => Expr::Text(super::unquoted(inner.as_str()).to_owned()),
        Rule::caseless => Expr::Caseless(super::unquoted(inner.as_str().trim_end_matches('i')).to_owned()),
        Rule::special => special(inner)?,
        Rule::name => Expr::Name(name(&inner), place),
        Rule::option => Expr::repeat(group(inner)?, 0, Some(1)),
        Rule::repetition => Expr::repeat(group(inner)?, 0, None),
        Rule::choice => choice(inner)?,
        _ => Expr::Sequence(Vec::new()),
    })
}

fn group(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    pair.into_inner().next().map_or(Ok(Expr::Sequence(Vec::new())), choice)
}

fn special(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let Some(inner) = pair.into_inner().next() else { return Ok(Expr::Sequence(Vec::new())) };
    let place = span(&inner);
    Ok(match inner.as_rule() {
        Rule::code => characters::code(inner.as_str(), place.start).map_or_else(Expr::defect, |c| Expr::Text(c.into())),
        _ => characters::set(inner.as_str(), place.start).map_or_else(Expr::defect, Expr::Set),
    })
}
