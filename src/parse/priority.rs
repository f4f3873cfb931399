//! Priority and associativity, compiled into the rules.
//!
//! Of a rule with [`Operator`]s there are copies, which differ in what may stand at their ends. Of two operators that stand
//! side by side, the first open to its right and the second open to its left, either the second is a part of the first
//! one's right operand or the first of the second one's left operand: the higher level is the part; at equal levels the
//! first one's associativity decides, and if either has none there is no derivation. Operands are bound at both ends down
//! to any depth (`a * -b + c` with a weak minus is `a * -(b + c)`), so that each text has the one grouping that the levels
//! give (Afroozeh, van den Brand and others, "Safe Specification of Operator Precedence Rules", 2013), and every text of
//! the ambiguous rule has one.
//!
//! Copies with equal alternatives are one. A copy that has all that another has awaits the other in place of these:
//! that is what a person would write as layers, and costs as much.

use crate::grammar::{Associativity, Grammar, Kind, Operator, SymbolId};
use rustc_hash::FxHashMap;

/// In place of an alternative: the derivation is that of another copy, and no node stands for the step.
pub(super) const HIDDEN: u32 = u32::MAX;

/// An alternative's number and parts. Parts are symbols of the grammar, or copies, which are numbered after these.
pub(super) type Body = (u32, Vec<u32>);

/// The copies of all rules with operators.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// For each copy, the rule that it is a copy of.
    pub of: Vec<SymbolId>,
    /// The alternatives of the rules themselves, and of their copies.
    pub bodies: Vec<(u32, Vec<Body>)>,
}

impl Copies {
    pub(super) fn new(grammar: &Grammar) -> Self {
        let mut copies = Copies::default();
        for id in grammar.ids().filter(|id| !grammar.symbol(*id).operators.is_empty() && !grammar.is_leaf(*id)) {
            if let Kind::Choice(alternatives) = grammar.kind(id) {
                copies.add(id, alternatives, &grammar.symbol(id).operators, grammar.len());
            }
        }
        copies
    }

    fn add(&mut self, rule: SymbolId, alternatives: &[Vec<SymbolId>], operators: &[Option<Operator>], symbols: usize) {
        let operators: Vec<Ends> =
            alternatives.iter().zip(operators).map(|(parts, operator)| Ends::of(rule, parts, *operator)).collect();
        let classes = classes(&operators);
        let first = (symbols + self.of.len()) as u32;
        let number = |class: usize| if class == 0 { rule.0 } else { first + class as u32 - 1 };
        for (class, allowed) in classes.iter().enumerate() {
            let inner = inner(&classes, class);
            let shared = inner.map_or(&[][..], |inner| &classes[inner]);
            let own = allowed.iter().filter(|allowed| !shared.contains(allowed));
            let body = |allowed: &Allowed| {
                let mut parts: Vec<u32> = alternatives[allowed.alternative].iter().map(|part| part.0).collect();
                if let (Some(left), Some(part)) = (allowed.left, parts.first_mut()) {
                    *part = number(left);
                }
                if let (Some(right), Some(part)) = (allowed.right, parts.last_mut()) {
                    *part = number(right);
                }
                (allowed.alternative as u32, parts)
            };
            let hidden = inner.map(|inner| (HIDDEN, vec![number(inner)]));
            self.bodies.push((number(class), own.map(body).chain(hidden).collect()));
        }
        self.of.extend(classes.iter().skip(1).map(|_| rule));
    }
}

/// What an operand may have at its ends: the least [`Ends::left`] and [`Ends::right`] on the way down its left and right side.
type Bounds = (u32, u32);

/// An alternative at its ends, in numbers that compare. Level and associativity are folded into one, two steps a level.
#[derive(Clone, Copy)]
struct Ends {
    /// If it begins with its rule, how well it resists an operator before it, and what it demands of its left operand.
    left: Option<(u32, u32)>,
    /// If it ends with its rule, how well it resists an operator after it, and what it demands of its right operand.
    right: Option<(u32, u32)>,
    /// It is the rule itself: what no tree needs.
    vain: bool,
}

