//! Least contexts: the cheapest way to derive, from one symbol, another with something around it.
//!
//! With S ⇒ u X v a part X of a node S can stand for the whole: a statement becomes `EXPR;`, a program the statement of
//! an expression deep inside it. The search is Dijkstra's over the symbols, an edge costing the least texts of all other
//! parts. It runs once for each symbol that is asked for, without any oracle run.

use crate::grammar::{Grammar, Kind, SymbolId};
use crate::tree::{Builder, NodeId, Tree, least};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// A least context: a fragment of S in which one node, the hole, is the least X.
pub(super) struct Context {
    fragment: Tree,
    hole: usize,
    /// Bytes around the hole.
    around: usize,
}

impl Context {
    /// How many bytes it adds to what is put into it.
    pub(super) fn around(&self) -> usize {
        self.around
    }

    /// The fragment with `inner`, a fragment of X, in the hole.
    pub(super) fn fill(&self, grammar: &Grammar, inner: &Tree) -> Tree {
        self.fragment.replace(grammar.lexicon(), &[(self.hole, inner)])
    }
}

/// How a symbol was reached.
#[derive(Clone, Copy)]
struct Step {
    cost: u64,
    from: SymbolId,
    alternative: u32,
    part: u32,
}

/// All least contexts of a grammar, found when they are asked for.
#[derive(Clone)]
pub(super) struct Contexts<'g> {
    grammar: &'g Grammar,
    from: FxHashMap<SymbolId, Rc<Vec<Option<Step>>>>,
    pairs: FxHashMap<(SymbolId, SymbolId), Option<Rc<Context>>>,
}

impl<'g> Contexts<'g> {
    pub(super) fn new(grammar: &'g Grammar) -> Self {
        Contexts { grammar, from: FxHashMap::default(), pairs: FxHashMap::default() }
    }

    /// The least context of `inner` in `outer`, if `outer` can derive one. For equal symbols nothing stands around it.
    pub(super) fn of(&mut self, outer: SymbolId, inner: SymbolId) -> Option<Rc<Context>> {
        if let Some(found) = self.pairs.get(&(outer, inner)) {
            return found.clone();
        }
        let steps = self.steps(outer);
        let context = self.build(&steps, outer, inner).map(Rc::new);
        self.pairs.insert((outer, inner), context.clone());
        context
    }

    fn steps(&mut self, outer: SymbolId) -> Rc<Vec<Option<Step>>> {
        let grammar = self.grammar;
        self.from.entry(outer).or_insert_with(|| Rc::new(shortest(grammar, outer))).clone()
    }

    fn build(&self, steps: &[Option<Step>], outer: SymbolId, inner: SymbolId) -> Option<Context> {
        let mut path = Vec::new();
        let mut at = inner;
        while at != outer {
            let step = steps[at.index()]?;
            path.push(step);
            at = step.from;
        }
        path.reverse();
        let mut builder = Builder::default();
        let mut rest: Vec<Vec<SymbolId>> = Vec::with_capacity(path.len());
        for step in &path {
            let parts = self.parts(step);
            builder.open(step.from, step.alternative);
            let (before, after) = parts.split_at(step.part as usize);
            before.iter().for_each(|part| builder.graft(&least(self.grammar, *part)));
            rest.push(after.get(1..).unwrap_or_default().to_vec());
        }
        let hole = builder.len();
        builder.graft(&least(self.grammar, inner));
        while let Some(parts) = rest.pop() {
            parts.iter().for_each(|part| builder.graft(&least(self.grammar, *part)));
            builder.close();
        }
        let fragment = builder.fragment().tight(self.grammar);
        let around = fragment.text().len() - fragment.lexeme(hole).len();
        Some(Context { fragment, hole, around })
    }

    /// The parts of a step, of a repetition as few items as it allows, but one.
    fn parts(&self, step: &Step) -> Vec<SymbolId> {
        match self.grammar.kind(step.from) {
            Kind::Repeat { item, separator, min, .. } => {
                let mut parts = vec![*item];
                for _ in 1..*min {
                    parts.extend(separator);
                    parts.push(*item);
                }
                parts
            }
            _ => self.grammar.alternative(step.from, step.alternative).to_vec(),
        }
    }
}

/// The last step to each symbol on the cheapest way from `outer`. Ties keep what was found first: the earlier
/// alternative, the earlier part.
fn shortest(grammar: &Grammar, outer: SymbolId) -> Vec<Option<Step>> {
    let mut best: Vec<Option<Step>> = vec![None; grammar.len()];
    let mut done = vec![false; grammar.len()];
    let mut open = BinaryHeap::from([Reverse((0u64, outer))]);
    while let Some(Reverse((cost, symbol))) = open.pop() {
        if std::mem::replace(&mut done[symbol.index()], true) || grammar.is_leaf(symbol) {
            continue;
        }
        let mut reach = |to: SymbolId, extra: u64, alternative: u32, part: u32| {
            let cost = cost + extra;
            if to != outer && best[to.index()].is_none_or(|known| cost < known.cost) {
                best[to.index()] = Some(Step { cost, from: symbol, alternative, part });
                open.push(Reverse((cost, to)));
            }
        };
        let price = |part: &SymbolId| u64::from(grammar.least_cost(*part));
        match grammar.kind(symbol) {
            Kind::Choice(alternatives) => {
                for (alternative, parts) in (0..).zip(alternatives) {
                    let all: u64 = parts.iter().map(price).sum();
                    (0..).zip(parts).for_each(|(number, part)| reach(*part, all - price(part), alternative, number));
                }
            }
            Kind::Repeat { item, separator, min, .. } => {
                let more = u64::from(min.saturating_sub(1));
                reach(*item, more * (price(item) + separator.as_ref().map_or(0, price)), 0, 0);
            }
            Kind::Literal(_) | Kind::Set(_) => {}
        }
    }
    best
}

/// A copy of a subtree whose nodes have no identity yet.
pub(super) fn anew(grammar: &Grammar, tree: &Tree, at: usize) -> Tree {
    let mut builder = Builder::default();
    let mut ends: Vec<usize> = Vec::new();
    for place in tree.subtree(at) {
        while ends.pop_if(|end| *end <= place).is_some() {
            builder.close();
        }
        let node = tree.node(place);
        if grammar.is_leaf(node.symbol) {
            let (trivia, lexeme) = tree.text_of(place).split_at(node.trivia as usize);
            builder.leaf(node.symbol, trivia, lexeme);
        } else {
            builder.open(node.symbol, node.alternative);
            ends.push(tree.after(place));
        }
    }
    ends.iter().for_each(|_| builder.close());
    let fragment = builder.fragment();
    debug_assert!(fragment.nodes().iter().all(|node| node.id == NodeId::NEW));
    fragment
}
