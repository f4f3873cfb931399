//! Parsing expression grammars: B. Ford, "Parsing Expression Grammars", POPL 2004.

use super::losses::Losses;
use super::predicates::{Peg, PegRule};
use super::{escaped, predicates, span, syntax_error};
use crate::grammar::ast::{Document, Expr, Rule as AstRule};
use crate::grammar::diagnostic::Diagnostic;
use pest::Parser;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/peg.pest"]
struct Notation;

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let mut pairs = Notation::parse(Rule::grammar, source).map_err(|e| vec![syntax_error(&e, source, expectation)])?;
    let rules = pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == Rule::rule);
    let rules = rules.map(rule).collect::<Result<Vec<_>, _>>().map_err(|problem| vec![problem])?;
    Ok(predicates::document(rules, "a PEG", Losses::default()))
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::text => "a quoted text",
        Rule::set => "a set of characters",
        Rule::suffix => "`?`, `*` or `+`",
        Rule::primary | Rule::repeated | Rule::prefixed | Rule::sequence | Rule::choice => "a name, text or group",
        Rule::EOI => "the end",
        _ => "",
    }
}

fn rule(pair: Pair<Rule>) -> Result<PegRule, Diagnostic> {
    let mut found = PegRule { rule: AstRule::default(), body: Peg::Sequence(Vec::new()) };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => (found.rule.name, found.rule.span) = (part.as_str().to_owned(), span(&part)),
            _ => found.body = choice(part)?,
        }
    }
    Ok(found)
}

fn choice(pair: Pair<Rule>) -> Result<Peg, Diagnostic> {
    let mut alternatives = pair.into_inner().map(sequence).collect::<Result<Vec<_>, _>>()?;
    Ok(if alternatives.len() == 1 { alternatives.remove(0) } else { Peg::Choice(alternatives) })
}

fn sequence(pair: Pair<Rule>) -> Result<Peg, Diagnostic> {
    let mut parts = Vec::new();
    for prefixed in pair.into_inner() {
        let place = span(&prefixed);
        let mut signs = Vec::new();
        for part in prefixed.into_inner() {
            match part.as_rule() {
                Rule::ahead => signs.push(part.as_str() == "&"),
                _ => parts.push(repeated(part)?),
            }
        }
        if signs.is_empty() {
            continue;
        }
        // Of `!!x` only the count of `!` matters.
        if let Some(inner) = parts.pop() {
            let wanted = signs.iter().filter(|sign| !**sign).count() % 2 == 0;
            parts.push(Peg::Ahead { wanted, what: Box::new(inner), place });
        }
    }
    Ok(Peg::Sequence(parts))
}

fn repeated(pair: Pair<Rule>) -> Result<Peg, Diagnostic> {
    let mut parts = pair.into_inner();
    let mut peg = parts.next().map_or(Ok(Peg::Sequence(Vec::new())), primary)?;
    for suffix in parts {
        let (min, max) = super::counts(suffix.as_str(), &span(&suffix))?;
        peg = Peg::Repeat(Box::new(peg), min, max);
    }
    Ok(peg)
}

fn primary(pair: Pair<Rule>) -> Result<Peg, Diagnostic> {
    let Some(inner) = pair.into_inner().next() else { return Ok(Peg::Sequence(Vec::new())) };
    let place = span(&inner);
    Ok(Peg::Expr(match inner.as_rule() {
        Rule::text => {
            let mut parts = inner.into_inner();
            let written = parts.next().map_or("", |part| part.as_str());
            let text = escaped::text(written, place.start + 1)?;
            if parts.next().is_some() { Expr::Caseless(text) } else { Expr::Text(text) }
        }
        Rule::set => Expr::Set(escaped::set(super::unquoted(inner.as_str()), place.start + 1)?),
        Rule::any => Expr::any(),
        Rule::name => Expr::Name(inner.as_str().to_owned(), place),
        _ => return choice(inner),
    }))
}
