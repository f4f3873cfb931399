//! What readers of notations with tokens do to their rules in the end.

use crate::grammar::ast::{Expr, Rule};
use crate::grammar::charset::CharSet;
use crate::grammar::regular;
use rustc_hash::FxHashSet;

/// The names in an expression.
pub(super) fn names(expr: &Expr, found: &mut FxHashSet<String>) {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Name(name, _) => _ = found.insert(name.clone()),
            Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Defect(_) => {}
            Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
            Expr::Annotated(_, inner) | Expr::Lazy(inner) => open.push(inner),
            Expr::Repeat { item, .. } => open.push(item),
            Expr::Except(included, excluded, _) => open.extend([&**included, &**excluded]),
        }
    }
}

/// Whether an expression is too large to be written twice.
pub(super) fn is_large(expr: &Expr) -> bool {
    let mut open = vec![expr];
    let mut count = 0;
    while let Some(expr) = open.pop() {
        count += 1;
        match expr {
            Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Name(..) | Expr::Defect(_) => {}
            Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
            Expr::Annotated(_, inner) | Expr::Lazy(inner) => open.push(inner),
            Expr::Repeat { item, .. } => open.push(item),
            Expr::Except(included, excluded, _) => open.extend([&**included, &**excluded]),
        }
    }
    count > 2000
}

/// Calls `change` for each part of an expression, the outer ones first.
pub(super) fn each(expr: &mut Expr, mut change: impl FnMut(&mut Expr)) {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        change(expr);
        match expr {
            Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Name(..) | Expr::Defect(_) => {}
            Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
            Expr::Annotated(_, inner) | Expr::Lazy(inner) => open.push(inner),
            Expr::Repeat { item, .. } => open.push(item),
            Expr::Except(included, excluded, _) => open.extend([&mut **included, &mut **excluded]),
        }
    }
}

/// Inside a token, a text in any case is no keyword of its own: a set for each letter.
pub(super) fn spell_out_cases(expr: &mut Expr) {
    each(expr, |expr| {
        if let Expr::Caseless(text) = expr {
            *expr = cased(text);
        }
    });
}

/// The letters of a text, each in both cases.
pub(super) fn cased(text: &str) -> Expr {
    let set = |c| Expr::Set(CharSet::from_ranges(regular::cases(c).map(|code| (code, code))));
    let parts = text.chars().map(|c| if c.is_alphabetic() { set(c) } else { Expr::Text(c.to_string()) });
    Expr::sequence(parts.collect())
}

fn is_token(rule: &Rule) -> bool {
    rule.annotations.iter().any(|said| said.word != "start")
}

/// A token that may be empty loses the empty text, and may be missing wherever it stands.
pub(super) fn tokens_are_not_empty(rules: &mut [Rule]) {
    let mut nullable: FxHashSet<String> = FxHashSet::default();
    loop {
        let found = rules.iter().filter(|rule| !nullable.contains(&rule.name) && may_be_empty(&rule.body, &nullable));
        let found: Vec<String> = found.map(|rule| rule.name.clone()).collect();
        if found.is_empty() {
            break;
        }
        nullable.extend(found);
    }
    let tokens: FxHashSet<String> = rules.iter().filter(|rule| is_token(rule)).map(|rule| rule.name.clone()).collect();
    let emptied: FxHashSet<String> = tokens.intersection(&nullable).cloned().collect();
    if emptied.is_empty() {
        return;
    }
    for rule in rules {
        // A repetition keeps its place, and what is repeated is looked at no more.
        let mut open = vec![&mut rule.body];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Name(name, _) if emptied.contains(name) => {
                    let inner = std::mem::take(expr);
                    *expr = Expr::repeat(inner, 0, Some(1));
                }
                Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Name(..) | Expr::Defect(_) => {}
                Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
                Expr::Annotated(_, inner) | Expr::Lazy(inner) => open.push(inner),
                Expr::Repeat { item, .. } => open.push(item),
                Expr::Except(included, excluded, _) => open.extend([&mut **included, &mut **excluded]),
            }
        }
        if emptied.contains(&rule.name) {
            let body = std::mem::take(&mut rule.body);
            rule.body = Expr::Except(Box::new(body), Box::default(), rule.span.clone());
        }
    }
}

fn may_be_empty(expr: &Expr, nullable: &FxHashSet<String>) -> bool {
    match expr {
        Expr::Text(text) | Expr::Caseless(text) => text.is_empty(),
        Expr::Set(_) | Expr::Defect(_) => false,
        Expr::Name(name, _) => nullable.contains(name),
        Expr::Sequence(parts) => parts.iter().all(|part| may_be_empty(part, nullable)),
        Expr::Choice(parts) => parts.iter().any(|part| may_be_empty(part, nullable)),
        Expr::Annotated(_, inner) | Expr::Lazy(inner) => may_be_empty(inner, nullable),
        Expr::Repeat { item, min, .. } => *min == 0 || may_be_empty(item, nullable),
        Expr::Except(included, excluded, _) => may_be_empty(included, nullable) && !may_be_empty(excluded, nullable),
    }
}

/// Takes away all that needs one of `never`, which match nothing, and the rules of which nothing is left.
pub(super) fn without(rules: &mut Vec<Rule>, never: Vec<String>) {
    let mut never: FxHashSet<String> = never.into_iter().collect();
    loop {
        let before = never.len();
        rules.retain_mut(|rule| {
            let body = std::mem::take(&mut rule.body);
            match possible(body, &never) {
                Some(body) => {
                    rule.body = body;
                    true
                }
                None => {
                    never.insert(rule.name.clone());
                    false
                }
            }
        });
        if never.len() == before {
            return;
        }
    }
}

fn possible(expr: Expr, never: &FxHashSet<String>) -> Option<Expr> {
    Some(match expr {
        Expr::Name(name, span) => (!never.contains(&name)).then_some(Expr::Name(name, span))?,
        Expr::Sequence(parts) => {
            Expr::Sequence(parts.into_iter().map(|part| possible(part, never)).collect::<Option<_>>()?)
        }
        Expr::Choice(parts) => {
            let parts: Vec<Expr> = parts.into_iter().filter_map(|part| possible(part, never)).collect();
            (!parts.is_empty()).then(|| Expr::choice(parts))?
        }
        Expr::Annotated(said, inner) => Expr::Annotated(said, Box::new(possible(*inner, never)?)),
        Expr::Repeat { item, min, max } => match possible(*item, never) {
            Some(item) => Expr::repeat(item, min, max),
            None if min == 0 => Expr::nothing(),
            None => return None,
        },
        Expr::Except(included, excluded, span) => {
            let included = possible(*included, never)?;
            match possible(*excluded, never) {
                Some(excluded) => Expr::Except(Box::new(included), Box::new(excluded), span),
                None => included,
            }
        }
        other => other,
    })
}
