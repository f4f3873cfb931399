//! Patterns as shapes: what a place of a derivation tree must look like.
//!
//! A pattern is an input; what is looked for elsewhere is its *core*, the lowest node that has all of its text. White space is no
//! part of a shape.

use crate::grammar::{Grammar, SymbolId};
use crate::pattern::{Condition, Filling, Pattern};
use crate::tree::Tree;

/// A node of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Any derivation of the symbol.
    Hole(SymbolId),
    /// A leaf with this text.
    Leaf(SymbolId, Vec<u8>),
    /// An inner node. Each child must look like one of the shapes of its slot.
    Node { symbol: SymbolId, alternative: u32, slots: Vec<Vec<usize>> },
}

impl Shape {
    pub(super) fn symbol(&self) -> SymbolId {
        match self {
            Shape::Hole(symbol) | Shape::Leaf(symbol, _) | Shape::Node { symbol, .. } => *symbol,
        }
    }
}

/// The shapes of some patterns, in one arena.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    pub nodes: Vec<Shape>,
    /// For each pattern, what its root must look like one of.
    pub roots: Vec<Vec<usize>>,
    /// For each pattern, the groups of holes whose texts must be the same.
    pub ties: Vec<Vec<Vec<usize>>>,
    /// For each pattern, holes and what else must hold of the text there.
    pub conditions: Vec<Vec<(usize, Condition)>>,
}

impl Shapes {
    pub(super) fn of<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Shapes {
        let mut shapes = Shapes::default();
        patterns.into_iter().for_each(|pattern| shapes.add(pattern));
        shapes
    }

    fn add(&mut self, pattern: &Pattern) {
        let tree = &pattern.tree;
        let core = core(pattern);
        let mut slots: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
        let mut ties: Vec<Vec<usize>> = vec![Vec::new(); pattern.holes.len()];
        let mut conditions = Vec::new();
        // From the last node to the first: what is in a node comes before it.
        let inside = covered(pattern);
        for at in tree.subtree(core).rev().filter(|at| !inside[*at]) {
            let node = tree.node(at);
            slots[at] = match pattern.hole_at(at).map(|hole| (hole, &pattern.holes[hole].filling)) {
                Some((_, Filling::OneOf(words))) => {
                    words.iter().map(|word| self.tree(&pattern.grammar, word)).collect()
                }
                Some((hole, filling)) => {
                    let id = self.push(Shape::Hole(node.symbol));
                    // A name and its copy in quotes are no equal texts.
                    if *filling == Filling::Same && pattern.holes[hole].copies.is_empty() {
                        ties[hole].push(id);
                    }
                    conditions.extend(pattern.holes[hole].condition.clone().map(|condition| (id, condition)));
                    vec![id]
                }
                None => {
                    let children = tree.children(at).map(|child| std::mem::take(&mut slots[child])).collect();
                    vec![self.node(&pattern.grammar, tree, at, children)]
                }
            };
        }
        self.roots.push(std::mem::take(&mut slots[core]));
        ties.retain(|tie| tie.len() > 1);
        self.ties.push(ties);
        self.conditions.push(conditions);
    }

    /// A tree without holes.
    fn tree(&mut self, grammar: &Grammar, tree: &Tree) -> usize {
        let mut made: Vec<usize> = vec![0; tree.len()];
        for at in tree.subtree(0).rev() {
            let slots = tree.children(at).map(|child| vec![made[child]]).collect();
            made[at] = self.node(grammar, tree, at, slots);
        }
        made[0]
    }

    fn node(&mut self, grammar: &Grammar, tree: &Tree, at: usize, slots: Vec<Vec<usize>>) -> usize {
        let symbol = tree.node(at).symbol;
        self.push(match grammar.is_leaf(symbol) {
            // It has one text, in one case or another.
            true if grammar.is_literal(symbol) => Shape::Hole(symbol),
            true => Shape::Leaf(symbol, tree.lexeme(at).to_vec()),
            false => Shape::Node { symbol, alternative: tree.node(at).alternative, slots },
        })
    }

    fn push(&mut self, shape: Shape) -> usize {
        self.nodes.push(shape);
        self.nodes.len() - 1
    }
}

/// The lowest node that has all of the pattern's text: it is what is looked for in other inputs.
pub(super) fn core(pattern: &Pattern) -> usize {
    let tree = &pattern.tree;
    let mut at = 0;
    while pattern.hole_at(at).is_none() {
        let mut with_text = tree.children(at).filter(|child| !tree.lexeme(*child).is_empty());
        match (with_text.next(), with_text.next()) {
            // An empty hole beside it may have text in other inputs.
            (Some(only), None) if tree.children(at).all(|c| c == only || pattern.hole_at(c).is_none()) => at = only,
            _ => break,
        }
    }
    at
}

/// Which nodes are below a hole.
fn covered(pattern: &Pattern) -> Vec<bool> {
    let mut covered = vec![false; pattern.tree.len()];
    for member in pattern.holes.iter().flat_map(|hole| &hole.members) {
        for at in pattern.tree.subtree(*member).skip(1) {
            covered[at] = true;
        }
    }
    covered
}
