//! Parsing expressions: what looks ahead is worked into what it looks at, where that is regular.
//!
//! `!x y` is what `y` derives without the texts that begin with `x`; `(!x .)*` is any text without `x` in it.

use super::losses::{Loss, Losses};
use crate::grammar::ast::{Document, Expr, Rule, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::code::Code;
use crate::grammar::diagnostic::Diagnostic;
use crate::grammar::regular;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

const DROPPED: Loss = Loss {
    code: "dropped-predicate",
    one: "predicate was dropped",
    many: "predicates were dropped",
    help: "a predicate is kept where it, and what it stands before, are regular; more is accepted than without it",
};

const PARTLY: Loss = Loss {
    code: "approximated-predicate",
    one: "predicate looks further than what it stands before, and is kept in part",
    many: "predicates look further than what they stand before, and are kept in part",
    help: "more is accepted than the grammar's author meant",
};

/// A parsing expression.
#[derive(Clone, Debug)]
pub(super) enum Peg {
    Expr(Expr),
    Sequence(Vec<Peg>),
    Choice(Vec<Peg>),
    Repeat(Box<Peg>, u32, Option<u32>),
    /// What must come next, or must not; nothing is taken.
    Ahead {
        wanted: bool,
        what: Box<Peg>,
        place: Span,
    },
}

/// A rule whose body is a parsing expression.
pub(super) struct PegRule {
    pub rule: Rule,
    pub body: Peg,
}

/// What the rules come to.
pub(super) fn document(rules: Vec<PegRule>, notation: &str, mut losses: Losses) -> Document {
    let regular = regular_rules(&rules);
    let choices = rules.iter().any(|rule| has_choice(&rule.body));
    let looked_for = only_looked_for(&rules);
    let bodies = rules.iter().map(|rule| (rule.rule.name.clone(), rule.body.clone())).collect();
    let mut reader = Reader { regular, bodies, losses: std::mem::take(&mut losses) };
    let read = |PegRule { rule, body }: PegRule| {
        let mut kept = looked_for.contains(&rule.name).then(|| std::mem::take(&mut reader.losses));
        let body = reader.expr(body);
        if let Some(kept) = kept.take() {
            reader.losses = kept;
        }
        Rule { body, ..rule }
    };
    let mut rules: Vec<Rule> = rules.into_iter().map(read).collect();
    let failed = keep_what_can_be_worked_out(&mut rules);
    failed.into_iter().for_each(|place| reader.losses.note(&DROPPED, place));
    let mut warnings = reader.losses.warnings();
    if let (true, Some(first)) = (choices, rules.first()) {
        let message = format!("choices of {notation} are ordered, those of a grammar are not");
        warnings.insert(
            0,
            Diagnostic::warning("ordered-choice", message, first.span.clone(), "").with_help(
                "what an earlier alternative shuts out there is accepted here; the earlier one is still preferred",
            ),
        );
    }
    Document { rules, warnings }
}

/// The rules that stand in predicates only: what these lose is not lost, as predicates know their bodies.
fn only_looked_for(rules: &[PegRule]) -> FxHashSet<String> {
    let (mut taken, mut looked_for) = (FxHashSet::default(), FxHashSet::default());
    let mut open: Vec<&Peg> = rules.iter().map(|rule| &rule.body).collect();
    while let Some(peg) = open.pop() {
        match peg {
            Peg::Expr(expr) => expr_names(expr, &mut taken),
            Peg::Sequence(parts) | Peg::Choice(parts) => open.extend(parts),
            Peg::Repeat(inner, ..) => open.push(inner),
            Peg::Ahead { what, .. } => collect_names(what, &mut looked_for),
        }
    }
    looked_for.difference(&taken).cloned().collect()
}

fn has_choice(peg: &Peg) -> bool {
    match peg {
        Peg::Expr(expr) => matches!(expr, Expr::Choice(_)),
        Peg::Choice(_) => true,
        Peg::Sequence(parts) => parts.iter().any(has_choice),
        Peg::Repeat(inner, ..) => has_choice(inner),
        Peg::Ahead { what, .. } => has_choice(what),
    }
}

/// Whether an expression is too large to be written twice.
pub(super) fn is_large(peg: &Peg) -> bool {
    let mut open = vec![peg];
    let mut count = 0;
    while let Some(peg) = open.pop() {
        count += 1;
        match peg {
            Peg::Expr(_) => {}
            Peg::Sequence(parts) | Peg::Choice(parts) => open.extend(parts),
            Peg::Repeat(inner, ..) => open.push(inner),
            Peg::Ahead { what, .. } => open.push(what),
        }
    }
    count > 2000
}

/// The rules that do not refer to themselves, and to none that does.
fn regular_rules(rules: &[PegRule]) -> FxHashSet<String> {
    let mut waiting: FxHashMap<&str, usize> = FxHashMap::default();
    let mut users: FxHashMap<String, Vec<&str>> = FxHashMap::default();
    let mut ready = Vec::new();
    for PegRule { rule, body } in rules {
        if waiting.contains_key(rule.name.as_str()) {
            continue;
        }
        let mut names = FxHashSet::default();
        collect_names(body, &mut names);
        waiting.insert(&rule.name, names.len());
        if names.is_empty() {
            ready.push(rule.name.as_str());
        }
        names.into_iter().for_each(|name| users.entry(name).or_default().push(&rule.name));
    }
    let mut regular = FxHashSet::default();
    while let Some(name) = ready.pop() {
        regular.insert(name.to_owned());
        for user in users.get(name).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(user) {
                *count -= 1;
                if *count == 0 {
                    ready.push(user);
                }
            }
        }
    }
    regular
}

