//! GBNF, the notation of llama.cpp for what a model may answer (`grammars/README.md` there).

use super::{Part, escaped, span, syntax_error};
use crate::grammar::ast::{Annotation, Document, Expr, Rule as AstRule};
use crate::grammar::diagnostic::Diagnostic;
use pest::Parser;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/gbnf.pest"]
struct Notation;

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let mut pairs = Notation::parse(Rule::grammar, source).map_err(|e| vec![syntax_error(&e, source, expectation)])?;
    let rules = pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Rule::rule);
    super::rules(rules, rule)
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::text => "a quoted text",
        Rule::set => "a set of characters",
        Rule::suffix | Rule::count => "`?`, `*`, `+` or `{n}`",
        Rule::primary | Rule::repeated | Rule::sequence | Rule::choice => "a name, text or group",
        Rule::integer => "a number",
        Rule::EOI => "the end",
        _ => "",
    }
}

fn rule(pair: Pair<Rule>) -> Result<AstRule, Diagnostic> {
    let part = |part: &Pair<Rule>| match part.as_rule() {
        Rule::name => Part::Name(part.as_str().to_owned()),
        _ => Part::Body,
    };
    let mut rule = super::rule(pair, part, choice)?;
    if rule.name == "root" {
        rule.annotations.push(Annotation::new("start", rule.span.clone()));
    }
    Ok(rule)
}

fn choice(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    super::choice(pair, |part| super::sequence(part, repeated))
}

fn repeated(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let mut parts = pair.into_inner();
    let mut expr = parts.next().map_or(Ok(Expr::nothing()), primary)?;
    for suffix in parts {
        let (min, max) = super::counts(suffix.as_str(), &span(&suffix))?;
        expr = Expr::repeat(expr, min, max);
    }
    Ok(expr)
}

fn primary(pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
    let Some(inner) = pair.into_inner().next() else { return Ok(Expr::nothing()) };
    let place = span(&inner);
    Ok(match inner.as_rule() {
        Rule::text => Expr::Text(escaped::text(super::unquoted(inner.as_str()), place.start + 1)?),
        Rule::set => Expr::Set(escaped::set(super::unquoted(inner.as_str()), place.start + 1)?),
        Rule::any => Expr::any(),
        Rule::name => Expr::Name(inner.as_str().to_owned(), place),
        _ => choice(inner)?,
    })
}
