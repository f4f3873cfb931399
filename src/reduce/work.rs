//! The state that all passes share: the best tree so far, and the one way to better it.

use super::context::Contexts;
use super::order::simpler;
use super::prediction::Insufficient;
use super::replacement::Replacements;
use super::schedule::{self, Schedule};
use super::view::View;
use crate::grammar::{Grammar, Kind};
use crate::oracle::Outcome;
use crate::search::{Ahead, Lent, Mark, Search, Stop};
use crate::tree::{NodeId, Tree};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// How many nodes may be visited between two runs. Candidates that are known or predicted cost no run, but a visit of each
/// node; deep trees have a quadratic number of them. This is some seconds.
const PATIENCE: u64 = 200_000_000;
/// The same for what only looks ahead: a small part of a second.
const SCOUTS_PATIENCE: u64 = 2_000_000;

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

#[derive(Clone)]
pub(super) struct Work<'r, 'o> {
    pub grammar: &'r Grammar,
    pub search: Lent<'r, 'o>,
    pub tree: Rc<Tree>,
    pub view: Rc<View>,
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
    /// How many may be.
    patience: u64,
    /// The last clean point.
    kept: Option<Rc<Kept<'r, 'o>>>,
}

/// The state at a clean point: all that follows is determined by it and by outcomes.
struct Kept<'r, 'o> {
    mark: Mark,
    work: Work<'r, 'o>,
    schedule: Schedule,
}

impl<'r, 'o> Work<'r, 'o> {
    pub(super) fn new(grammar: &'r Grammar, tree: Tree, search: &'r mut Search<'o>) -> Self {
        Work {
            grammar,
            search: Lent::new(search),
            view: Rc::new(View::of(&tree)),
            version: 0,
            original: tree.text().len(),
            contexts: Contexts::new(grammar),
            replacements: Replacements::new(grammar, &tree),
            insufficient: Insufficient::default(),
            needed: FxHashSet::default(),
            idle: 0,
            patience: PATIENCE,
            kept: None,
            tree: Rc::new(tree),
        }
    }

    /// Keeps the state, from which a scout can go on, unless no run was done since that was last done.
    pub(super) fn keep(&mut self, schedule: &Schedule) {
        let mark = self.search.mark();
        if self.search.looks_ahead() && self.kept.as_ref().is_none_or(|kept| kept.mark != mark) {
            self.kept = None;
            let work = Work { patience: SCOUTS_PATIENCE, ..self.clone() };
            self.kept = Some(Rc::new(Kept { mark, work, schedule: schedule.clone() }));
        }
    }

    /// Asks for an outcome; what would follow is found out meanwhile.
    fn test(&mut self, text: &[u8]) -> Result<Outcome, Stop> {
        let Some(kept) = self.kept.clone() else { return self.search.test(text) };
        let go_on = |scout: &mut Search<'o>| {
            let mut work = Work { search: Lent::new(scout), ..kept.work.clone() };
            // It ends when the scout has seen enough.
            let _ = schedule::run(&mut work, &mut kept.schedule.clone());
        };
        self.search.test_ahead(text, Some(&Ahead { mark: kept.mark, go_on: &go_on }))
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
        let outcome = self.test(candidate.text())?;
        if self.search.runs() > runs {
            self.idle = 0;
        }
        if outcome == Outcome::Fail {
            // Taken first: it must not be lost if no one can be told of it.
            self.view = Rc::new(View::of(&candidate));
            self.tree = Rc::new(candidate);
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
        self.idle > self.patience
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
