//! The state that all passes share: the best tree so far, and the one way to better it.

use super::context::Contexts;
use super::order::simpler;
use super::prediction::Insufficient;
use super::replacement::Replacements;
use super::view::View;
use crate::grammar::{Grammar, Kind};
use crate::oracle::Outcome;
use crate::search::{Search, Stop};
use crate::tree::{NodeId, Tree};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// How many nodes may be visited between two runs. Candidates that are known or predicted cost no run, but a visit of each
/// node; deep trees have a quadratic number of them. This is some seconds.
const PATIENCE: u64 = 200_000_000;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Space,
    Hoist,
    List,
    Least,
    Token,
    Sweep,
}

impl Pass {
    fn name(self) -> &'static str {
        match self {
            Pass::Space => "white space",
            Pass::Hoist => "hoist",
            Pass::List => "list",
            Pass::Least => "least",
            Pass::Token => "tokens",
            Pass::Sweep => "sweep",
        }
    }
}

/// How a node can be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A rule or a choice: replaced, or something below it put in its place.
    Rule,
    /// A repetition that has items.
    List,
    /// An option that is taken.
    Option,
    /// A token, or a single character of a set.
    Token,
    /// None of these.
    Fixed,
}

pub(super) struct Work<'r, 'o> {
    pub grammar: &'r Grammar,
    pub search: &'r mut Search<'o>,
    pub tree: Tree,
    pub view: View,
    /// Counts the accepted trees.
    pub version: u64,
    /// Length of the text at the begin.
    pub original: usize,
    pub contexts: Contexts<'r>,
    pub replacements: Replacements<'r>,
    pub insufficient: Insufficient,
    /// Tokens whose least text was tried alone, in vain.
    pub needed: FxHashSet<NodeId>,
    /// How many nodes were visited since the last run.
    idle: u64,
}

impl<'r, 'o> Work<'r, 'o> {
    pub(super) fn new(grammar: &'r Grammar, tree: Tree, search: &'r mut Search<'o>) -> Self {
        Work {
            grammar,
            search,
            view: View::of(&tree),
            version: 0,
            original: tree.text().len(),
            contexts: Contexts::new(grammar),
            replacements: Replacements::new(grammar, &tree),
            insufficient: Insufficient::default(),
            needed: FxHashSet::default(),
            idle: 0,
            tree,
        }
    }

    /// Tries a candidate, and takes it if it fails. One run at most; none if it is not strictly simpler, or known, or, for
    /// lists and hoists, predicted not to fail.
    pub(super) fn attempt(&mut self, pass: Pass, candidate: Tree) -> Result<bool, Stop> {
        self.visit(candidate.len());
        if !simpler(candidate.text(), self.tree.text()) {
            return Ok(false);
        }
        if matches!(pass, Pass::List | Pass::Hoist)
            && self.search.known(candidate.text()).is_none()
            && self.insufficient.predicts(&candidate, &self.tree)
        {
            return Ok(false);
        }
        self.search.enter(pass.name());
        let runs = self.search.runs();
        let outcome = self.search.test(candidate.text())?;
        if self.search.runs() > runs {
            self.idle = 0;
        }
        if outcome == Outcome::Fail {
            // Taken first: it must not be lost if no one can be told of it.
            self.view = View::of(&candidate);
            self.tree = candidate;
            self.version += 1;
            self.search.improved(self.tree.text());
            return Ok(true);
        }
        // That a replacement does not fail says nothing of a deletion: only what takes away is noted.
        if matches!(pass, Pass::List | Pass::Hoist | Pass::Sweep) {
            self.insufficient.add(&candidate, &self.tree);
        }
        Ok(false)
    }

    /// Notes that so many nodes were visited.
    pub(super) fn visit(&mut self, nodes: usize) {
        self.idle += nodes as u64;
    }

    /// Begins to count anew.
    pub(super) fn rest(&mut self) {
        self.idle = 0;
    }

    /// Whether so much was computed since the last run that a pass should give up, deterministically.
    pub(super) fn is_weary(&self) -> bool {
        self.idle > PATIENCE
    }

    pub(super) fn shape(&self, at: usize) -> Shape {
        let node = self.tree.node(at);
        match self.grammar.kind(node.symbol) {
            _ if self.grammar.is_literal(node.symbol) => Shape::Fixed,
            _ if self.grammar.is_leaf(node.symbol) => Shape::Token,
            Kind::Literal(_) | Kind::Set(_) => Shape::Fixed,
            Kind::Repeat { .. } if node.size == 1 => Shape::Fixed,
            Kind::Repeat { min: 0, max: Some(1), .. } => Shape::Option,
            Kind::Repeat { .. } => Shape::List,
            Kind::Choice(_) if self.replacements.has_any(node.symbol) => Shape::Rule,
            Kind::Choice(_) => Shape::Fixed,
        }
    }

    /// A repetition's items as places, and the least count that it may have.
    pub(super) fn items(&self, at: usize) -> (Vec<usize>, usize) {
        match self.grammar.kind(self.tree.node(at).symbol) {
            Kind::Repeat { separator, min, .. } => {
                let step = if separator.is_some() { 2 } else { 1 };
                (self.tree.children(at).step_by(step).collect(), *min as usize)
            }
            _ => (Vec::new(), 0),
        }
    }

    /// The tree without the items of a repetition that `drop` names.
    pub(super) fn without(&self, list: usize, drop: impl Fn(NodeId) -> bool) -> Tree {
        let (items, _) = self.items(list);
        let keep = |index: usize| !items.get(index).is_some_and(|item| drop(self.tree.node(*item).id));
        let fragment = self.tree.with_items(self.grammar, list, keep);
        self.put(list, &fragment)
    }

    /// The tree with a fragment in the place of a node.
    pub(super) fn put(&self, at: usize, fragment: &Tree) -> Tree {
        self.tree.replace(self.grammar.lexicon(), &[(at, fragment)])
    }

    /// The tree with a part of a node in the node's place, in its least context there; `None` if it cannot stand there.
    pub(super) fn hoisted(&mut self, at: usize, part: usize) -> Option<Tree> {
        let (outer, inner) = (self.tree.node(at).symbol, self.tree.node(part).symbol);
        let fragment = self.tree.fragment(part);
        if outer == inner {
            return Some(self.put(at, &fragment));
        }
        let context = self.contexts.of(outer, inner)?;
        Some(self.put(at, &context.fill(self.grammar, &fragment)))
    }

    /// The fragment to try first in place of a node, if there is a shorter one.
    pub(super) fn replacement(&mut self, at: usize) -> Option<Rc<Tree>> {
        let symbol = self.tree.node(at).symbol;
        if !self.replacements.has_any(symbol) {
            return None;
        }
        self.replacements.first(symbol, self.view.length(at))
    }
}