impl Ends {
    fn of(rule: SymbolId, parts: &[SymbolId], operator: Option<Operator>) -> Self {
        let vain = parts == [rule];
        let Some(Operator { level, associativity }) = operator else { return Ends { left: None, right: None, vain } };
        let base = 2 * level;
        let (resists_left, resists_right, demands_left, demands_right) = match associativity {
            Associativity::Left => (base + 1, base + 1, base + 1, base + 2),
            Associativity::Right => (base + 1, base, base + 1, base + 1),
            Associativity::None => (base, base, base + 2, base + 2),
        };
        let own = |part: Option<&SymbolId>| part == Some(&rule);
        Ends {
            left: own(parts.first()).then_some((resists_left, demands_left)),
            right: own(parts.last()).then_some((resists_right, demands_right)),
            vain,
        }
    }

    fn fits(&self, (left, right): Bounds) -> bool {
        !self.vain && self.left.is_none_or(|end| end.0 >= left) && self.right.is_none_or(|end| end.0 >= right)
    }
}

/// An alternative of a copy, with the copies that stand at its ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Allowed {
    alternative: usize,
    left: Option<usize>,
    right: Option<usize>,
}

/// The copies that are needed, the rule itself first: for each, its alternatives.
fn classes(operators: &[Ends]) -> Vec<Vec<Allowed>> {
    let mut numbers: FxHashMap<Bounds, usize> = FxHashMap::from_iter([((0, 0), 0)]);
    let mut found = vec![(0, 0)];
    let mut rows: Vec<Vec<Allowed>> = Vec::new();
    while let Some(&bounds) = found.get(rows.len()) {
        let mut number = |bounds: Bounds| {
            *numbers.entry(bounds).or_insert_with(|| {
                found.push(bounds);
                found.len() - 1
            })
        };
        let allowed = operators.iter().enumerate().filter(|(_, ends)| ends.fits(bounds));
        let row = allowed.map(|(alternative, ends)| Allowed {
            alternative,
            left: ends.left.map(|(_, demands)| number((bounds.0, demands))),
            right: ends.right.map(|(_, demands)| number((demands, bounds.1))),
        });
        rows.push(row.collect());
    }
    merge(&rows)
}

/// Makes one of those that differ in nothing, not even in what they lead to (partition refinement).
fn merge(rows: &[Vec<Allowed>]) -> Vec<Vec<Allowed>> {
    let mut class = vec![0; rows.len()];
    let mut count = 0;
    loop {
        let in_classes = |row: &Vec<Allowed>| -> Vec<Allowed> {
            let class = |to: Option<usize>| to.map(|to| class[to]);
            row.iter().map(|a| Allowed { left: class(a.left), right: class(a.right), ..*a }).collect()
        };
        let mut numbers: FxHashMap<Vec<Allowed>, usize> = FxHashMap::default();
        let mut merged = Vec::new();
        let refined: Vec<usize> = rows
            .iter()
            .map(in_classes)
            .map(|row| {
                *numbers.entry(row.clone()).or_insert_with(|| {
                    merged.push(row);
                    merged.len() - 1
                })
            })
            .collect();
        let settled = refined == class;
        class = refined;
        if settled && merged.len() == count {
            return merged;
        }
        count = merged.len();
    }
}

/// The largest copy of which all alternatives are among those of another.
fn inner(classes: &[Vec<Allowed>], of: usize) -> Option<usize> {
    // Both are in the order of alternatives.
    let has = |allowed: &Allowed| {
        let found = classes[of].binary_search_by_key(&allowed.alternative, |other| other.alternative);
        found.is_ok_and(|at| classes[of][at] == *allowed)
    };
    let smaller = |class: &usize| !classes[*class].is_empty() && classes[*class].len() < classes[of].len();
    let within = |class: &usize| smaller(class) && classes[*class].iter().all(has);
    (0..classes.len()).filter(within).max_by_key(|class| classes[*class].len())
}
