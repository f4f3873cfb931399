//! An algebra of patterns: which inputs contain this one and not that one, which pattern is a case of another, and grammars of
//! all inputs for which a condition on patterns holds.
//!
//! A pattern is a regular set of derivation trees, so a deterministic bottom-up tree automaton tells where some patterns occur
//! (`automaton`). Its product with the grammar (`product`), written as a grammar (`refine`), has a derivation for each derivation of
//! the grammar that meets the condition, and no other. The idea to combine failure patterns goes back to Gopinath, Nemati and
//! Zeller, "Input Algebras" (ICSE 2021); the construction is the textbook's, since theirs is not exact for negation and counts.
//!
//! Names that must be equal are beyond what an automaton can tell: they are checked where a tree is at hand ([`Matcher`]), and
//! a grammar leaves them open ([`Refined::is_exact`]).

mod automaton;
mod condition;
mod condition_reader;
mod instances;
mod matching;
mod product;
mod refine;
mod shape;
#[cfg(test)]
mod tests;
mod text;

pub use condition::{Condition, ConditionError, Feature};
pub use instances::Where;
pub use matching::{Matcher, NearMiss, Occurrence};
pub use text::{TextError, pattern_of};

use crate::grammar::{Grammar, GrammarError};
use crate::pattern::Pattern;
use automaton::Automaton;
use product::Product;
use shape::Shapes;
use std::collections::BTreeSet;

/// A grammar of the inputs that meet a condition.
#[derive(Clone, Debug)]
pub struct Refined {
    /// It, in our notation.
    pub source: String,
    /// Whether all its inputs meet the condition. If not, tied names have to be checked: some meet it only in their shape.
    pub is_exact: bool,
    /// How many states the automaton came to.
    pub states: usize,
}

/// Why there is no refined grammar.
#[derive(Debug, thiserror::Error)]
pub enum RefineError {
    /// The patterns are not of the grammar.
    #[error("the patterns are of different grammars: make them with the same one")]
    Grammars,
    /// No input meets the condition.
    #[error("no input of the grammar meets the condition")]
    Empty,
    /// What was written cannot be read again.
    #[error("the refined grammar cannot be read: {0}")]
    Unreadable(#[from] GrammarError),
}

/// The grammar of all inputs of a grammar that meet a condition on patterns of it.
///
/// # Errors
/// See [`RefineError`].
pub fn refine(grammar: &Grammar, patterns: &[&Pattern], condition: &Condition) -> Result<Refined, RefineError> {
    if patterns.iter().any(|pattern| pattern.grammar.source() != grammar.source()) {
        return Err(RefineError::Grammars);
    }
    let shapes = Shapes::of(patterns.iter().copied());
    let vague = |pattern: usize| shapes.ties.get(pattern).is_some_and(|ties| !ties.is_empty());
    let is_exact = !condition.features().iter().any(|feature| match *feature {
        Feature::Count(pattern) => vague(pattern),
        Feature::Inside(a, b) | Feature::Before(a, b) => vague(a) || vague(b),
    });
    let condition = if is_exact { condition.clone() } else { condition.loosened(&vague) };
    let product = Product::new(grammar, Automaton::new(shapes, &[&condition]), &condition);
    let start = grammar.start();
    let accepted: BTreeSet<u32> = product.states[start.index()]
        .iter()
        .filter(|state| product.accepts(**state, &condition))
        .filter_map(|state| product.classes[start.index()].get(state).copied())
        .collect();
    let states = product.automaton.len();
    let source = refine::written(&product, &accepted).ok_or(RefineError::Empty)?;
    Ok(Refined { source, is_exact, states })
}
