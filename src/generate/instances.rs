//! Inputs of a pattern.

use super::words::words;
use super::{Derivation, Plain, Policy, Slot, TokenSource, derive, stream};
use crate::grammar::{Grammar, SymbolId};
use crate::pattern::{Filling, Hole, Pattern};
use crate::tree::{Builder, Tree};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

/// How large a filling may become: the number of free choices in it.
pub const SIZES: [i32; 4] = [2, 6, 12, 24];

/// After so many inputs in a row that were made before, a pattern counts as used up.
const DUPLICATES: u32 = 600;

/// The fragments for one hole: each with the place of the node that it replaces.
pub type Fillings = Vec<(usize, Tree)>;

/// The pattern's own texts, which co-varying names must not meet by accident.
pub fn names(grammar: &Grammar, tree: &Tree) -> FxHashSet<Vec<u8>> {
    (0..tree.len()).filter(|at| tree.is_leaf(grammar, *at)).map(|at| tree.lexeme(at).to_vec()).collect()
}

/// A text for all members of a group: fresh, and unlike everything in `taken`.
pub fn fresh_name(
    grammar: &Grammar,
    symbol: SymbolId,
    tokens: &mut TokenSource,
    taken: &FxHashSet<Vec<u8>>,
    rng: &mut ChaCha8Rng,
) -> Tree {
    let mut name = None;
    for _ in 0..60 {
        let fragment = if grammar.is_leaf(symbol) {
            let mut builder = Builder::default();
            builder.leaf(symbol, b"", &tokens.fresh(grammar, symbol, rng));
            builder.fragment()
        } else {
            let allowance = SIZES[rng.random_range(0..2)];
            let what = Derivation { grammar, tokens, slot: Slot::Hole(u32::MAX), allowance, first: None };
            derive(what, symbol, &mut Plain, rng)
        };
        let unlike = !taken.contains(fragment.text());
        name = Some(fragment);
        if unlike {
            break;
        }
    }
    name.unwrap_or_else(|| crate::tree::least(grammar, symbol))
}

/// What fillings are drawn with.
#[derive(Debug)]
pub struct Draw<'a> {
    /// The grammar.
    pub grammar: &'a Grammar,
    /// The tree with the holes.
    pub tree: &'a Tree,
    /// Where token texts come from.
    pub tokens: &'a mut TokenSource,
    /// What names must not be met by accident.
    pub taken: &'a FxHashSet<Vec<u8>>,
    /// Free choices per filling.
    pub allowance: i32,
}

/// Random fragments for one hole.
pub fn draw(what: Draw<'_>, hole: &Hole, policy: &mut dyn Policy, rng: &mut ChaCha8Rng) -> Fillings {
    let Draw { grammar, tree, tokens, taken, allowance } = what;
    let first = hole.members[0];
    let symbol = tree.node(first).symbol;
    match &hole.filling {
        Filling::OneOf(words) => vec![(first, words[rng.random_range(0..words.len())].clone())],
        Filling::Same => {
            let name = fresh_name(grammar, symbol, tokens, taken, rng);
            hole.members.iter().map(|member| (*member, name.clone())).collect()
        }
        Filling::Any if grammar.is_leaf(symbol) => {
            let mut builder = Builder::default();
            builder.leaf(symbol, b"", &tokens.text(grammar, symbol, rng));
            vec![(first, builder.fragment())]
        }
        Filling::Any => {
            let what = Derivation { grammar, tokens, slot: Slot::Hole(first as u32), allowance, first: None };
            vec![(first, derive(what, symbol, policy, rng))]
        }
    }
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
    tokens: TokenSource,
    taken: FxHashSet<Vec<u8>>,
    made: FxHashSet<[u8; 32]>,
    uniform: bool,
    seed: u64,
    number: u64,
}

impl<'a> Instances<'a> {
    /// Inputs that follow what was learned of validity.
    pub fn new(pattern: &'a Pattern, seed: u64) -> Self {
        let mut tokens = TokenSource::default();
        for at in 0..pattern.tree.len() {
            if pattern.tree.is_leaf(&pattern.grammar, at) {
                tokens.remember(pattern.tree.node(at).symbol, pattern.tree.lexeme(at));
            }
        }
        Instances {
            pattern,
            tokens,
            taken: names(&pattern.grammar, &pattern.tree),
            made: FxHashSet::default(),
            uniform: false,
            seed,
            number: 0,
        }
    }

    /// Inputs in which every choice is even, whatever was learned: an independent measure of a pattern.
    pub fn uniform(pattern: &'a Pattern, seed: u64) -> Self {
        Instances { uniform: true, ..Instances::new(pattern, seed) }
    }

    /// Whether all inputs can be counted: the number of distinct ones, if it is small.
    pub fn count(pattern: &Pattern, most: usize) -> Option<usize> {
        pattern.holes.iter().try_fold(1_usize, |count, hole| {
            let symbol = pattern.tree.node(hole.members[0]).symbol;
            let here = match &hole.filling {
                Filling::OneOf(words) => words.len(),
                Filling::Any | Filling::Same => words(&pattern.grammar, symbol, most)?.len(),
            };
            count.checked_mul(here).filter(|count| *count <= most)
        })
    }

    fn one(&mut self) -> Tree {
        let pattern = self.pattern;
        let mut rng = stream(self.seed, "instance", self.number);
        self.number += 1;
        let mut fillings = Vec::new();
        for hole in &pattern.holes {
            let allowance = SIZES[rng.random_range(0..SIZES.len())];
            let what = Draw {
                grammar: &pattern.grammar,
                tree: &pattern.tree,
                tokens: &mut self.tokens,
                taken: &self.taken,
                allowance,
            };
            let mut learned = pattern.validity.policy(hole.members[0] as u32, false);
            let policy: &mut dyn Policy = if self.uniform { &mut Plain } else { &mut learned };
            fillings.extend(draw(what, hole, policy, &mut rng));
        }
        filled(&pattern.grammar, &pattern.tree, &fillings)
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
