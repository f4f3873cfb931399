//! The product of a grammar with an automaton: its derivations, told apart by what is counted in them.
//!
//! Each symbol is split by the states that its derivations have; as the automaton is deterministic, each derivation of the grammar is
//! one of the product, and nothing is counted twice. States that no context tells apart under the condition are then merged
//! (Moore's refinement), so that what the condition does not ask for leaves no trace.

use super::automaton::{Automaton, Row, State};
use super::condition::Condition;
use crate::grammar::{Grammar, Kind, SymbolId};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

/// A place among the parts of a symbol, with what is known of the parts before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub symbol: SymbolId,
    pub alternative: u32,
    /// For a choice, how many parts are before; for a repetition, how many items, as far as it matters.
    pub done: u32,
    /// In a repetition with separators, whether an item has just ended.
    pub after_item: bool,
    row: Row,
}

/// What can follow a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Arcs {
    /// The part that comes next, and for each of its states the place after it.
    pub next: Option<(SymbolId, Vec<(State, usize)>)>,
    /// The symbol's state, if it may end here.
    pub end: Option<State>,
}

/// The product, before or after states are merged.
pub(super) struct Product<'g> {
    pub grammar: &'g Grammar,
    pub automaton: Automaton,
    /// The states of each symbol's derivations.
    pub states: Vec<IndexSet<State>>,
    /// All places that are reached, and what follows each.
    pub places: IndexMap<Place, Arcs>,
    /// The places that the derivations of a symbol begin at, one for each alternative.
    pub begins: FxHashMap<SymbolId, Vec<usize>>,
    /// For each symbol, the class of each of its states.
    pub classes: Vec<FxHashMap<State, u32>>,
    /// The class of each place.
    pub place_classes: Vec<u32>,
}

impl<'g> Product<'g> {
    pub(super) fn new(grammar: &'g Grammar, automaton: Automaton, condition: &Condition) -> Self {
        let mut product = Product {
            grammar,
            automaton,
            states: vec![IndexSet::new(); grammar.len()],
            places: IndexMap::new(),
            begins: FxHashMap::default(),
            classes: vec![FxHashMap::default(); grammar.len()],
            place_classes: Vec::new(),
        };
        product.explore();
        product.merge(condition);
        product
    }

    /// Whether the whole of a derivation from the start in this state meets the condition.
    pub(super) fn accepts(&self, state: State, condition: &Condition) -> bool {
        condition.holds(&|feature| self.automaton.value(state, feature))
    }

    /// Finds all states of all symbols, from the leaves up, until there are no more.
    fn explore(&mut self) {
        let symbols = reachable(self.grammar);
        for symbol in &symbols {
            if self.grammar.is_leaf(*symbol) {
                self.leaf(*symbol);
            }
        }
        // A symbol is looked at again when one of its parts has more states.
        let mut above: FxHashMap<SymbolId, Vec<SymbolId>> = FxHashMap::default();
        for symbol in &symbols {
            let parts = self.grammar.kind(*symbol).parts();
            parts.into_iter().for_each(|part| above.entry(part).or_default().push(*symbol));
        }
        let mut open: IndexSet<SymbolId> = symbols.iter().rev().copied().collect();
        while let Some(symbol) = open.pop() {
            if self.grammar.is_leaf(symbol) {
                continue;
            }
            let before = self.states[symbol.index()].len();
            self.expand(symbol);
            if self.states[symbol.index()].len() > before {
                open.extend(above.get(&symbol).into_iter().flatten().copied());
            }
        }
    }

    fn leaf(&mut self, symbol: SymbolId) {
        let grammar = self.grammar;
        let texts = self.automaton.texts(symbol);
        let texts: Vec<Vec<u8>> = texts.into_iter().filter(|text| grammar.lexicon().is_match(symbol, text)).collect();
        let mut states: IndexSet<State> = texts.iter().map(|text| self.automaton.leaf(symbol, Some(text))).collect();
        let spent = match grammar.kind(symbol) {
            Kind::Set(set) => set.len() as usize == texts.len(),
            _ => false,
        };
        if !spent {
            states.insert(self.automaton.leaf(symbol, None));
        }
        self.states[symbol.index()] = states;
    }

    /// Follows the parts of a symbol from its begin, through all states that the parts have so far.
    fn expand(&mut self, symbol: SymbolId) {
        let alternatives = match self.grammar.kind(symbol) {
            Kind::Choice(alternatives) => alternatives.len() as u32,
            _ => 1,
        };
        let mut begins = Vec::new();
        for alternative in 0..alternatives {
            let row = self.automaton.begin(symbol, alternative);
            let begin = Place { symbol, alternative, done: 0, after_item: false, row };
            let (at, _) = self.places.insert_full(begin, Arcs::default());
            begins.push(at);
            let mut seen: IndexSet<usize> = IndexSet::from([at]);
            let mut next = 0;
            while let Some(at) = seen.get_index(next).copied() {
                next += 1;
                let arcs = self.arcs(at);
                seen.extend(arcs.next.iter().flat_map(|(_, arcs)| arcs.iter().map(|(_, to)| *to)));
                if let Some(state) = arcs.end {
                    self.states[symbol.index()].insert(state);
                }
                self.places[at] = arcs;
            }
        }
        self.begins.insert(symbol, begins);
    }

