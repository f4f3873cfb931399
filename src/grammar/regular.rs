//! Exceptions among regular languages: `name - ("if" | "then")`, `any* - (any* "*/" any*)`.
//!
//! Context-free languages are not closed under difference, regular ones are. The difference is found on automata and written
//! as an expression again (by elimination of states), so that nothing after this module knows of exceptions.

use super::alphabet::Alphabet;
use super::ast::{Expr, Span};
use super::automaton::{Automaton, Nfa, NotRegular};
use super::charset::CharSet;
use super::code::Code;
use super::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The elimination takes time with the cube of the states.
const MAX_STATES: u32 = 500;

/// More parts than these are too many to read, and to make tokens of.
const MAX_PARTS: usize = 20_000;

/// Why an exception cannot be worked out.
#[derive(Debug, PartialEq)]
pub(super) enum Irregular {
    /// A rule that refers to itself is in it.
    Recursive(String),
    /// A name in it that no rule has, and where it stands.
    Undefined(String, Span),
    /// Nothing is left.
    Empty,
    /// It needs too many states.
    TooLarge,
    /// A part of it cannot be read.
    Defect(Box<Diagnostic>),
}

/// An expression without exceptions for the same language. `rule` finds the bodies of rules.
pub(super) fn plain<'a>(expr: &'a Expr, rule: impl Fn(&str) -> Option<&'a Expr>) -> Result<Expr, Irregular> {
    let mut sets = Sets { rule: &rule, sets: Vec::new(), characters: FxHashSet::default(), seen: FxHashSet::default() };
    sets.collect(expr)?;
    let alphabet = Alphabet::dividing(&sets.sets, &sets.characters);
    let mut language = Language { rule: &rule, alphabet: &alphabet, open: Vec::new() };
    let automaton = language.automaton(expr)?.minimal();
    written(&automaton, &alphabet)
}

/// The characters that are told apart.
struct Sets<'a, 'r> {
    rule: &'r dyn Fn(&str) -> Option<&'a Expr>,
    sets: Vec<&'a CharSet>,
    characters: FxHashSet<Code>,
    seen: FxHashSet<&'a str>,
}

impl<'a> Sets<'a, '_> {
    fn collect(&mut self, expr: &'a Expr) -> Result<(), Irregular> {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Text(text) => self.characters.extend(text.chars().map(Code::from)),
                Expr::Caseless(text) => self.characters.extend(text.chars().flat_map(cases)),
                Expr::Set(set) => self.sets.push(set),
                Expr::Name(name, span) => {
                    if self.seen.insert(name) {
                        open.push((self.rule)(name).ok_or_else(|| Irregular::Undefined(name.clone(), span.clone()))?);
                    }
                }
                Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
                Expr::Annotated(_, inner) => open.push(inner),
                Expr::Repeat { item, .. } => open.push(item),
                Expr::Except(included, excluded, _) => open.extend([&**included, &**excluded]),
                Expr::Defect(problem) => return Err(Irregular::Defect(problem.clone())),
            }
        }
        Ok(())
    }
}

/// A letter in both cases; other characters as they are.
pub(super) fn cases(c: char) -> impl Iterator<Item = Code> {
    let single = |mut cased: Box<dyn Iterator<Item = char>>| match (cased.next(), cased.next()) {
        (Some(only), None) => Code::from(only),
        // Where the other case is no single character, as with ß, there is none.
        _ => Code::from(c),
    };
    [single(Box::new(c.to_lowercase())), single(Box::new(c.to_uppercase()))].into_iter()
}

struct Language<'a, 'r> {
    rule: &'r dyn Fn(&str) -> Option<&'a Expr>,
    alphabet: &'r Alphabet,
    open: Vec<&'a str>,
}

