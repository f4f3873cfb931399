//! Deterministic automata for the lexical rules: subset construction over the classes of the alphabet.

use super::alphabet::Alphabet;
use super::{Kind, Symbol, SymbolId, lower};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// More states than this are taken for a mistake in the grammar: lexical rules of real languages have a few dozen.
const MAX_STATES: usize = 20_000;

const DEAD: u32 = u32::MAX;

/// A deterministic automaton over alphabet classes. State 0 is the start.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    width: usize,
    /// Row by row, `width` entries a state.
    next: Vec<u32>,
    accepting: FixedBitSet,
}

/// Why there is no automaton.
#[derive(Debug)]
pub(super) enum NotRegular {
    /// The rule refers to itself.
    Recursive(SymbolId),
    /// It needs too many states.
    TooLarge,
}

#[derive(Default)]
struct Nfa {
    /// For each state, where it goes without reading.
    empty: Vec<Vec<u32>>,
    /// For each state, where it goes on a class.
    moves: Vec<Vec<(u16, u32)>>,
}

impl Nfa {
    fn state(&mut self) -> u32 {
        self.empty.push(Vec::new());
        self.moves.push(Vec::new());
        (self.empty.len() - 1) as u32
    }
}

struct Builder<'a> {
    symbols: &'a [Symbol],
    alphabet: &'a Alphabet,
    nfa: Nfa,
    open: Vec<SymbolId>,
}

impl Builder<'_> {
    /// Adds the symbol's language between `from` and a new state, which it returns. Its recursion follows the nesting of the
    /// grammar's rules, never an input.
    fn add(&mut self, id: SymbolId, from: u32) -> Result<u32, NotRegular> {
        if self.nfa.empty.len() > 50 * MAX_STATES {
            return Err(NotRegular::TooLarge);
        }
        let symbols = self.symbols;
        let symbol = &symbols[id.index()];
        match &symbol.kind {
            Kind::Literal(bytes) => {
                let mut at = from;
                for code in lower::codes(bytes) {
                    let to = self.nfa.state();
                    self.nfa.moves[at as usize].push((self.alphabet.class(code), to));
                    at = to;
                }
                Ok(at)
            }
            Kind::Set(set) => {
                let to = self.nfa.state();
                let mut classes: Vec<u16> = self.alphabet.classes_of(set).collect();
                classes.sort_unstable();
                classes.dedup();
                self.nfa.moves[from as usize].extend(classes.into_iter().map(|class| (class, to)));
                Ok(to)
            }
            Kind::Choice(alternatives) => {
                if self.open.contains(&id) {
                    return Err(NotRegular::Recursive(id));
                }
                self.open.push(id);
                let end = self.nfa.state();
                for alternative in alternatives {
                    let start = self.nfa.state();
                    self.nfa.empty[from as usize].push(start);
                    let last = alternative.iter().try_fold(start, |at, part| self.add(*part, at))?;
                    self.nfa.empty[last as usize].push(end);
                }
                self.open.pop();
                Ok(end)
            }
            Kind::Repeat { item, separator, min, max } => self.add_repeat(*item, *separator, *min, *max, from),
        }
    }

    fn add_repeat(
        &mut self,
        item: SymbolId,
        separator: Option<SymbolId>,
        min: u32,
        max: Option<u32>,
        from: u32,
    ) -> Result<u32, NotRegular> {
        let end = self.nfa.state();
        let mut at = from;
        let counted = max.unwrap_or(min.max(1));
        for n in 0..counted {
            if n >= min {
                self.nfa.empty[at as usize].push(end);
            }
            if let (Some(separator), true) = (separator, n > 0) {
                at = self.add(separator, at)?;
            }
            at = self.add(item, at)?;
        }
        self.nfa.empty[at as usize].push(end);
        if max.is_none() {
            let start = self.nfa.state();
            self.nfa.empty[at as usize].push(start);
            let mut last = start;
            if let Some(separator) = separator {
                last = self.add(separator, last)?;
            }
            last = self.add(item, last)?;
            self.nfa.empty[last as usize].extend([start, end]);
        }
        Ok(end)
    }
}

