//! Which parts of an input have several derivations, and how many derivations it has.

use super::ParseError;
use super::build::{Builder, Part};
use crate::grammar::SymbolId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A node of a tree for which there is another derivation of the same symbol over the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// The symbol.
    pub symbol: SymbolId,
    /// The bytes of its text.
    pub span: Range<usize>,
    /// The derivation step that the tree has.
    pub taken: Step,
    /// The one that would be taken next.
    pub other: Step,
}

/// One step of a derivation: an alternative, and how the text is divided among its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The alternative of a choice; 0 for others.
    pub alternative: u32,
    /// The parts, each with the bytes of its text.
    pub parts: Vec<(SymbolId, Range<usize>)>,
}

/// What is counted: derivations of a part, or ways to come to a state at a place from where the derivation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Counted {
    Part(Part),
    Way { state: u32, from: u32, to: u32 },
}

/// A sum of products in the making.
struct Sum {
    of: Counted,
    terms: Vec<[Option<Counted>; 2]>,
}

/// How many derivations a part has, as many as can be counted; `None` if there is no end of them. Empty texts have one.
pub(super) fn count(builder: &mut Builder, part: Part) -> Result<Option<u128>, ParseError> {
    let whole = Counted::Part(part);
    // What is not known is being counted: if it is needed for itself, it goes round in a circle.
    let mut counts: FxHashMap<Counted, Option<u128>> = FxHashMap::from_iter([(whole, None)]);
    let mut open = vec![Sum { of: whole, terms: terms(builder, whole)? }];
    while let Some(sum) = open.last() {
        let factors = || sum.terms.iter().flatten().flatten();
        if let Some(&next) = factors().find(|factor| !counts.contains_key(factor)) {
            counts.insert(next, None);
            open.push(Sum { of: next, terms: terms(builder, next)? });
            continue;
        }
        let known = |factor: &Option<Counted>| factor.map_or(Some(1), |factor| counts.get(&factor).copied().flatten());
        let mut total = 0_u128;
        for [left, right] in &sum.terms {
            let (Some(left), Some(right)) = (known(left), known(right)) else { return Ok(None) };
            total = total.saturating_add(left.saturating_mul(right));
        }
        counts.insert(sum.of, Some(total));
        open.pop();
    }
    Ok(counts.get(&whole).copied().flatten())
}

fn terms(builder: &mut Builder, of: Counted) -> Result<Vec<[Option<Counted>; 2]>, ParseError> {
    match of {
        Counted::Part(Part { symbol, from, to }) => {
            if from == to || builder.flat.is_leaf(symbol) {
                return Ok(vec![[None, None]]);
            }
            builder.recognized.reveal(to, symbol)?;
            let ends = builder.recognized.chart.derivations(from, to, symbol);
            Ok(ends.iter().map(|end| [Some(Counted::Way { state: end.state, from, to }), None]).collect())
        }
        Counted::Way { state, from, to } => {
            if builder.flat.before(state).next().is_none() {
                return Ok(vec![[None, None]]);
            }
            builder.reveal(state, to)?;
            let mut terms = Vec::new();
            builder.last_parts(from, state, to, |(before, part)| {
                let way = Counted::Way { state: before, from, to: part.from };
                terms.push([Some(way), Some(Counted::Part(part))]);
                false
            });
            Ok(terms)
        }
    }
}