    fn arcs(&mut self, at: usize) -> Arcs {
        let Some((place, _)) = self.places.get_index(at) else { return Arcs::default() };
        let place = *place;
        let (part, to, ends) = match self.grammar.kind(place.symbol) {
            Kind::Choice(_) => {
                let parts = self.grammar.alternative(place.symbol, place.alternative);
                let part = parts.get(place.done as usize).copied();
                (part, Place { done: place.done + 1, ..place }, part.is_none())
            }
            Kind::Repeat { item, separator, min, max } => {
                let most = max.unwrap_or(*min);
                let full = max.is_some_and(|max| place.done >= max);
                let ends = place.done >= *min && (separator.is_none() || place.after_item || place.done == 0);
                match separator.filter(|_| place.after_item) {
                    Some(separator) => ((!full).then_some(separator), Place { after_item: false, ..place }, ends),
                    None => {
                        let done = (place.done + 1).min(most.max(u32::from(separator.is_some())));
                        let to = Place { done, after_item: separator.is_some(), ..place };
                        ((!full).then_some(*item), to, ends)
                    }
                }
            }
            Kind::Literal(_) | Kind::Set(_) => return Arcs::default(),
        };
        let end = ends.then(|| self.automaton.end(place.row));
        let next = part.map(|part| {
            let states: Vec<State> = self.states[part.index()].iter().copied().collect();
            let step = |state: State| {
                let row = self.automaton.step(place.row, state);
                let entry = self.places.entry(Place { row, ..to });
                let index = entry.index();
                entry.or_default();
                (state, index)
            };
            (part, states.into_iter().map(step).collect())
        });
        Arcs { next, end }
    }

    /// Merges the states that no context tells apart.
    fn merge(&mut self, condition: &Condition) {
        let start = self.grammar.start();
        let mut classes: Vec<FxHashMap<State, u32>> = vec![FxHashMap::default(); self.grammar.len()];
        for (symbol, states) in self.states.iter().enumerate() {
            for state in states {
                let class = u32::from(symbol == start.index() && self.accepts(*state, condition));
                classes[symbol].insert(*state, class);
            }
        }
        let mut place_classes = vec![0; self.places.len()];
        let mut count = (0, 0);
        loop {
            // Of places: by what follows.
            let mut numbers: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
            let mut of_symbol: FxHashMap<(SymbolId, u32, u32, bool), u32> = FxHashMap::default();
            let mut refined = vec![0; self.places.len()];
            for (at, (place, arcs)) in self.places.iter().enumerate() {
                let key = (place.symbol, place.alternative, place.done, place.after_item);
                let next = of_symbol.len() as u32;
                let kind = *of_symbol.entry(key).or_insert(next);
                let mut signature =
                    vec![place_classes[at], arcs.end.map_or(u32::MAX, |state| classes[place.symbol.index()][&state])];
                if let Some((_, arcs)) = &arcs.next {
                    signature.extend(arcs.iter().map(|(_, to)| place_classes[*to]));
                }
                let next = numbers.len() as u32;
                refined[at] = *numbers.entry((kind, signature)).or_insert(next);
            }
            // Of states: by what each leads to, wherever the symbol may stand.
            let mut leads: Vec<FxHashMap<State, Vec<u32>>> = vec![FxHashMap::default(); self.grammar.len()];
            for arcs in self.places.values() {
                if let Some((symbol, arcs)) = &arcs.next {
                    for (state, to) in arcs {
                        leads[symbol.index()].entry(*state).or_default().push(refined[*to]);
                    }
                }
            }
            let mut total = 0;
            for (symbol, states) in self.states.iter().enumerate() {
                let mut numbers: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
                let mut finer = FxHashMap::default();
                for state in states {
                    let key = (classes[symbol][state], leads[symbol].remove(state).unwrap_or_default());
                    let next = numbers.len() as u32;
                    finer.insert(*state, *numbers.entry(key).or_insert(next));
                }
                total += numbers.len();
                classes[symbol] = finer;
            }
            place_classes = refined;
            let now = (numbers.len(), total);
            if now == count {
                break;
            }
            count = now;
        }
        (self.classes, self.place_classes) = (classes, place_classes);
    }

    /// How many classes a symbol's states have.
    pub(super) fn width(&self, symbol: SymbolId) -> u32 {
        self.classes[symbol.index()].values().max().map_or(0, |last| last + 1)
    }
}

/// The symbols that whole inputs are made of, the start first.
pub(super) fn reachable(grammar: &Grammar) -> IndexSet<SymbolId> {
    let mut found = IndexSet::from([grammar.start()]);
    let mut next = 0;
    while let Some(symbol) = found.get_index(next).copied() {
        next += 1;
        if !grammar.is_leaf(symbol) {
            found.extend(grammar.kind(symbol).parts());
        }
    }
    found
}
