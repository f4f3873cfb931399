//! What can come next: the classes of characters with which the rest of a derivation begins, and what follows a symbol.
//!
//! A derivation that cannot go on with what is ahead is not worth an item of the chart. That takes nothing from any
//! tree, and it is what makes most grammars cheap: at a digit within a number, nothing is a whole number yet.

use super::flat::{NONE, State};
use crate::grammar::{Grammar, Kind, SymbolId, code};
use fixedbitset::FixedBitSet;

/// What can be seen of the input at a place: the class there, and the one after what may be skipped. Bits of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ahead {
    after_skip: u32,
    immediate: u32,
}

/// For each state, with what its derivation can go on, and for each symbol, what can follow it.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookahead {
    /// How many classes there are, the end of the input being one more.
    classes: u32,
    /// Whether there is a leaf before which nothing is skipped. Without, all places look alike to it.
    has_immediate: bool,
    begin: Rows,
    viable: Rows,
    follow: Rows,
}

impl Lookahead {
    /// `public` are the grammar's symbols behind the flat ones, `nullable` those that are no leaves and can be empty.
    pub(super) fn of(grammar: &Grammar, states: &[State], public: &[SymbolId], nullable: &FixedBitSet) -> Self {
        let classes = grammar.lexicon().alphabet().len();
        let width = 2 * (classes + 1);
        let of_symbol = firsts(grammar, classes + 1);
        let nullable = |symbol: u32| nullable.contains(symbol as usize);
        let mut begin = Rows::new(states.len(), width);
        for (row, state) in states.iter().enumerate().filter(|(_, state)| state.awaits != NONE) {
            of_symbol[public[state.awaits as usize].index()].ones().for_each(|bit| begin.set(row, bit));
        }
        let mut can_end: Vec<bool> = states.iter().map(|state| state.accepts).collect();
        repeat(|| {
            let mut changed = false;
            for (row, state) in states.iter().enumerate().rev() {
                if state.awaits != NONE && nullable(state.awaits) {
                    let next = state.next as usize;
                    changed |= begin.merge(row, next);
                    changed |= can_end[next] && !std::mem::replace(&mut can_end[row], true);
                }
            }
            changed
        });
        let mut follow = Rows::new(public.len(), width);
        // Any symbol may be parsed alone.
        (0..public.len()).for_each(|symbol| follow.set(symbol, classes));
        for state in states.iter().filter(|state| state.awaits != NONE) {
            follow.merge_from(state.awaits as usize, &begin, state.next as usize);
        }
        repeat(|| {
            let inherits = |state: &&State| state.awaits != NONE && can_end[state.next as usize];
            let merged =
                states.iter().rev().filter(inherits).map(|s| follow.merge(s.awaits as usize, s.owner as usize));
            merged.fold(false, |changed, merged| changed | merged)
        });
        let mut viable = begin.clone();
        for (row, state) in states.iter().enumerate().filter(|(row, _)| can_end[*row]) {
            viable.merge_from(row, &follow, state.owner as usize);
        }
        let has_immediate = grammar.ids().any(|id| grammar.lexicon().is_immediate(id));
        Lookahead { classes: classes as u32, has_immediate, begin, viable, follow }
    }

    /// What is ahead, from the two classes; none at the end of the input.
    pub(super) fn ahead(&self, after_skip: Option<u16>, immediate: Option<u16>) -> Ahead {
        let bit = |class: Option<u16>| class.map_or(self.classes, u32::from);
        let immediate = immediate.filter(|_| self.has_immediate);
        Ahead { after_skip: bit(after_skip), immediate: self.classes + 1 + bit(immediate) }
    }

    /// Whether the rest of a derivation, if it is not empty, can begin with what is ahead.
    pub(super) fn can_begin(&self, state: u32, ahead: Ahead) -> bool {
        self.begin.has(state, ahead)
    }

    /// Whether a derivation can go on, or end, before what is ahead.
    pub(super) fn can_go_on(&self, state: u32, ahead: Ahead) -> bool {
        self.viable.has(state, ahead)
    }

    /// Whether what is ahead can follow a symbol.
    pub(super) fn can_follow(&self, symbol: u32, ahead: Ahead) -> bool {
        self.follow.has(symbol, ahead)
    }
}

