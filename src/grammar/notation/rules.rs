//! What all notations have in common: a file is a list of rules, a rule's body a choice, an alternative a sequence of terms.

use super::syntax_error;
use crate::grammar::ast::{Expr, Rule, Span};
use crate::grammar::diagnostic::Diagnostic;
use pest::RuleType;
use pest::iterators::Pair;

/// A notation by its pest grammar, whose rules are `R`, and what is its own.
pub(super) trait Notation<R: RuleType>: pest::Parser<R> {
    /// The pest rule of a whole file.
    const FILE: R;
    /// The pest rule of one rule in it. All its parts but annotations and the name are its body, a choice.
    const RULE: R;
    /// The pest rule of an annotation, which holds words.
    const ANNOTATION: R;
    /// The pest rule of a name.
    const NAME: R;

    /// What a pest rule is called where it could have stood; empty if it is not to be mentioned.
    fn expectation(rule: &R) -> &'static str;

    /// The name that is written so.
    fn name(written: &str) -> String;

    /// A part of a sequence.
    fn term(pair: Pair<R>) -> Result<Expr, Diagnostic>;
}

/// All rules, or all that is wrong with them.
pub(super) fn read<N: Notation<R>, R: RuleType>(source: &str) -> Result<Vec<Rule>, Vec<Diagnostic>> {
    let mut file = N::parse(N::FILE, source).map_err(|error| vec![syntax_error(&error, N::expectation)])?;
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    for pair in file.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() == N::RULE) {
        match rule::<N, R>(pair) {
            Ok(rule) => rules.push(rule),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

fn rule<N: Notation<R>, R: RuleType>(pair: Pair<R>) -> Result<Rule, Diagnostic> {
    let mut rule = Rule { name: String::new(), span: 0..0, annotations: Vec::new(), body: Expr::Sequence(Vec::new()) };
    for part in pair.into_inner() {
        if part.as_rule() == N::ANNOTATION {
            rule.annotations.extend(part.into_inner().map(|word| (word.as_str().to_owned(), span(&word))));
        } else if part.as_rule() == N::NAME {
            (rule.name, rule.span) = (N::name(part.as_str()), span(&part));
        } else {
            rule.body = choice::<N, R>(part)?;
        }
    }
    Ok(rule)
}

/// A choice; of one alternative, that alternative.
pub(super) fn choice<N: Notation<R>, R: RuleType>(pair: Pair<R>) -> Result<Expr, Diagnostic> {
    let mut alternatives = pair.into_inner().map(sequence::<N, R>).collect::<Result<Vec<_>, _>>()?;
    Ok(if alternatives.len() == 1 { alternatives.remove(0) } else { Expr::Choice(alternatives) })
}

fn sequence<N: Notation<R>, R: RuleType>(pair: Pair<R>) -> Result<Expr, Diagnostic> {
    let mut terms = pair.into_inner().map(N::term).collect::<Result<Vec<_>, _>>()?;
    Ok(if terms.len() == 1 { terms.remove(0) } else { Expr::Sequence(terms) })
}

/// Where it stands in the file.
pub(super) fn span<R: RuleType>(pair: &Pair<R>) -> Span {
    pair.as_span().start()..pair.as_span().end()
}