impl<'a> Language<'a, '_> {
    fn automaton(&mut self, expr: &'a Expr) -> Result<Automaton, Irregular> {
        let mut nfa = Nfa::default();
        let start = nfa.state();
        let end = self.add(expr, &mut nfa, start)?;
        Automaton::determinize(&nfa, self.alphabet.len(), start, end).map_err(|_: NotRegular| Irregular::TooLarge)
    }

    /// Adds what the expression derives between `from` and a state, which it returns. The recursion follows the grammar's text.
    fn add(&mut self, expr: &'a Expr, nfa: &mut Nfa, from: u32) -> Result<u32, Irregular> {
        if nfa.is_too_large() {
            return Err(Irregular::TooLarge);
        }
        match expr {
            Expr::Text(text) => Ok(self.text(nfa, from, text.chars().map(|c| vec![Code::from(c)]))),
            Expr::Caseless(text) => Ok(self.text(nfa, from, text.chars().map(|c| cases(c).collect()))),
            Expr::Set(set) => {
                let to = nfa.state();
                let mut classes: Vec<u16> = self.alphabet.classes_of(set).collect();
                classes.sort_unstable();
                classes.dedup();
                nfa.read(from, classes, to);
                Ok(to)
            }
            Expr::Name(name, span) => {
                if self.open.contains(&name.as_str()) {
                    return Err(Irregular::Recursive(name.clone()));
                }
                let body = (self.rule)(name).ok_or_else(|| Irregular::Undefined(name.clone(), span.clone()))?;
                self.open.push(name);
                let end = self.add(body, nfa, from)?;
                self.open.pop();
                Ok(end)
            }
            Expr::Annotated(_, inner) => self.add(inner, nfa, from),
            Expr::Sequence(parts) => parts.iter().try_fold(from, |at, part| self.add(part, nfa, at)),
            Expr::Choice(parts) => {
                let end = nfa.state();
                for part in parts {
                    let start = nfa.state();
                    nfa.pass(from, start);
                    let last = self.add(part, nfa, start)?;
                    nfa.pass(last, end);
                }
                Ok(end)
            }
            Expr::Repeat { item, min, max } => {
                let end = nfa.state();
                let mut at = from;
                for n in 0..max.unwrap_or(*min) {
                    if n >= *min {
                        nfa.pass(at, end);
                    }
                    at = self.add(item, nfa, at)?;
                }
                if max.is_none() {
                    let start = nfa.state();
                    nfa.pass(at, start);
                    let last = self.add(item, nfa, start)?;
                    nfa.pass(last, start);
                    at = start;
                }
                nfa.pass(at, end);
                Ok(end)
            }
            Expr::Except(included, excluded, _) => {
                let difference = self.automaton(included)?.difference(&self.automaton(excluded)?).minimal();
                Ok(nfa.embed(&difference, from))
            }
            Expr::Defect(problem) => Err(Irregular::Defect(problem.clone())),
        }
    }

    fn text(&self, nfa: &mut Nfa, from: u32, codes: impl Iterator<Item = Vec<Code>>) -> u32 {
        codes.fold(from, |at, codes| {
            let to = nfa.state();
            let mut classes: Vec<u16> = codes.into_iter().map(|code| self.alphabet.class(code)).collect();
            classes.dedup();
            nfa.read(at, classes, to);
            to
        })
    }
}

/// The automaton's language as an expression. States go one after the other, the least entangled first; what led through
/// one leads past it.
fn written(automaton: &Automaton, alphabet: &Alphabet) -> Result<Expr, Irregular> {
    let members = alphabet.members();
    let states = automaton.len() as u32;
    if states > MAX_STATES {
        return Err(Irregular::TooLarge);
    }
    let (first, last) = (states, states + 1);
    let mut ways = Ways::default();
    ways.add(first, 0, Expr::nothing());
    for state in 0..states {
        let mut sets: BTreeMap<u32, CharSet> = BTreeMap::new();
        for (class, to) in automaton.moves(state) {
            let set = sets.entry(to).or_default();
            *set = set.union(&members[usize::from(class)]);
        }
        sets.into_iter().for_each(|(to, set)| ways.add(state, to, Expr::Set(set)));
        if automaton.is_accepting(state) {
            ways.add(state, last, Expr::nothing());
        }
    }
    let mut left: Vec<u32> = (0..states).collect();
    while let Some((place, _)) = left.iter().enumerate().min_by_key(|(_, state)| ways.entanglement(**state)) {
        ways.eliminate(left.swap_remove(place));
        if ways.parts() > MAX_PARTS {
            return Err(Irregular::TooLarge);
        }
    }
    ways.expr.remove(&(first, last)).ok_or(Irregular::Empty)
}

