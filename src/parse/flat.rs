//! The grammar as the parser walks it: a row of states, each of which awaits one symbol.
//!
//! An alternative is a chain of states. A repetition is a chain with a loop at its end, so a list costs one item for each
//! member and needs no helper symbols that would have to vanish from the tree. States are numbered so that those which
//! await the same symbol are neighbours: in a sorted set of the chart they are one range.
//!
//! Symbols here are those of the grammar, by their ids, and after them the copies of rules with [priorities](super::priority).

use super::ahead::Lookahead;
use super::priority::{Body, Copies, HIDDEN};
use crate::grammar::{Grammar, Kind, SymbolId, code};
use fixedbitset::FixedBitSet;
use std::ops::Range;

/// No symbol, no state.
pub(super) const NONE: u32 = u32::MAX;

/// How far the derivation of one symbol has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// What must come next; [`NONE`] where nothing can.
    pub awaits: u32,
    /// The state after it.
    pub next: u32,
    /// The symbol that is being derived.
    pub owner: u32,
    /// Its alternative; [`HIDDEN`] for the step to another copy of the same rule.
    pub alternative: u32,
    /// Whether the derivation may end here.
    pub accepts: bool,
}

/// A grammar, prepared.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    states: Vec<State>,
    /// What each symbol is to the grammar: itself, or the rule that it is a copy of.
    public: Vec<SymbolId>,
    /// The states that lead to each state: at most two, since a loop has one entry.
    before: Vec<[u32; 2]>,
    initial: Vec<Vec<u32>>,
    awaiting: Vec<Range<u32>>,
    leaf: FixedBitSet,
    nullable: FixedBitSet,
    pub(super) lookahead: Lookahead,
    /// From here on states await leaves.
    first_leaf: u32,
    empty: Vec<u32>,
    component: Vec<u32>,
    inner: Vec<Option<u32>>,
    right: Vec<u32>,
    lexemes: Vec<Lexeme>,
}

/// What the parser must know of a leaf to look for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lexeme {
    /// It is one character: it is there if it can begin there.
    pub single: bool,
    /// Of these only the longest count.
    pub operator: bool,
    /// Nothing is skipped before it.
    pub immediate: bool,
}

impl Flat {
    pub(super) fn of(grammar: &Grammar) -> Self {
        let copies = Copies::new(grammar);
        let public: Vec<SymbolId> = grammar.ids().chain(copies.of).collect();
        let mut leaf = FixedBitSet::with_capacity(public.len());
        let mut nullable = FixedBitSet::with_capacity(public.len());
        for (symbol, id) in public.iter().enumerate() {
            leaf.set(symbol, grammar.is_leaf(*id));
            nullable.set(symbol, !grammar.is_leaf(*id) && grammar.is_nullable(*id));
        }
        let mut flat = Flat {
            states: Vec::new(),
            before: Vec::new(),
            initial: vec![Vec::new(); public.len()],
            awaiting: Vec::new(),
            leaf,
            nullable,
            lookahead: Lookahead::default(),
            first_leaf: 0,
            empty: empty_alternatives(grammar),
            component: Vec::new(),
            inner: vec![None; public.len()],
            right: Vec::new(),
            lexemes: grammar.ids().map(|id| lexeme(grammar, id)).collect(),
            public,
        };
        let mut units = vec![Vec::new(); flat.public.len()];
        for id in grammar.ids().filter(|id| !grammar.is_leaf(*id) && grammar.symbol(*id).operators.is_empty()) {
            match grammar.kind(id) {
                Kind::Choice(alternatives) => {
                    let body = |(number, parts): (u32, &Vec<SymbolId>)| (number, parts.iter().map(|p| p.0).collect());
                    flat.choice(id.0, (0..).zip(alternatives).map(body).collect(), &mut units);
                }
                Kind::Repeat { item, separator, min, max } => {
                    flat.initial[id.index()].push(flat.states.len() as u32);
                    looped(&mut flat.states, id, *item, *separator, *min, *max);
                    units[id.index()].extend(separator.iter().chain([item]).map(|part| part.0));
                }
                Kind::Literal(_) | Kind::Set(_) => {}
            }
        }
        for (symbol, bodies) in copies.bodies {
            flat.choice(symbol, bodies, &mut units);
        }
        flat.renumber();
        flat.lookahead = Lookahead::of(grammar, &flat.states, &flat.public, &flat.nullable);
        units.iter_mut().for_each(|edges| edges.retain(|to| !flat.is_leaf(*to)));
        flat.component = components(&units);
        flat.right = components(&flat.last_parts());
        flat
    }

    /// Adds the states of a choice. `units` are for each symbol those that it can derive over its whole text, everything
    /// beside them being empty.
    fn choice(&mut self, owner: u32, bodies: Vec<Body>, units: &mut [Vec<u32>]) {
        for (alternative, parts) in bodies {
            self.initial[owner as usize].push(self.states.len() as u32);
            let solid = parts.iter().filter(|part| !self.is_nullable(**part)).count();
            let alone = |part: &&u32| solid == 0 || solid == 1 && !self.is_nullable(**part);
            units[owner as usize].extend(parts.iter().filter(alone));
            if alternative == HIDDEN {
                self.inner[owner as usize] = parts.first().copied();
            }
            chain(&mut self.states, owner, alternative, &parts);
        }
    }