impl Automaton {
    /// The automaton that accepts what any of the symbols derives.
    pub(super) fn of(symbols: &[Symbol], alphabet: &Alphabet, of: &[SymbolId]) -> Result<Self, NotRegular> {
        let mut builder = Builder { symbols, alphabet, nfa: Nfa::default(), open: Vec::new() };
        let start = builder.nfa.state();
        let end = builder.nfa.state();
        for &symbol in of {
            let from = builder.nfa.state();
            builder.nfa.empty[start as usize].push(from);
            let last = builder.add(symbol, from)?;
            builder.nfa.empty[last as usize].push(end);
        }
        Self::determinize(&builder.nfa, alphabet.len(), start, end)
    }

    fn determinize(nfa: &Nfa, width: usize, start: u32, end: u32) -> Result<Self, NotRegular> {
        let mut automaton = Automaton { width, next: Vec::new(), accepting: FixedBitSet::new() };
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut sets: Vec<Vec<u32>> = Vec::new();
        let first = closure(nfa, vec![start]);
        numbers.insert(first.clone(), 0);
        sets.push(first);
        let mut done = 0;
        while done < sets.len() {
            if sets.len() > MAX_STATES {
                return Err(NotRegular::TooLarge);
            }
            let set = sets[done].clone();
            automaton.accepting.grow_and_insert_if(done, set.binary_search(&end).is_ok());
            let mut targets: Vec<Vec<u32>> = vec![Vec::new(); width];
            for (class, to) in set.iter().flat_map(|state| &nfa.moves[*state as usize]) {
                targets[usize::from(*class)].push(*to);
            }
            for target in targets {
                if target.is_empty() {
                    automaton.next.push(DEAD);
                    continue;
                }
                let target = closure(nfa, target);
                let number = *numbers.entry(target.clone()).or_insert_with(|| {
                    sets.push(target);
                    (sets.len() - 1) as u32
                });
                automaton.next.push(number);
            }
            done += 1;
        }
        Ok(automaton)
    }

    fn step(&self, state: u32, class: u16) -> u32 {
        self.next[state as usize * self.width + usize::from(class)]
    }

    /// Where the longest match that begins at `from` ends; `None` if nothing, not even the empty text, matches.
    pub(super) fn longest(&self, classes: &[u16], from: usize) -> Option<usize> {
        let mut state = 0;
        let mut found = self.accepting.contains(0).then_some(from);
        for (at, class) in classes.iter().enumerate().skip(from) {
            state = self.step(state, *class);
            if state == DEAD {
                break;
            }
            if self.accepting.contains(state as usize) {
                found = Some(at + 1);
            }
        }
        found
    }

    /// Whether the whole of `classes` is accepted.
    pub(super) fn accepts(&self, classes: &[u16]) -> bool {
        self.longest(classes, 0) == Some(classes.len())
    }

    /// Accepted words, shortest first, least class first among equals; at most `most` of them.
    pub(super) fn words(&self, classes_in_order: &[u16], most: usize) -> Vec<Vec<u16>> {
        let mut found = Vec::new();
        let mut open = std::collections::VecDeque::from([(0_u32, Vec::new())]);
        // Each state may be passed once for each word wanted, which bounds the search and loses no shortest word.
        let mut passed = vec![0_usize; self.next.len() / self.width.max(1)];
        while let Some((state, word)) = open.pop_front() {
            if passed[state as usize] >= most {
                continue;
            }
            passed[state as usize] += 1;
            if self.accepting.contains(state as usize) {
                found.push(word.clone());
                if found.len() >= most {
                    break;
                }
            }
            for &class in classes_in_order {
                let to = self.step(state, class);
                if to != DEAD {
                    let mut longer = word.clone();
                    longer.push(class);
                    open.push_back((to, longer));
                }
            }
        }
        found
    }
}

trait GrowAndInsert {
    fn grow_and_insert_if(&mut self, bit: usize, value: bool);
}

impl GrowAndInsert for FixedBitSet {
    fn grow_and_insert_if(&mut self, bit: usize, value: bool) {
        self.grow(bit + 1);
        self.set(bit, value);
    }
}

fn closure(nfa: &Nfa, mut states: Vec<u32>) -> Vec<u32> {
    let mut seen: rustc_hash::FxHashSet<u32> = states.iter().copied().collect();
    states = seen.iter().copied().collect();
    let mut next = 0;
    while next < states.len() {
        for &to in &nfa.empty[states[next] as usize] {
            if seen.insert(to) {
                states.push(to);
            }
        }
        next += 1;
    }
    states.sort_unstable();
    states
}