fn collect_names(peg: &Peg, names: &mut FxHashSet<String>) {
    match peg {
        Peg::Expr(expr) => expr_names(expr, names),
        Peg::Sequence(parts) | Peg::Choice(parts) => parts.iter().for_each(|part| collect_names(part, names)),
        Peg::Repeat(inner, ..) => collect_names(inner, names),
        Peg::Ahead { what, .. } => collect_names(what, names),
    }
}

fn expr_names(expr: &Expr, names: &mut FxHashSet<String>) {
    match expr {
        Expr::Name(name, _) => _ = names.insert(name.clone()),
        Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Defect(_) => {}
        Expr::Sequence(parts) | Expr::Choice(parts) => parts.iter().for_each(|part| expr_names(part, names)),
        Expr::Annotated(_, inner) | Expr::Lazy(inner) => expr_names(inner, names),
        Expr::Repeat { item, .. } => expr_names(item, names),
        Expr::Except(included, excluded, _) => {
            expr_names(included, names);
            expr_names(excluded, names);
        }
    }
}

struct Reader {
    regular: FxHashSet<String>,
    bodies: FxHashMap<String, Peg>,
    losses: Losses,
}

impl Reader {
    fn expr(&mut self, peg: Peg) -> Expr {
        match peg {
            Peg::Expr(expr) => expr,
            Peg::Choice(parts) => Expr::choice(parts.into_iter().map(|part| self.expr(part)).collect()),
            Peg::Repeat(inner, min, max) => self.repeat(*inner, min, max),
            Peg::Sequence(parts) => self.sequence(parts),
            ahead @ Peg::Ahead { .. } => self.sequence(vec![ahead]),
        }
    }

