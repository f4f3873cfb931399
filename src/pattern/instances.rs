//! Inputs of a pattern.

use super::condition::length;
use super::{Condition, Filling, Hole, Pattern, core, only_leaf};
use crate::generate::validity::Validity;
use crate::generate::{Derivation, Plain, Policy, Shallow, Slot, TokenSource, derive, resized, stream};
use crate::grammar::{Grammar, Kind, SymbolId};
use crate::tree::{Builder, Tree};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};

/// How large a filling may become: the number of free choices in it.
pub const SIZES: [i32; 4] = [2, 6, 12, 24];

/// After so many inputs in a row that were made before, a pattern counts as used up.
const DUPLICATES: u32 = 600;

/// Draws of a filling in the hope of one that its hole has not had.
const REDRAWS: usize = 8;

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
    /// The allowances that fillings are made with.
    pub sizes: [i32; 4],
    /// How deep fillings may nest.
    pub depth: Option<u32>,
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
        Drawer { tokens, taken, drawn: FxHashMap::default(), largest: 0, sizes: SIZES, depth: None }
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
            let sizes = match learned {
                Some(validity) if self.sizes == SIZES => validity.good_sizes(&SIZES),
                _ => self.sizes.to_vec(),
            };
            let allowance = sizes[rng.random_range(redraw.min(sizes.len() - 1)..sizes.len())];
            self.largest = self.largest.max(allowance);
            let mut learned = learned.map(|validity| validity.policy(first as u32, explore));
            let policy: &mut dyn Policy = match &mut learned {
                Some(learned) => learned,
                None => &mut Plain,
            };
            fillings = match self.depth {
                Some(most) => self.once(grammar, tree, hole, allowance, &mut Shallow { grammar, most, policy }, rng),
                None => self.once(grammar, tree, hole, allowance, policy, rng),
            };
            let text = fillings.first().map(|(_, filling)| filling.lexeme(0).to_vec()).unwrap_or_default();
            let holds = |condition: &Condition| fillings.iter().all(|(_, filling)| condition.holds(grammar, filling));
            let wanted = hole.condition.as_ref().is_none_or(holds);
            if wanted && self.drawn.entry(first).or_default().insert(text) {
                break;
            }
        }
        let holds = |condition: &Condition| fillings.iter().all(|(_, filling)| condition.holds(grammar, filling));
        if hole.condition.as_ref().is_none_or(holds) {
            return fillings;
        }
        hole.members.iter().map(|member| (*member, tree.fragment(*member))).collect()
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
        let filling = match (&hole.filling, &hole.condition) {
            (Filling::Same, _) => return self.name(grammar, tree, hole, &[], rng),
            (Filling::OneOf(words), _) => Some(words[rng.random_range(0..words.len())].clone()),
            (Filling::Any, Some(Condition::Number { from, to })) => {
                let number = number_within(*from, *to, rng);
                with_text(grammar, tree, first, number.to_string().as_bytes())
            }
            (Filling::Any, Some(Condition::Length { from, to })) => {
                self.of_length(grammar, tree, first, (*from, *to), policy, rng)
            }
            (Filling::Any, Some(Condition::Among(options))) => {
                let option = options[rng.random_range(0..options.len())];
                Some(self.with_option(grammar, tree, first, option, allowance, policy, rng))
            }
            (Filling::Any, _) if grammar.is_leaf(symbol) => Some(leaf(symbol, &self.tokens.text(grammar, symbol, rng))),
            (Filling::Any, _) => {
                let slot = Slot::Hole(first as u32);
                let what = Derivation { grammar, tokens: &mut self.tokens, slot, allowance, first: None };
                Some(derive(what, symbol, policy, rng))
            }
        };
        vec![(first, filling.unwrap_or_else(|| tree.fragment(first)))]
    }

    /// A random fragment for a node that takes this option where something is chosen.
    #[expect(clippy::too_many_arguments, reason = "what a derivation is made with")]
    pub fn with_option(
        &mut self,
        grammar: &Grammar,
        tree: &Tree,
        at: usize,
        option: u32,
        allowance: i32,
        policy: &mut dyn Policy,
        rng: &mut ChaCha8Rng,
    ) -> Tree {
        let core = core(grammar, tree, at);
        let slot = if core == at { Slot::Hole(at as u32) } else { Slot::Child(tree.node(core - 1).symbol, 0, 0) };
        let what = Derivation { grammar, tokens: &mut self.tokens, slot, allowance, first: Some(option) };
        wrapped(tree, at, core, &derive(what, tree.node(core).symbol, policy, rng))
    }

    /// A random fragment for a token or repetition, of a length between the bounds.
    pub fn of_length(
        &mut self,
        grammar: &Grammar,
        tree: &Tree,
        at: usize,
        (from, to): (Option<usize>, Option<usize>),
        policy: &mut dyn Policy,
        rng: &mut ChaCha8Rng,
    ) -> Option<Tree> {
        let least = from.unwrap_or(0);
        let most = to.unwrap_or(least.max(length(grammar, &tree.fragment(at))) * 2 + 1);
        let wanted = if rng.random_bool(0.2) { least } else { rng.random_range(least..=most.max(least)) };
        if let Some(leaf) = only_leaf(grammar, tree, at) {
            let text = resized(grammar, tree.node(leaf).symbol, tree.lexeme(leaf), wanted, rng)?;
            return with_text(grammar, tree, at, &text);
        }
        let Kind::Repeat { min, .. } = grammar.kind(tree.node(core(grammar, tree, at)).symbol) else { return None };
        let option = u32::try_from(wanted).ok()?.checked_sub(*min)?;
        Some(self.with_option(grammar, tree, at, option, SIZES[0], policy, rng))
    }

    /// A text for all members of a group: unlike everything in the tree and in `used`.
    pub fn name(
        &mut self,
        grammar: &Grammar,
        tree: &Tree,
        hole: &Hole,
        used: &[Vec<u8>],
        rng: &mut ChaCha8Rng,
    ) -> Fillings {
        let base = hole.members.iter().copied().find(|at| hole.copy_at(*at).is_plain()).unwrap_or(hole.members[0]);
        let marks = hole.copy_at(base);
        let mut fillings = Fillings::new();
        for _ in 0..NAMES {
            let (name, made) = match only_leaf(grammar, tree, base) {
                Some(leaf) if grammar.is_lexical() => {
                    let text = self.tokens.fresh(grammar, tree.node(leaf).symbol, rng);
                    let Some(name) = marks.base(&text) else { continue };
                    let copy = |at: &usize| {
                        let filling = with_text(grammar, tree, *at, &hole.copy_at(*at).of(&name))?;
                        Some((*at, filling))
                    };
                    let Some(made) = hole.members.iter().map(copy).collect() else { continue };
                    (name, made)
                }
                _ => {
                    let allowance = SIZES[rng.random_range(0..2)];
                    let slot = Slot::Hole(u32::MAX);
                    let what = Derivation { grammar, tokens: &mut self.tokens, slot, allowance, first: None };
                    let name = derive(what, tree.node(base).symbol, &mut Plain, rng);
                    (name.lexeme(0).to_vec(), hole.members.iter().map(|at| (*at, name.clone())).collect())
                }
            };
            fillings = made;
            if !self.taken.contains(&name) && !used.contains(&name) {
                break;
            }
        }
        fillings
    }
}

