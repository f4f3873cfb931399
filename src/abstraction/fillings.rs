//! What is put in the place of a node: hostile fillings first, then random ones.
//!
//! The systematic part does not depend on the seed, and comes first, so that what is printed does not depend on when a rare
//! filling happens to be met.

use super::Engine;
use super::candidates::Candidate;
use crate::generate::validity::{DEPTHS, Edge};
use crate::generate::{Derivation, Plain, Slot, TokenSource, derive, options, stream};
use crate::grammar::{Grammar, SymbolId};
use crate::pattern::instances::{SIZES, with_text, wrapped};
use crate::pattern::only_leaf;
use crate::tree::{Builder, Tree, least};
use rand::RngExt;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Draws in vain before a source counts as dry.
const DRAWS: u32 = 200;

/// The fillings of one candidate, none twice.
#[derive(Clone, Debug)]
pub(super) struct Source {
    planned: VecDeque<Plan>,
    used: FxHashSet<Vec<u8>>,
    drawn: u64,
}

/// How random fillings are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choices {
    /// By what was learned, now and then with something new.
    Exploring,
    /// By what was learned.
    Careful,
    /// Evenly.
    Even,
}

#[derive(Clone, Debug)]
enum Plan {
    /// The candidate with another text in its only leaf.
    Leaf(Vec<u8>),
    /// The cheapest text of the symbol.
    Least,
    /// One alternative of the core's symbol, as cheap as it gets.
    Alternative(u32),
    /// One alternative at a place below that spells all of the candidate, as cheap as it gets.
    Below(usize, u32),
    /// A part of the input that derives from the same symbol as the core.
    Own(usize),
    /// A whole filling.
    Whole(Box<Tree>),
}

/// Fillings that are planned at most, those with odd texts of tokens aside.
const PLANNED: usize = 40;
/// How often a token's first character is repeated, to meet what depends on runs and lengths.
const RUNS: [usize; 3] = [4, 16, 64];
/// An allowance so far used up that a derivation is as low as it can be.
const CHEAPEST: i32 = -1_000;
/// Fillings in which tokens have such texts.
const BOUNDARIES: usize = 12;

impl Engine<'_, '_> {
    /// The next filling of a candidate; `None` if no new one is found.
    pub(super) fn next_filling(&mut self, candidate: Candidate, systematic_only: bool) -> Option<Tree> {
        let mut source = match self.sources.remove(&candidate.at) {
            Some(source) => source,
            None => self.source(candidate),
        };
        let mut found = None;
        while let Some(plan) = source.planned.pop_front() {
            found = self.make(candidate, &plan);
            found = found.filter(|f| self.meets_condition(candidate.at, f) && source.used.insert(f.lexeme(0).to_vec()));
            if found.is_some() {
                break;
            }
        }
        if found.is_none() && !systematic_only {
            found = self.random_filling(candidate, &mut source, Choices::Exploring);
        }
        self.sources.insert(candidate.at, source);
        found
    }

    /// A random filling from what is known to be valid.
    pub(super) fn careful_filling(&mut self, candidate: Candidate) -> Option<Tree> {
        let mut source = self.sources.remove(&candidate.at).unwrap_or_else(|| self.source(candidate));
        let found = self.random_filling(candidate, &mut source, Choices::Careful);
        self.sources.insert(candidate.at, source);
        found
    }

    /// A random filling whatever is known.
    pub(super) fn plain_filling(&mut self, candidate: Candidate) -> Option<Tree> {
        let mut source = self.sources.remove(&candidate.at).unwrap_or_else(|| self.source(candidate));
        let found = self.random_filling(candidate, &mut source, Choices::Even);
        self.sources.insert(candidate.at, source);
        found
    }

    fn random_filling(&mut self, candidate: Candidate, source: &mut Source, choices: Choices) -> Option<Tree> {
        for _ in 0..DRAWS {
            let mut rng = stream(self.options.seed, "filling", ((candidate.at as u64) << 32) + source.drawn);
            source.drawn += 1;
            let explore = choices == Choices::Exploring && rng.random_bool(0.25);
            let allowance = SIZES[rng.random_range(0..SIZES.len())];
            let symbol = self.tree.node(candidate.at).symbol;
            let what = Derivation {
                grammar: self.grammar,
                tokens: &mut self.drawer.tokens,
                slot: Slot::Hole(candidate.at as u32),
                allowance,
                first: None,
            };
            let fragment = match choices {
                Choices::Even => derive(what, symbol, &mut Plain, &mut rng),
                _ => derive(what, symbol, &mut self.validity.policy(candidate.at as u32, explore), &mut rng),
            };
            if self.meets_condition(candidate.at, &fragment) && source.used.insert(fragment.lexeme(0).to_vec()) {
                return Some(fragment);
            }
        }
        None
    }

    /// Whether a filling meets what is known to be necessary of the hole at this place.
    fn meets_condition(&self, at: usize, filling: &Tree) -> bool {
        let condition = self.holes.iter().find(|hole| hole.members == [at]).and_then(|hole| hole.condition.as_ref());
        condition.is_none_or(|condition| condition.holds(self.grammar, filling))
    }