    /// From the end on, since a predicate restricts what comes after it.
    fn sequence(&mut self, parts: Vec<Peg>) -> Expr {
        let mut after: VecDeque<Expr> = VecDeque::new();
        for part in parts.into_iter().rev() {
            match part {
                Peg::Ahead { wanted, what, place } if after.is_empty() => {
                    // That nothing follows holds at the end of the input, and there such a predicate stands.
                    let end = !wanted && matches!(&*what, Peg::Expr(Expr::Set(set)) if set.complement().is_empty());
                    if !end {
                        self.losses.note(&DROPPED, place);
                    }
                }
                Peg::Ahead { wanted, what, place } => {
                    let count = self.reach(&what, after.make_contiguous());
                    let run: Vec<Expr> = after.drain(..count).collect();
                    after.push_front(self.restricted(Expr::sequence(run), wanted, *what, place));
                }
                part => after.push_front(self.expr(part)),
            }
        }
        Expr::sequence(after.into())
    }

    /// How many of the following parts a predicate is worked into: as few as may be, since no rule is left of them.
    fn reach(&self, what: &Peg, after: &[Expr]) -> usize {
        let longest = longest(what).unwrap_or(usize::MAX);
        let mut length = 0;
        let more = after.iter().take_while(|part| {
            let wanted = longest > length && self.is_regular(part) && (length == 0 || !matches!(part, Expr::Name(..)));
            length += shortest(part).max(1);
            wanted
        });
        more.count().max(1)
    }

    fn restricted(&mut self, expr: Expr, wanted: bool, what: Peg, place: Span) -> Expr {
        if !self.is_regular(&expr) || !self.is_regular_peg(&what) {
            self.losses.note(&DROPPED, place);
            return expr;
        }
        let longest = longest(&what);
        let beginning = self.beginning(what);
        if longest.is_none_or(|longest| longest > shortest(&expr)) {
            self.losses.note(&PARTLY, place.clone());
        }
        let excluded = if wanted { except(Expr::repeat(Expr::any(), 0, None), beginning, &place) } else { beginning };
        except(expr, excluded, &place)
    }

    /// The texts that begin with what is looked for.
    fn beginning(&mut self, what: Peg) -> Expr {
        let rest = Expr::repeat(Expr::any(), 0, None);
        if let Peg::Expr(Expr::Name(name, _)) = &what
            && let Some(body) = self.bodies.get(name).filter(|body| self.ends_ahead(body, 0)).cloned()
        {
            return self.beginning(body);
        }
        match what {
            Peg::Sequence(mut parts) => match parts.pop() {
                // A keyword ends where no further letter follows.
                Some(Peg::Ahead { wanted, what, place }) => {
                    let follows = self.beginning(*what);
                    let after = if wanted { follows } else { except(rest, follows, &place) };
                    Expr::Sequence(vec![self.sequence(parts), after])
                }
                Some(last) => {
                    let last = self.beginning(last);
                    Expr::Sequence(vec![self.sequence(parts), last])
                }
                None => rest,
            },
            Peg::Choice(parts) => Expr::choice(parts.into_iter().map(|part| self.beginning(part)).collect()),
            what => Expr::Sequence(vec![self.expr(what), rest]),
        }
    }

    /// Whether the last part looks ahead, in the expression or in a rule that it ends with.
    fn ends_ahead(&self, peg: &Peg, depth: usize) -> bool {
        match peg {
            Peg::Ahead { .. } => true,
            Peg::Sequence(parts) => parts.last().is_some_and(|last| self.ends_ahead(last, depth)),
            Peg::Choice(parts) => parts.iter().any(|part| self.ends_ahead(part, depth)),
            Peg::Expr(Expr::Name(name, _)) if depth < 8 && self.regular.contains(name) => {
                self.bodies.get(name).is_some_and(|body| self.ends_ahead(body, depth + 1))
            }
            _ => false,
        }
    }

    fn repeat(&mut self, inner: Peg, min: u32, max: Option<u32>) -> Expr {
        if let (Peg::Sequence(parts), None) = (&inner, max)
            && let [Peg::Ahead { wanted: false, what, place }, last] = parts.as_slice()
            && let (Some(set), true) = (single(last), self.is_regular_peg(what))
        {
            let any = Expr::repeat(Expr::any(), 0, None);
            let holding = Expr::Sequence(vec![any, self.beginning((**what).clone())]);
            return except(Expr::repeat(Expr::Set(set), min, None), holding, place);
        }
        Expr::repeat(self.expr(inner), min, max)
    }

