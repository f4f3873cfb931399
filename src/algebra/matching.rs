//! Where patterns occur in a tree.

use super::automaton::{Automaton, State};
use super::condition::{Condition, Feature};
use super::shape::{Shape, Shapes};
use crate::grammar::Grammar;
use crate::pattern::Pattern;
use crate::tree::Tree;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A node of a tree that looks like a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The pattern's number.
    pub pattern: usize,
    /// The node's place in the tree.
    pub at: usize,
}

/// How nearly a tree has a pattern: where the best attempt fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// The pattern's number.
    pub pattern: usize,
    /// The node that comes nearest.
    pub at: usize,
    /// How many nodes of the pattern are there.
    pub agreeing: usize,
    /// The first node that differs.
    pub differs: usize,
    /// What the pattern has in its place, in words.
    pub wanted: String,
}

/// Some patterns of one grammar, made ready to be looked for. What was learned from one tree speeds up the next.
#[derive(Clone, Debug)]
pub struct Matcher {
    grammar: Arc<Grammar>,
    automaton: Automaton,
    patterns: usize,
}

impl Matcher {
    /// For patterns of one grammar.
    pub fn new(patterns: &[&Pattern]) -> Option<Matcher> {
        let grammar = patterns.first()?.grammar.clone();
        let all: Vec<Condition> = (0..patterns.len()).map(Condition::contains).collect();
        let automaton = Automaton::new(Shapes::of(patterns.iter().copied()), &all.iter().collect::<Vec<_>>());
        Some(Matcher { grammar, automaton, patterns: patterns.len() })
    }

    /// The grammar that trees must be of.
    pub fn grammar(&self) -> &Arc<Grammar> {
        &self.grammar
    }

    /// All occurrences, in the order of the text; of one node, by pattern. Holes that are tied have equal texts there.
    pub fn occurrences(&mut self, tree: &Tree) -> Vec<Occurrence> {
        let states = self.automaton.run(&self.grammar, tree);
        let mut found = Vec::new();
        for (at, state) in states.iter().enumerate() {
            for pattern in 0..self.patterns {
                if self.automaton.looks_like(*state, pattern) && self.ties_hold(pattern, tree, &states, at) {
                    found.push(Occurrence { pattern, at });
                }
            }
        }
        found
    }

    /// Whether a condition holds of a tree.
    pub fn holds(&mut self, condition: &Condition, tree: &Tree) -> bool {
        let found = self.occurrences(tree);
        let of = |pattern: usize| found.iter().filter(move |occurrence| occurrence.pattern == pattern);
        condition.holds(&|feature| match feature {
            Feature::Count(pattern) => u32::try_from(of(pattern).count()).unwrap_or(u32::MAX),
            Feature::Inside(inner, outer) => {
                let within = |outer: &Occurrence| of(inner).any(|o| o.at > outer.at && o.at < tree.after(outer.at));
                u32::from(of(outer).any(within))
            }
            Feature::Before(first, second) => {
                let end = of(first).map(|occurrence| tree.after(occurrence.at)).min();
                let last = of(second).map(|occurrence| occurrence.at).max();
                u32::from(end.zip(last).is_some_and(|(end, last)| end <= last))
            }
        })
    }

    /// Whether the tied holes of an occurrence's shape have equal texts, and the conditions on single holes hold. (That two
    /// holes differ is not asked.)
    fn ties_hold(&self, pattern: usize, tree: &Tree, states: &[State], at: usize) -> bool {
        let groups = self.tied(pattern, tree, states, at);
        let tied = groups.iter().all(|group| group.windows(2).all(|pair| tree.lexeme(pair[0]) == tree.lexeme(pair[1])));
        let conditions = &self.automaton.shapes().conditions[pattern];
        if !tied || conditions.is_empty() {
            return tied;
        }
        let places = self.places(pattern, tree, states, at);
        conditions.iter().all(|(hole, condition)| {
            places.get(hole).is_none_or(|place| condition.holds(&self.grammar, &tree.fragment(*place)))
        })
    }

    /// The places of the tied holes of a pattern's shape at a node that looks like it.
    fn tied(&self, pattern: usize, tree: &Tree, states: &[State], at: usize) -> Vec<Vec<usize>> {
        let shapes = self.automaton.shapes();
        if shapes.ties[pattern].is_empty() {
            return Vec::new();
        }
        let places = self.places(pattern, tree, states, at);
        let places = |group: &Vec<usize>| group.iter().filter_map(|hole| places.get(hole).copied()).collect();
        shapes.ties[pattern].iter().map(places).collect()
    }

