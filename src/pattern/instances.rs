//! Inputs of a pattern.

use super::{Filling, Hole, Pattern};
use crate::generate::validity::Validity;
use crate::generate::{Derivation, Plain, Policy, Slot, TokenSource, derive, stream};
use crate::grammar::{Grammar, SymbolId};
use crate::tree::{Builder, Tree};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};

/// How large a filling may become: the number of free choices in it.
pub const SIZES: [i32; 4] = [2, 6, 12, 24];

/// After so many inputs in a row that were made before, a pattern counts as used up.
const DUPLICATES: u32 = 600;

/// Draws of a filling in the hope of one that its hole has not had.
const REDRAWS: usize = 4;

/// Draws of a name in the hope of a new one.
const NAMES: u32 = 60;

/// The fragments for one hole: each with the place of the node that it replaces.
pub type Fillings = Vec<(usize, Tree)>;

/// Draws fillings for holes of a tree.
#[derive(Clone, Debug)]
pub struct Drawer {
    /// Where token texts come from; it knows the tree's own.
    pub tokens: TokenSource,
    /// The tree's own texts, which names of a group must not meet by accident.
    taken: FxHashSet<Vec<u8>>,
    /// The fillings that each hole has had, by its first member.
    drawn: FxHashMap<usize, FxHashSet<Vec<u8>>>,
    /// The largest allowance of a filling since it was last taken.
    pub largest: i32,
}

impl Drawer {
    /// For the holes of this tree.
    pub fn of(grammar: &Grammar, tree: &Tree) -> Self {
        let mut tokens = TokenSource::default();
        let mut taken = FxHashSet::default();
        for at in (0..tree.len()).filter(|at| tree.is_leaf(grammar, *at)) {
            tokens.remember(tree.node(at).symbol, tree.lexeme(at));
            taken.insert(tree.lexeme(at).to_vec());
        }
        Drawer { tokens, taken, drawn: FxHashMap::default(), largest: 0 }
    }

    /// Random fragments for one hole, by what was learned of validity, or evenly if nothing is given. They are new for the hole
    /// if such are found soon: inputs that differ elsewhere only say nothing more of this hole.
    pub fn draw(
        &mut self,
        grammar: &Grammar,
        tree: &Tree,
        hole: &Hole,
        (learned, explore): (Option<&Validity>, bool),
        rng: &mut ChaCha8Rng,
    ) -> Fillings {
        let first = hole.members[0];
        let mut fillings = Fillings::new();
        for redraw in 0..REDRAWS {
            // What is common is soon used up; larger fillings are new without being strange.
            let sizes = learned.map_or(SIZES.to_vec(), |validity| validity.good_sizes(&SIZES));
            let allowance = sizes[rng.random_range(redraw.min(sizes.len() - 1)..sizes.len())];
            self.largest = self.largest.max(allowance);
            fillings = match learned {
                Some(validity) => {
                    self.once(grammar, tree, hole, allowance, &mut validity.policy(first as u32, explore), rng)
                }
                None => self.once(grammar, tree, hole, allowance, &mut Plain, rng),
            };
            let text = fillings.first().map(|(_, filling)| filling.lexeme(0).to_vec()).unwrap_or_default();
            if self.drawn.entry(first).or_default().insert(text) {
                break;
            }
        }
        fillings
    }

    fn once(
        &mut self,
        grammar: &Grammar,
        tree: &Tree,
        hole: &Hole,
        allowance: i32,
        policy: &mut dyn Policy,
        rng: &mut ChaCha8Rng,
    ) -> Fillings {
        let first = hole.members[0];
        let symbol = tree.node(first).symbol;
        let filling = match &hole.filling {
            Filling::OneOf(words) => words[rng.random_range(0..words.len())].clone(),
            Filling::Same => self.name(grammar, symbol, &[], rng),
            Filling::Any if grammar.is_leaf(symbol) => leaf(symbol, &self.tokens.text(grammar, symbol, rng)),
            Filling::Any => {
                let slot = Slot::Hole(first as u32);
                let what = Derivation { grammar, tokens: &mut self.tokens, slot, allowance, first: None };
                derive(what, symbol, policy, rng)
            }
        };
        hole.members.iter().map(|member| (*member, filling.clone())).collect()
    }

    /// A text for all members of a group: unlike everything in the tree and in `used`.
    pub fn name(&mut self, grammar: &Grammar, symbol: SymbolId, used: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Tree {
        let mut name = crate::tree::least(grammar, symbol);
        for _ in 0..NAMES {
            name = if grammar.is_leaf(symbol) {
                leaf(symbol, &self.tokens.fresh(grammar, symbol, rng))
            } else {
                let allowance = SIZES[rng.random_range(0..2)];
                let slot = Slot::Hole(u32::MAX);
                derive(
                    Derivation { grammar, tokens: &mut self.tokens, slot, allowance, first: None },
                    symbol,
                    &mut Plain,
                    rng,
                )
            };
            if !self.taken.contains(name.text()) && !used.iter().any(|used| used == name.text()) {
                break;
            }
        }
        name
    }
}

fn leaf(symbol: SymbolId, text: &[u8]) -> Tree {
    let mut builder = Builder::default();
    builder.leaf(symbol, b"", text);
    builder.fragment()
}

/// The text of the tree with fillings put in, in any order.
pub fn filled(grammar: &Grammar, tree: &Tree, fillings: &[(usize, Tree)]) -> Tree {
    let mut edits: Vec<(usize, &Tree)> = fillings.iter().map(|(at, fragment)| (*at, fragment)).collect();
    edits.sort_by_key(|(at, _)| *at);
    tree.replace(grammar.lexicon(), &edits)
}

/// A stream of distinct inputs of a pattern, the same for the same seed. It ends when no new ones are found.
#[derive(Debug)]
pub struct Instances<'a> {
    pattern: &'a Pattern,
    drawer: Drawer,
    made: FxHashSet<[u8; 32]>,
    uniform: bool,
    seed: u64,
    number: u64,
}

impl<'a> Instances<'a> {
    /// Inputs that follow what was learned of validity.
    pub fn new(pattern: &'a Pattern, seed: u64) -> Self {
        let drawer = Drawer::of(&pattern.grammar, &pattern.tree);
        Instances { pattern, drawer, made: FxHashSet::default(), uniform: false, seed, number: 0 }
    }

    /// Inputs in which every choice is even, whatever was learned: an independent measure of a pattern.
    pub fn uniform(pattern: &'a Pattern, seed: u64) -> Self {
        Instances { uniform: true, ..Instances::new(pattern, seed) }
    }

    fn one(&mut self) -> Tree {
        let Pattern { grammar, tree, holes, validity, .. } = self.pattern;
        let mut rng = stream(self.seed, "instance", self.number);
        self.number += 1;
        let learned = (!self.uniform).then_some(validity);
        let draw = |hole| self.drawer.draw(grammar, tree, hole, (learned, false), &mut rng);
        let fillings: Fillings = holes.iter().flat_map(draw).collect();
        filled(grammar, tree, &fillings)
    }
}

impl Iterator for Instances<'_> {
    type Item = Tree;

    fn next(&mut self) -> Option<Tree> {
        for _ in 0..DUPLICATES {
            let tree = self.one();
            if self.made.insert(*blake3::hash(tree.text()).as_bytes()) {
                return Some(tree);
            }
        }
        None
    }
}