/// Rows of bits: first those for classes after what may be skipped, the end of the input the last of them, then those for
/// immediate ones.
#[derive(Clone, Debug, Default)]
struct Rows {
    words: usize,
    bits: Vec<u64>,
}

impl Rows {
    fn new(rows: usize, width: usize) -> Self {
        let words = width.div_ceil(64);
        Rows { words, bits: vec![0; rows * words] }
    }

    fn set(&mut self, row: usize, bit: usize) {
        self.bits[row * self.words + bit / 64] |= 1 << (bit % 64);
    }

    /// Whether a row has a bit of what is ahead.
    fn has(&self, row: u32, ahead: Ahead) -> bool {
        let first = row as usize * self.words;
        let bit = |bit: u32| self.bits[first + (bit / 64) as usize] >> (bit % 64);
        (bit(ahead.after_skip) | bit(ahead.immediate)) & 1 != 0
    }

    /// Adds one row to another; whether that changed it.
    fn merge(&mut self, to: usize, from: usize) -> bool {
        let mut changed = false;
        for word in 0..self.words {
            let more = self.bits[from * self.words + word];
            let bits = &mut self.bits[to * self.words + word];
            changed |= *bits | more != *bits;
            *bits |= more;
        }
        changed
    }

    fn merge_from(&mut self, to: usize, other: &Rows, from: usize) {
        let more = &other.bits[from * self.words..][..self.words];
        self.bits[to * self.words..][..self.words].iter_mut().zip(more).for_each(|(bits, more)| *bits |= more);
    }
}

/// Calls `step` until it changes nothing any more.
fn repeat(mut step: impl FnMut() -> bool) {
    while step() {}
}

/// With what each symbol's non-empty texts can begin, to the least fixed point, as bits of a row.
fn firsts(grammar: &Grammar, immediate: usize) -> Vec<FixedBitSet> {
    let alphabet = grammar.lexicon().alphabet();
    let mut first: Vec<FixedBitSet> = grammar.ids().map(|_| FixedBitSet::with_capacity(2 * immediate)).collect();
    for id in grammar.ids() {
        match grammar.kind(id) {
            Kind::Literal(bytes) => {
                let begin = code::decode(bytes).next();
                first[id.index()].extend(begin.map(|(_, code)| usize::from(alphabet.class(code))));
            }
            Kind::Set(set) => first[id.index()].extend(alphabet.classes_of(set).map(usize::from)),
            Kind::Choice(_) | Kind::Repeat { .. } => {}
        }
    }
    // First the insides of tokens; then what is made of tokens, some of which are immediate.
    repeat(|| settle(grammar, |id, part| merge(&mut first, id, part)));
    for id in grammar.ids() {
        if !grammar.is_leaf(id) {
            first[id.index()].clear();
        } else if grammar.lexicon().is_immediate(id) {
            let moved = first[id.index()].ones().map(|class| immediate + class).collect();
            first[id.index()] = moved;
            first[id.index()].grow(2 * immediate);
        }
    }
    repeat(|| settle(grammar, |id, part| !grammar.is_leaf(id) && merge(&mut first, id, part)));
    first
}

/// Calls `f` with each symbol and each part that can stand first in it; whether any call returned true.
fn settle(grammar: &Grammar, mut f: impl FnMut(SymbolId, SymbolId) -> bool) -> bool {
    let mut changed = false;
    for id in grammar.ids() {
        match grammar.kind(id) {
            Kind::Choice(alternatives) => {
                for parts in alternatives {
                    for part in parts {
                        changed |= f(id, *part);
                        if !grammar.is_nullable(*part) {
                            break;
                        }
                    }
                }
            }
            Kind::Repeat { item, separator, .. } => {
                changed |= f(id, *item);
                if let Some(separator) = separator.filter(|_| grammar.is_nullable(*item)) {
                    changed |= f(id, separator);
                }
            }
            Kind::Literal(_) | Kind::Set(_) => {}
        }
    }
    changed
}

/// Adds the part's set to the symbol's; whether that changed it.
fn merge(sets: &mut [FixedBitSet], id: SymbolId, part: SymbolId) -> bool {
    if id == part || sets[part.index()].is_subset(&sets[id.index()]) {
        return false;
    }
    let from = sets[part.index()].clone();
    sets[id.index()].union_with(&from);
    true
}
