//! Which nodes may become holes.

use crate::generate::words::has_choice;
use crate::grammar::Grammar;
use crate::pattern::{core, only_leaf};
use crate::tree::Tree;
use rustc_hash::FxHashMap;

/// A node that may become a hole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Place of the node.
    pub at: usize,
    /// Place of the node at which something is chosen: the same, or one below through rules with a single alternative of a
    /// single symbol, which derive the same and are not candidates of their own.
    pub core: usize,
    /// Whether no other candidate lies below it.
    pub leaf: bool,
}

/// The candidates in preorder: nodes with visible text (with `slots`, also empty ones) whose symbol has more than one word.
/// A keyword in other letters is the same keyword.
pub(super) fn candidates(grammar: &Grammar, tree: &Tree, slots: bool) -> Vec<Candidate> {
    let mut choice = FxHashMap::default();
    let mut found: Vec<Candidate> = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        let symbol = tree.node(at).symbol;
        let visible = !tree.lexeme(at).is_empty();
        // White space is varied, and no hole.
        let blank = visible && tree.lexeme(at).trim_ascii().is_empty();
        let wanted = visible && !blank || slots && !visible && grammar.is_nullable(symbol);
        let keyword =
            only_leaf(grammar, tree, at).is_some_and(|leaf| grammar.lexicon().is_keyword(tree.node(leaf).symbol));
        if !wanted || keyword || !*choice.entry(symbol).or_insert_with(|| has_choice(grammar, symbol)) {
            at += 1;
            continue;
        }
        let core = core(grammar, tree, at);
        found.push(Candidate { at, core, leaf: true });
        // What is inside an empty candidate is empty, too, and decided with it.
        at = if visible { core + 1 } else { tree.after(at) };
    }
    for place in 0..found.len() {
        let end = tree.after(found[place].at);
        found[place].leaf = found.get(place + 1).is_none_or(|next| next.at >= end);
    }
    found
}