/// What is read on the way from one state to another.
#[derive(Default)]
struct Ways {
    expr: BTreeMap<(u32, u32), Expr>,
}

impl Ways {
    fn add(&mut self, from: u32, to: u32, expr: Expr) {
        let both = match self.expr.remove(&(from, to)) {
            Some(other) => either(other, expr),
            None => expr,
        };
        self.expr.insert((from, to), both);
    }

    /// How many ways its elimination makes, and how long they are.
    fn entanglement(&self, state: u32) -> usize {
        let into = self.expr.iter().filter(|((from, to), _)| *to == state && *from != state).count();
        let out = self.expr.iter().filter(|((from, to), _)| *from == state && *to != state);
        let (count, size) = out.fold((0, 0), |(count, size), (_, expr)| (count + 1, size + parts(expr)));
        into * (count + size)
    }

    fn eliminate(&mut self, state: u32) {
        let around = self.expr.remove(&(state, state)).map(|expr| Expr::repeat(joined([expr].into_iter()), 0, None));
        let into: Vec<(u32, u32)> = self.expr.keys().filter(|(_, to)| *to == state).copied().collect();
        let out: Vec<(u32, u32)> = self.expr.keys().filter(|(from, _)| *from == state).copied().collect();
        let into: Vec<_> = into.iter().filter_map(|key| Some((key.0, self.expr.remove(key)?))).collect();
        let out: Vec<_> = out.iter().filter_map(|key| Some((key.1, self.expr.remove(key)?))).collect();
        for (from, before) in &into {
            for (to, after) in &out {
                let whole = [Some(before), around.as_ref(), Some(after)].into_iter().flatten().cloned();
                self.add(*from, *to, joined(whole));
            }
        }
    }

    fn parts(&self) -> usize {
        self.expr.values().map(parts).sum()
    }
}

fn parts(expr: &Expr) -> usize {
    match expr {
        Expr::Sequence(inner) | Expr::Choice(inner) => inner.iter().map(parts).sum(),
        Expr::Repeat { item, .. } => parts(item),
        _ => 1,
    }
}

/// One or the other; sets become one, and nothing at all makes the rest optional.
fn either(one: Expr, other: Expr) -> Expr {
    match (one, other) {
        (Expr::Set(one), Expr::Set(other)) => Expr::Set(one.union(&other)),
        (one, other) if is_nothing(&one) => optional(other),
        (one, other) if is_nothing(&other) => optional(one),
        (Expr::Choice(mut parts), other) => {
            parts.push(other);
            Expr::Choice(parts)
        }
        (one, other) => Expr::Choice(vec![one, other]),
    }
}

fn is_nothing(expr: &Expr) -> bool {
    matches!(expr, Expr::Sequence(parts) if parts.is_empty())
}

fn optional(expr: Expr) -> Expr {
    match expr {
        Expr::Repeat { min: 0, .. } => expr,
        expr if is_nothing(&expr) => expr,
        Expr::Repeat { item, min: 1, max } => Expr::Repeat { item, min: 0, max },
        expr => Expr::repeat(expr, 0, Some(1)),
    }
}

/// One after the other; `x x*` is `x+`, and characters side by side are a text.
fn joined(exprs: impl Iterator<Item = Expr>) -> Expr {
    let mut parts: Vec<Expr> = Vec::new();
    for expr in exprs {
        let flat = if let Expr::Sequence(inner) = expr { inner } else { vec![expr] };
        for part in flat {
            match (parts.last_mut(), part) {
                (Some(Expr::Text(text)), Expr::Set(set)) if set.len() == 1 => text.extend(character(&set)),
                (Some(Expr::Text(text)), Expr::Text(more)) => text.push_str(&more),
                (Some(last), Expr::Repeat { item, min: 0, max: None }) if *last == *item => {
                    *last = Expr::Repeat { item, min: 1, max: None };
                }
                (_, Expr::Set(set)) if set.len() == 1 && character(&set).is_some() => {
                    parts.push(Expr::Text(character(&set).into_iter().collect()));
                }
                (_, part) => parts.push(part),
            }
        }
    }
    Expr::sequence(parts)
}

fn character(set: &CharSet) -> Option<char> {
    set.nth(0).and_then(char::from_u32)
}
