//! Which parts of a grammar some trees use, and which they never do.

use super::Tree;
use crate::grammar::{Grammar, Kind, SymbolId};
use rustc_hash::FxHashSet;

/// How often trees took each alternative of a grammar, and each optional part.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// For each symbol, how often each of its alternatives was taken; for what may be left out, how often it was there.
    counts: Vec<Vec<u64>>,
}

/// What there is to take in one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCoverage {
    /// The rule's name.
    pub rule: String,
    /// How often the rule was used.
    pub used: u64,
    /// Its choices, in the order in which they are written.
    pub choices: Vec<ChoiceCoverage>,
}

/// An alternative or an optional part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceCoverage {
    /// How it is written in the grammar.
    pub label: String,
    /// How often it was taken.
    pub count: u64,
}

impl Coverage {
    /// Of no tree yet.
    pub fn new(grammar: &Grammar) -> Self {
        Coverage { counts: grammar.ids().map(|id| vec![0; grammar.alternatives(id) as usize]).collect() }
    }

    /// Counts a tree in. An optional part counts where it is there.
    pub fn add(&mut self, grammar: &Grammar, tree: &Tree) {
        for node in tree.nodes() {
            let left_out = matches!(grammar.kind(node.symbol), Kind::Repeat { .. }) && node.size == 1;
            if !left_out && let Some(count) = self.counts[node.symbol.index()].get_mut(node.alternative as usize) {
                *count += 1;
            }
        }
    }

    /// Counts in what another has counted.
    pub fn merge(&mut self, other: &Coverage) {
        let pairs = self.counts.iter_mut().flatten().zip(other.counts.iter().flatten());
        pairs.for_each(|(own, other)| *own += other);
    }

    /// All rules that a tree can have as inner nodes or tokens, in the order of the grammar. What is without a name is told
    /// with the first rule that it stands in.
    pub fn rules(&self, grammar: &Grammar) -> Vec<RuleCoverage> {
        let mut told = FxHashSet::default();
        let reachable = reachable(grammar);
        let rules = grammar.rules().filter(|(_, id)| reachable.contains(id));
        rules
            .map(|(name, id)| {
                let used = self.counts[id.index()].iter().sum();
                RuleCoverage { rule: name.to_owned(), used, choices: self.choices(grammar, id, &mut told) }
            })
            .collect()
    }

    fn choices(&self, grammar: &Grammar, rule: SymbolId, told: &mut FxHashSet<SymbolId>) -> Vec<ChoiceCoverage> {
        let mut found = Vec::new();
        // Each with whether it is all of an alternative, which is told already.
        let mut open = vec![(rule, false)];
        while let Some((id, told_already)) = open.pop() {
            if grammar.is_leaf(id) || !told.insert(id) {
                continue;
            }
            let counts = &self.counts[id.index()];
            match grammar.kind(id) {
                Kind::Choice(alternatives) if alternatives.len() > 1 => {
                    let label = |parts: &Vec<SymbolId>| match parts.as_slice() {
                        [] => "\"\"".to_owned(),
                        parts => parts.iter().map(|part| grammar.label(*part)).collect::<Vec<_>>().join(" "),
                    };
                    let choice = |(parts, count): (_, &u64)| ChoiceCoverage { label: label(parts), count: *count };
                    found.extend(alternatives.iter().zip(counts).map(choice));
                }
                Kind::Repeat { min: 0, .. } if !told_already => {
                    found.push(ChoiceCoverage { label: grammar.label(id), count: counts[0] });
                }
                _ => {}
            }
            let alone = |part: &SymbolId| match grammar.kind(id) {
                Kind::Choice(alternatives) if alternatives.len() > 1 => {
                    alternatives.iter().any(|parts| parts == &[*part])
                }
                _ => false,
            };
            let parts = grammar.kind(id).parts().into_iter().rev();
            let anonymous = parts.filter(|part| grammar.symbol(*part).name.is_none());
            open.extend(anonymous.map(|part| (part, alone(&part))));
        }
        found
    }
}

/// The symbols that nodes of a tree can have.
fn reachable(grammar: &Grammar) -> FxHashSet<SymbolId> {
    let mut seen = FxHashSet::default();
    let mut open = vec![grammar.start()];
    while let Some(id) = open.pop() {
        if seen.insert(id) && !grammar.is_leaf(id) {
            open.extend(grammar.kind(id).parts());
        }
    }
    seen
}