/// A number between the bounds: often one of them, since that is where programs change their ways.
fn number_within(from: Option<u64>, to: Option<u64>, rng: &mut ChaCha8Rng) -> u64 {
    let least = from.unwrap_or(0);
    let most = to.unwrap_or(least.saturating_mul(4).saturating_add(1_000)).max(least);
    match rng.random_range(0..10) {
        0 => least,
        1 => most,
        2 => least.saturating_add(1).min(most),
        _ => rng.random_range(least..=most),
    }
}

/// The node with another text in its only leaf, if it has one and the text may stand there.
pub fn with_text(grammar: &Grammar, tree: &Tree, at: usize, text: &[u8]) -> Option<Tree> {
    let place = only_leaf(grammar, tree, at)?;
    let token = tree.node(place).symbol;
    grammar.lexicon().is_match(token, text).then(|| {
        let whole = tree.fragment(at);
        whole.replace(grammar.lexicon(), &[(place - at, &leaf(token, text))])
    })
}

/// A fragment of the symbol at `core` as one of the symbol at `at`, from which only wrappers lead there.
pub fn wrapped(tree: &Tree, at: usize, core: usize, fragment: &Tree) -> Tree {
    let mut builder = Builder::default();
    (at..core).for_each(|wrapper| builder.open(tree.node(wrapper).symbol, 0));
    builder.graft(fragment);
    (at..core).for_each(|_| builder.close());
    builder.fragment()
}