    /// Sorts the states by what they await: other symbols' derivations, then leaves, then nothing.
    fn renumber(&mut self) {
        let key = |state: &State| match state.awaits {
            NONE => (2, 0),
            symbol => (u32::from(self.leaf.contains(symbol as usize)), symbol),
        };
        let mut order: Vec<u32> = (0..self.states.len() as u32).collect();
        order.sort_by_key(|old| key(&self.states[*old as usize]));
        let mut number = vec![0; order.len()];
        for (new, old) in (0..).zip(&order) {
            number[*old as usize] = new;
        }
        let renumbered = |old: u32| if old == NONE { NONE } else { number[old as usize] };
        let states: Vec<State> = order
            .iter()
            .map(|old| self.states[*old as usize])
            .map(|state| State { next: renumbered(state.next), ..state })
            .collect();
        self.first_leaf = states.partition_point(|state| key(state) < (1, 0)) as u32;
        self.awaiting = vec![0..0; self.symbols()];
        self.before = vec![[NONE; 2]; states.len()];
        for (number, state) in (0..).zip(&states) {
            if state.awaits != NONE {
                let range = &mut self.awaiting[state.awaits as usize];
                *range = if range.end == 0 { number..number + 1 } else { range.start..number + 1 };
                let before = &mut self.before[state.next as usize];
                before[usize::from(before[0] != NONE)] = number;
            }
        }
        self.states = states;
        self.initial.iter_mut().flatten().for_each(|state| *state = number[*state as usize]);
    }

    /// For each symbol, those whose derivations can end with it.
    fn last_parts(&self) -> Vec<Vec<u32>> {
        let mut parts = vec![Vec::new(); self.symbols()];
        let inner = |state: &&State| state.awaits != NONE && !self.is_leaf(state.awaits);
        for state in self.states.iter().filter(inner).filter(|state| self.state(state.next).awaits == NONE) {
            parts[state.awaits as usize].push(state.owner);
        }
        parts
    }

    pub(super) fn state(&self, number: u32) -> &State {
        &self.states[number as usize]
    }

    /// How many symbols the grammar has.
    pub(super) fn symbols(&self) -> usize {
        self.public.len()
    }