    /// Where the parts of a pattern's shape are, at a node that looks like it.
    fn places(&self, pattern: usize, tree: &Tree, states: &[State], at: usize) -> FxHashMap<usize, usize> {
        let shapes = self.automaton.shapes();
        let looks = |shape: usize, at: usize| self.automaton.looks(states[at], shape);
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        let mut open: Vec<(usize, usize)> = shapes.roots[pattern].iter().map(|root| (*root, at)).collect();
        open.retain(|(shape, at)| looks(*shape, *at));
        open.truncate(1);
        while let Some((shape, at)) = open.pop() {
            places.insert(shape, at);
            if let Shape::Node { slots, .. } = &shapes.nodes[shape] {
                for (slot, child) in slots.iter().zip(tree.children(at)) {
                    open.extend(slot.iter().find(|shape| looks(**shape, child)).map(|shape| (*shape, child)));
                }
            }
        }
        places
    }

    /// The groups of tied places of each node that has a pattern's shape, whether or not their texts are equal.
    pub(super) fn tied_places(&mut self, tree: &Tree) -> Vec<(Occurrence, Vec<Vec<usize>>)> {
        let states = self.automaton.run(&self.grammar, tree);
        let mut found = Vec::new();
        for (at, state) in states.iter().enumerate() {
            for pattern in (0..self.patterns).filter(|pattern| self.automaton.looks_like(*state, *pattern)) {
                let groups = self.tied(pattern, tree, &states, at);
                if !groups.is_empty() {
                    found.push((Occurrence { pattern, at }, groups));
                }
            }
        }
        found
    }

    /// For a pattern that does not occur in a tree: the node that has most of it.
    pub fn near_miss(&self, pattern: usize, tree: &Tree) -> Option<NearMiss> {
        let shapes = self.automaton.shapes();
        let roots = &shapes.roots[pattern];
        let mut best: Option<NearMiss> = None;
        for at in 0..tree.len() {
            for root in roots.iter().filter(|root| shapes.nodes[**root].symbol() == tree.node(at).symbol) {
                let attempt = self.attempt(pattern, *root, tree, at);
                if best.as_ref().is_none_or(|best| attempt.agreeing > best.agreeing) {
                    best = Some(attempt);
                }
            }
        }
        best
    }

    fn attempt(&self, pattern: usize, root: usize, tree: &Tree, at: usize) -> NearMiss {
        let shapes = self.automaton.shapes();
        let mut found = NearMiss { pattern, at, agreeing: 0, differs: at, wanted: String::new() };
        let mut open = vec![(root, at)];
        let mut differs: Option<(usize, usize)> = None;
        while let Some((shape, at)) = open.pop() {
            let node = tree.node(at);
            let agrees = match &shapes.nodes[shape] {
                Shape::Hole(symbol) => *symbol == node.symbol,
                Shape::Leaf(symbol, text) => *symbol == node.symbol && tree.lexeme(at) == text,
                Shape::Node { symbol, alternative, slots } => {
                    let same = *symbol == node.symbol && *alternative == node.alternative;
                    let children: Vec<usize> = if same { tree.children(at).collect() } else { Vec::new() };
                    // Reversed, so that what comes first in the text is looked at first.
                    let pairs = slots.iter().zip(&children).rev();
                    open.extend(pairs.filter_map(|(slot, child)| Some((*slot.first()?, *child))));
                    same && children.len() == slots.len()
                }
            };
            match agrees {
                true => found.agreeing += 1,
                false => differs = differs.or(Some((shape, at))),
            }
        }
        // All agrees, so it is the tied names that do not.
        let (shape, at) = differs.unwrap_or((root, at));
        found.differs = at;
        found.wanted = match differs {
            Some(_) => self.described(shape),
            None => "equal names in its tied holes".to_owned(),
        };
        found
    }

    fn described(&self, shape: usize) -> String {
        match &self.automaton.shapes().nodes[shape] {
            Shape::Hole(symbol) => self.grammar.label(*symbol),
            Shape::Leaf(_, text) => format!("`{}`", String::from_utf8_lossy(text)),
            Shape::Node { symbol, alternative, .. } => match self.grammar.alternatives(*symbol) {
                0 | 1 => self.grammar.label(*symbol),
                _ => {
                    let parts = self.grammar.alternative(*symbol, *alternative);
                    let parts: Vec<String> = parts.iter().map(|part| self.grammar.label(*part)).collect();
                    format!("{} as {}", self.grammar.label(*symbol), parts.join(" "))
                }
            },
        }
    }
}