/// Whether the fillings agree with each other: groups have different names, and what must differ does.
pub fn agree(tree: &Tree, holes: &[Hole], fillings: &[(usize, Tree)]) -> bool {
    let filling = |at: usize| fillings.iter().find(|(place, _)| *place == at).map(|(_, filling)| filling.lexeme(0));
    let text = |at: usize| filling(at).unwrap_or(tree.lexeme(at));
    let differs = |hole: &Hole| match &hole.condition {
        Some(Condition::Differs(places)) => places.iter().all(|place| text(*place) != text(hole.members[0])),
        _ => true,
    };
    let mut names: Vec<&[u8]> =
        holes.iter().filter(|hole| hole.filling == Filling::Same).filter_map(|hole| filling(hole.members[0])).collect();
    let groups = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() == groups && holes.iter().all(differs)
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
    rare: bool,
    seed: u64,
    number: u64,
}

impl<'a> Instances<'a> {
    /// Inputs that follow what was learned of validity.
    pub fn new(pattern: &'a Pattern, seed: u64) -> Self {
        let drawer = Drawer::of(&pattern.grammar, &pattern.tree);
        Instances { pattern, drawer, made: FxHashSet::default(), uniform: false, rare: false, seed, number: 0 }
    }

    /// Inputs in which every choice is even, whatever was learned: an independent measure of a pattern.
    pub fn uniform(pattern: &'a Pattern, seed: u64) -> Self {
        Instances { uniform: true, ..Instances::new(pattern, seed) }
    }

    /// Fillings with at most about this many choices that are others than those that end them soonest.
    #[must_use]
    pub fn with_size(mut self, size: i32) -> Self {
        self.drawer.sizes = [size / 8, size / 4, size / 2, size];
        self
    }

    /// Fillings that nest at most about this deep: from there on, they end as soon as they can.
    #[must_use]
    pub fn with_depth(mut self, depth: u32) -> Self {
        self.drawer.depth = Some(depth);
        self
    }

    /// Also varies the holes whose fillings are rarely valid.
    #[must_use]
    pub fn with_rarely_valid(mut self) -> Self {
        self.rare = true;
        self
    }

    fn one(&mut self) -> Tree {
        let Pattern { grammar, tree, holes, validity, .. } = self.pattern;
        let mut rng = stream(self.seed, "instance", self.number);
        self.number += 1;
        let learned = (!self.uniform).then_some(validity);
        let mut fillings = Fillings::new();
        for _ in 0..REDRAWS {
            let varied = holes.iter().filter(|hole| self.rare || !hole.rarely_valid);
            let draw = |hole| self.drawer.draw(grammar, tree, hole, (learned, false), &mut rng);
            fillings = varied.flat_map(draw).collect();
            if agree(tree, holes, &fillings) {
                break;
            }
        }
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