    /// What a symbol is to the grammar.
    pub(super) fn public(&self, symbol: u32) -> SymbolId {
        self.public[symbol as usize]
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Where the derivations of a symbol begin.
    pub(super) fn initial(&self, symbol: u32) -> &[u32] {
        &self.initial[symbol as usize]
    }

    /// The states that lead to a state.
    pub(super) fn before(&self, state: u32) -> impl Iterator<Item = u32> + use<> {
        self.before[state as usize].into_iter().filter(|state| *state != NONE)
    }

    /// The states that await a symbol.
    pub(super) fn awaiting(&self, symbol: u32) -> Range<u32> {
        self.awaiting[symbol as usize].clone()
    }

    /// Whether the state awaits a leaf; only for states that await anything.
    pub(super) fn awaits_leaf(&self, state: u32) -> bool {
        state >= self.first_leaf
    }

    /// The first of the states that await a leaf.
    pub(super) fn first_leaf(&self) -> u32 {
        self.first_leaf
    }

    pub(super) fn is_leaf(&self, symbol: u32) -> bool {
        self.leaf.contains(symbol as usize)
    }

    /// Whether the symbol, no leaf, derives the empty text.
    pub(super) fn is_nullable(&self, symbol: u32) -> bool {
        self.nullable.contains(symbol as usize)
    }

    /// The copy that a symbol's derivation may be, instead of having a step of its own.
    pub(super) fn inner(&self, symbol: u32) -> Option<u32> {
        self.inner[symbol as usize]
    }

    /// The alternative of the one empty derivation that a nullable symbol has in trees.
    pub(super) fn empty_alternative(&self, symbol: u32) -> u32 {
        self.empty[self.public(symbol).index()]
    }

    /// Symbols with the same number can end with each other: recursion on the right; [`NONE`] for all others.
    pub(super) fn right(&self, symbol: u32) -> u32 {
        self.right.get(symbol as usize).copied().unwrap_or(NONE)
    }

    /// What to know of a leaf.
    pub(super) fn lexeme(&self, leaf: u32) -> Lexeme {
        self.lexemes[leaf as usize]
    }

    /// Symbols of one component can derive each other over the same text; [`NONE`] for those that cannot derive themselves.
    pub(super) fn component(&self, symbol: u32) -> u32 {
        self.component[symbol as usize]
    }
}

fn chain(states: &mut Vec<State>, owner: u32, alternative: u32, parts: &[u32]) {
    for &awaits in parts {
        let next = states.len() as u32 + 1;
        states.push(State { awaits, next, owner, alternative, accepts: false });
    }
    states.push(State { awaits: NONE, next: NONE, owner, alternative, accepts: true });
}

/// One state for each count of items up to the greatest that matters, and one after each separator. Without a greatest
/// count, the last state leads to itself.
fn looped(
    states: &mut Vec<State>,
    owner: SymbolId,
    item: SymbolId,
    separator: Option<SymbolId>,
    min: u32,
    max: Option<u32>,
) {
    let base = states.len() as u32;
    let stride = if separator.is_some() { 2 } else { 1 };
    let place = |count: u32| if count == 0 { base } else { base + 1 + (count - 1) * stride };
    let top = max.unwrap_or(min.max(1));
    for count in 0..=top {
        let state = State { awaits: NONE, next: NONE, owner: owner.0, alternative: 0, accepts: count >= min };
        if count == top && max.is_some() {
            states.push(state);
            break;
        }
        let next = place((count + 1).min(top));
        match separator.filter(|_| count > 0) {
            Some(separator) => {
                states.push(State { awaits: separator.0, next: place(count) + 1, ..state });
                states.push(State { awaits: item.0, next, accepts: false, ..state });
            }
            None => states.push(State { awaits: item.0, next, ..state }),
        }
    }
}

fn lexeme(grammar: &Grammar, id: SymbolId) -> Lexeme {
    let lexicon = grammar.lexicon();
    let single = match grammar.kind(id) {
        Kind::Set(_) => true,
        Kind::Literal(bytes) => code::decode(bytes).count() == 1 && !lexicon.is_keyword(id),
        Kind::Choice(_) | Kind::Repeat { .. } => false,
    };
    Lexeme { single, operator: lexicon.is_operator(id), immediate: lexicon.is_immediate(id) }
}

/// For each nullable choice, the first alternative among those with the least high empty derivation. Heights fall along
/// the way down, so this derivation is finite.
fn empty_alternatives(grammar: &Grammar) -> Vec<u32> {
    let mut heights: Vec<Option<u32>> = vec![None; grammar.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for id in grammar.ids() {
            if let Some((height, _)) = least_empty(grammar, id, &heights)
                && heights[id.index()].is_none_or(|known| height < known)
            {
                heights[id.index()] = Some(height);
                changed = true;
            }
        }
    }
    grammar.ids().map(|id| least_empty(grammar, id, &heights).map_or(0, |(_, alternative)| alternative)).collect()
}

/// The least height of an empty derivation, as far as the parts' heights are known, and the first alternative that has it.
fn least_empty(grammar: &Grammar, id: SymbolId, heights: &[Option<u32>]) -> Option<(u32, u32)> {
    if grammar.is_leaf(id) {
        return None;
    }
    match grammar.kind(id) {
        Kind::Choice(alternatives) => {
            let empty = |(number, parts): (u32, &Vec<SymbolId>)| Some((above(heights, parts.iter().copied())?, number));
            (0..).zip(alternatives).filter_map(empty).min()
        }
        Kind::Repeat { min: 0, .. } => Some((1, 0)),
        Kind::Repeat { item, separator, min, .. } => {
            let between = separator.filter(|_| *min > 1);
            Some((above(heights, between.into_iter().chain([*item]))?, 0))
        }
        Kind::Literal(_) | Kind::Set(_) => None,
    }
}

fn above(heights: &[Option<u32>], mut parts: impl Iterator<Item = SymbolId>) -> Option<u32> {
    let highest = parts.try_fold(0, |most: u32, part| heights[part.index()].map(|height| most.max(height)))?;
    Some(highest + 1)
}

/// The strongly connected components that have an edge inside, numbered by one of their members; [`NONE`] for the rest.
fn components(edges: &[Vec<u32>]) -> Vec<u32> {
    let order = finished_order(edges);
    let mut back = vec![Vec::new(); edges.len()];
    for (from, targets) in (0..).zip(edges) {
        targets.iter().for_each(|to| back[*to as usize].push(from));
    }
    let mut component = vec![NONE; edges.len()];
    for &root in order.iter().rev() {
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            if component[at as usize] == NONE {
                component[at as usize] = root;
                open.extend(back[at as usize].iter().filter(|from| component[**from as usize] == NONE));
            }
        }
    }
    let inside = |at: usize| edges[at].iter().any(|to| component[*to as usize] == component[at]);
    (0..edges.len()).map(|at| if inside(at) { component[at] } else { NONE }).collect()
}

/// The nodes of a graph in the order in which a depth-first walk leaves them.
fn finished_order(edges: &[Vec<u32>]) -> Vec<u32> {
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = FixedBitSet::with_capacity(edges.len());
    let mut open: Vec<(u32, usize)> = Vec::new();
    for root in 0..edges.len() as u32 {
        if seen.put(root as usize) {
            continue;
        }
        open.push((root, 0));
        while let Some((at, next)) = open.pop() {
            match edges[at as usize].get(next) {
                Some(&to) => {
                    open.push((at, next + 1));
                    if !seen.put(to as usize) {
                        open.push((to, 0));
                    }
                }
                None => order.push(at),
            }
        }
    }
    order
}