    fn is_regular(&self, expr: &Expr) -> bool {
        let mut names = FxHashSet::default();
        expr_names(expr, &mut names);
        names.iter().all(|name| self.regular.contains(name))
    }

    fn is_regular_peg(&self, peg: &Peg) -> bool {
        let mut names = FxHashSet::default();
        collect_names(peg, &mut names);
        names.iter().all(|name| self.regular.contains(name))
    }
}

fn except(included: Expr, excluded: Expr, place: &Span) -> Expr {
    Expr::Except(Box::new(included), Box::new(excluded), place.clone())
}

/// The set that an expression is, if it is one.
fn single(peg: &Peg) -> Option<CharSet> {
    match peg {
        Peg::Expr(Expr::Set(set)) => Some(set.clone()),
        Peg::Expr(Expr::Text(text)) => {
            let mut characters = text.chars();
            let first = characters.next()?;
            characters.next().is_none().then(|| CharSet::single(Code::from(first)))
        }
        Peg::Choice(parts) => parts.iter().try_fold(CharSet::default(), |set, part| Some(set.union(&single(part)?))),
        Peg::Sequence(parts) => match parts.as_slice() {
            [only] => single(only),
            _ => None,
        },
        _ => None,
    }
}

/// How long the longest text is; none if there is no bound, or it is not known.
fn longest(peg: &Peg) -> Option<usize> {
    match peg {
        Peg::Expr(Expr::Set(_)) => Some(1),
        Peg::Expr(Expr::Text(text) | Expr::Caseless(text)) => Some(text.chars().count()),
        Peg::Expr(_) => None,
        Peg::Choice(parts) => parts.iter().try_fold(0, |most, part| Some(most.max(longest(part)?))),
        Peg::Sequence(parts) => parts.iter().try_fold(0_usize, |sum, part| Some(sum.saturating_add(longest(part)?))),
        Peg::Repeat(inner, _, max) => Some(longest(inner)?.saturating_mul((*max)? as usize)),
        Peg::Ahead { .. } => Some(0),
    }
}

/// A lower bound of the length of its texts.
fn shortest(expr: &Expr) -> usize {
    match expr {
        Expr::Set(_) => 1,
        Expr::Defect(_) => 0,
        Expr::Text(text) | Expr::Caseless(text) => text.chars().count(),
        // What a rule derives is hardly ever shorter than a word.
        Expr::Name(..) => 1,
        Expr::Choice(parts) => parts.iter().map(shortest).min().unwrap_or(0),
        Expr::Sequence(parts) => parts.iter().map(shortest).sum(),
        Expr::Annotated(_, inner) | Expr::Lazy(inner) => shortest(inner),
        Expr::Repeat { item, min, .. } => shortest(item).saturating_mul(*min as usize),
        Expr::Except(included, ..) => shortest(included),
    }
}

/// Exceptions that are too large, or leave nothing, are left out; their places are returned.
fn keep_what_can_be_worked_out(rules: &mut [Rule]) -> Vec<Span> {
    let bodies: FxHashMap<String, Expr> = rules.iter().map(|rule| (rule.name.clone(), rule.body.clone())).collect();
    let mut failed = Vec::new();
    for rule in rules {
        let mut open = vec![&mut rule.body];
        while let Some(expr) = open.pop() {
            if let Expr::Except(included, _, place) = &*expr {
                if regular::plain(expr, |name| bodies.get(name)).is_err() {
                    failed.push(place.clone());
                    let included = (**included).clone();
                    *expr = included;
                    open.push(expr);
                }
                continue;
            }
            match expr {
                Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
                Expr::Annotated(_, inner) | Expr::Lazy(inner) => open.push(inner),
                Expr::Repeat { item, .. } => open.push(item),
                _ => {}
            }
        }
    }
    failed
}