    fn source(&self, candidate: Candidate) -> Source {
        let Candidate { at, core, .. } = candidate;
        let mut planned = VecDeque::from([Plan::Least]);
        if let Some(leaf) = only_leaf(self.grammar, &self.tree, at) {
            let symbol = self.tree.node(leaf).symbol;
            let others = (0..self.tree.len()).filter(|other| self.tree.node(*other).symbol == symbol);
            let other = others.map(|other| self.tree.lexeme(other)).find(|text| *text != self.tree.lexeme(leaf));
            planned.extend(other.map(|text| Plan::Leaf(text.to_vec())));
            planned.extend(numbers(self.tree.lexeme(leaf)).map(|text| Plan::Leaf(text.into_bytes())));
        }
        let symbol = self.tree.node(core).symbol;
        let mut own = (0..self.tree.len())
            .filter(|other| self.tree.node(*other).symbol == symbol && !self.is_inside(at, *other) && *other != core)
            .take(2);
        let mut alternatives = if self.grammar.is_leaf(symbol) { Vec::new() } else { options(self.grammar, symbol) };
        let hole = at as u32;
        let theta = |option: u32| {
            let slot = if core == at { Slot::Hole(hole) } else { Slot::Child(self.tree.node(core - 1).symbol, 0, 0) };
            self.validity.theta(&Edge { slot, symbol, option, depth: ((core - at) as u32).min(DEPTHS - 1), hole })
        };
        alternatives.sort_by(|a, b| theta(*b).total_cmp(&theta(*a)));
        for (place, option) in alternatives.into_iter().enumerate() {
            if place == 1 || place == 4 {
                planned.extend(own.next().map(Plan::Own));
            }
            planned.push_back(Plan::Alternative(option));
        }
        planned.extend(own.map(Plan::Own));
        for inner in self.same_text_below(at) {
            let below = self.tree.node(inner.core).symbol;
            if !self.grammar.is_leaf(below) && planned.len() < PLANNED {
                planned.extend(options(self.grammar, below).into_iter().map(|option| Plan::Below(inner.core, option)));
            }
        }
        planned.truncate(PLANNED);
        planned.extend(self.boundaries(candidate).into_iter().map(|filling| Plan::Whole(Box::new(filling))));
        let used = FxHashSet::from_iter([self.tree.lexeme(at).to_vec()]);
        Source { planned, used, drawn: 0 }
    }

    fn make(&self, candidate: Candidate, plan: &Plan) -> Option<Tree> {
        let Candidate { at, core, .. } = candidate;
        let symbol = self.tree.node(core).symbol;
        match plan {
            Plan::Leaf(text) => with_text(self.grammar, &self.tree, at, text),
            Plan::Whole(filling) => Some((**filling).clone()),
            Plan::Least => Some(least(self.grammar, self.tree.node(at).symbol)),
            Plan::Own(place) => Some(wrapped(&self.tree, at, core, &self.tree.fragment(*place))),
            Plan::Below(place, option) => {
                let below = with_option(self.grammar, self.tree.node(*place).symbol, *option, 0);
                Some(self.tree.fragment(at).replace(self.grammar.lexicon(), &[(place - at, &below)]))
            }
            Plan::Alternative(option) => {
                Some(wrapped(&self.tree, at, core, &with_option(self.grammar, symbol, *option, 0)))
            }
        }
    }

    /// Fillings in each of which one token has a text that is rarely drawn: its first character many times over. The carriers
    /// are what stands there and the cheapest derivations, one for each kind of token.
    fn boundaries(&self, candidate: Candidate) -> Vec<Tree> {
        let Candidate { at, core, .. } = candidate;
        let (grammar, symbol) = (self.grammar, self.tree.node(core).symbol);
        let mut carriers = vec![self.tree.fragment(at), least(grammar, self.tree.node(at).symbol)];
        if !grammar.is_leaf(symbol) {
            let each = options(grammar, symbol).into_iter().map(|option| cheapest(grammar, symbol, option));
            carriers.extend(each.map(|fragment| wrapped(&self.tree, at, core, &fragment)));
        }
        let mut tokens = FxHashSet::default();
        let mut found = Vec::new();
        for carrier in &carriers {
            for leaf in (0..carrier.len()).filter(|leaf| carrier.is_leaf(grammar, *leaf)) {
                let token = carrier.node(leaf).symbol;
                if grammar.is_literal(token) || !grammar.symbol(token).role.token || !tokens.insert(token) {
                    continue;
                }
                let Some(first) = grammar.least_leaf(token).first() else { continue };
                for run in RUNS {
                    let text = vec![*first; run];
                    if grammar.lexicon().is_match(token, &text) {
                        let mut builder = Builder::default();
                        builder.leaf(token, b"", &text);
                        found.push(carrier.replace(grammar.lexicon(), &[(leaf, &builder.fragment())]));
                    }
                }
            }
        }
        found.truncate(BOUNDARIES);
        found
    }
}

/// The lowest fragment of a symbol that takes this option.
pub(super) fn cheapest(grammar: &Grammar, symbol: SymbolId, option: u32) -> Tree {
    with_option(grammar, symbol, option, CHEAPEST)
}

/// A fragment of a symbol that takes this option, the same whatever was drawn before.
fn with_option(grammar: &Grammar, symbol: SymbolId, option: u32, allowance: i32) -> Tree {
    let mut rng = stream(0, "alternative", u64::from(symbol.0) << 32 | u64::from(option));
    let tokens = &mut TokenSource::default();
    let what = Derivation { grammar, tokens, slot: Slot::Hole(0), allowance, first: Some(option) };
    derive(what, symbol, &mut Plain, &mut rng)
}

/// Numbers near the bounds at which programs change their ways, if the text is a number.
fn numbers(text: &[u8]) -> impl Iterator<Item = String> {
    let value: Option<u64> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    value
        .into_iter()
        .flat_map(|v| [0, v.saturating_add(1), 65_536, 1, v / 2, 256, 255].map(|number| number.to_string()))
}
