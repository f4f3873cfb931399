//! Deterministic automata for the lexical rules: subset construction over the classes of the alphabet.

use super::alphabet::Alphabet;
use super::{Kind, Symbol, SymbolId, lower};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// More states than this are taken for a mistake in the grammar: lexical rules of real languages have a few dozen.
const MAX_STATES: usize = 20_000;

/// Rules of tokens within rules of tokens: more would take too much stack.
pub(super) const MAX_DEPTH: usize = 500;

/// Steps of the subset construction, which bound its time where there are few states with many ways each.
const MAX_WORK: usize = 10_000_000;

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

/// An automaton in the making: from each state it may go several ways.
#[derive(Default)]
pub(super) struct Nfa {
    /// For each state, where it goes without reading.
    empty: Vec<Vec<u32>>,
    /// For each state, where it goes on a class.
    moves: Vec<Vec<(u16, u32)>>,
    /// Where a lazy repetition decides whether to go on.
    lazy: FxHashSet<u32>,
    /// What is reached at the end of the input only.
    last: FxHashSet<u32>,
}

impl Nfa {
    /// A new state.
    pub(super) fn state(&mut self) -> u32 {
        self.empty.push(Vec::new());
        self.moves.push(Vec::new());
        (self.empty.len() - 1) as u32
    }

    /// A way that reads nothing.
    pub(super) fn pass(&mut self, from: u32, to: u32) {
        self.empty[from as usize].push(to);
    }

    /// A way into a repetition and one past it, the preferred one first.
    pub(super) fn choose(&mut self, from: u32, into: u32, past: u32, lazy: bool) {
        let at = self.state();
        self.pass(from, at);
        let (first, second) = if lazy { (past, into) } else { (into, past) };
        self.pass(at, first);
        self.pass(at, second);
        if lazy {
            self.lazy.insert(at);
        }
    }

    /// A state that is reached from `from` at the end of the input.
    pub(super) fn finish(&mut self, from: u32) -> u32 {
        let at = self.state();
        self.pass(from, at);
        self.last.insert(at);
        at
    }

    /// A way for each of the classes.
    pub(super) fn read(&mut self, from: u32, classes: impl IntoIterator<Item = u16>, to: u32) {
        self.moves[from as usize].extend(classes.into_iter().map(|class| (class, to)));
    }

    /// Puts a copy of `part` between `from` and a new state, which it returns.
    pub(super) fn embed(&mut self, part: &Automaton, from: u32) -> u32 {
        let base = self.empty.len() as u32;
        let end = base + part.len() as u32;
        (0..=part.len()).for_each(|_| _ = self.state());
        self.pass(from, base);
        for state in 0..part.len() as u32 {
            for (class, to) in part.moves(state) {
                self.read(base + state, [class], base + to);
            }
            if part.is_accepting(state) {
                self.pass(base + state, end);
            }
        }
        end
    }

    /// Whether it is larger than any that is meant.
    pub(super) fn is_too_large(&self) -> bool {
        self.empty.len() > 50 * MAX_STATES
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
        if self.nfa.is_too_large() {
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
                if self.open.len() > MAX_DEPTH {
                    return Err(NotRegular::TooLarge);
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

    /// The automaton that accepts what leads from `start` to `end`, over `width` classes.
    pub(super) fn determinize(nfa: &Nfa, width: usize, start: u32, end: u32) -> Result<Self, NotRegular> {
        let mut automaton = Automaton { width, next: Vec::new(), accepting: FixedBitSet::new() };
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut sets: Vec<Vec<u32>> = Vec::new();
        let first = closure(nfa, vec![start]);
        numbers.insert(first.clone(), 0);
        sets.push(first);
        // Many classes lead from many sets to the same states.
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut done = 0;
        let mut work = 0;
        while done < sets.len() {
            if sets.len() > MAX_STATES || work > MAX_WORK {
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
                let number = known.get(&target).copied().unwrap_or_else(|| {
                    let all = closure(nfa, target.clone());
                    work += all.len();
                    let number = *numbers.entry(all.clone()).or_insert_with(|| {
                        sets.push(all);
                        (sets.len() - 1) as u32
                    });
                    known.insert(target, number);
                    number
                });
                automaton.next.push(number);
            }
            done += 1;
        }
        Ok(automaton)
    }

    /// The automaton of a scanner's rule, which tries the ways in their order: once the text can end, what comes later in that
    /// order and has passed a lazy repetition is given up.
    pub(super) fn scanner(nfa: &Nfa, width: usize, start: u32, end: u32) -> Result<Self, NotRegular> {
        let mut automaton = Automaton { width, next: Vec::new(), accepting: FixedBitSet::new() };
        let mut first = Threads::new(nfa, end);
        first.follow(Thread { state: start, lazy: false, last: false });
        let mut numbers: FxHashMap<Vec<Thread>, u32> = FxHashMap::from_iter([(first.threads.clone(), 0)]);
        let mut lists = vec![first.threads];
        let mut done = 0;
        while done < lists.len() {
            if lists.len() > MAX_STATES {
                return Err(NotRegular::TooLarge);
            }
            let list = lists[done].clone();
            automaton.accepting.grow_and_insert_if(done, list.iter().any(|thread| thread.state == end));
            let mut targets: Vec<Threads> = (0..width).map(|_| Threads::new(nfa, end)).collect();
            for thread in list.iter().filter(|thread| !thread.last) {
                for (class, to) in &nfa.moves[thread.state as usize] {
                    targets[usize::from(*class)].follow(Thread { state: *to, ..*thread });
                }
            }
            for Threads { threads, .. } in targets {
                automaton.next.push(if threads.is_empty() {
                    DEAD
                } else {
                    *numbers.entry(threads.clone()).or_insert_with(|| {
                        lists.push(threads);
                        (lists.len() - 1) as u32
                    })
                });
            }
            done += 1;
        }
        Ok(automaton)
    }

    fn step(&self, state: u32, class: u16) -> u32 {
        self.next[state as usize * self.width + usize::from(class)]
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.next.len() / self.width.max(1)
    }

    pub(super) fn is_accepting(&self, state: u32) -> bool {
        self.accepting.contains(state as usize)
    }

    /// Where it goes from a state, by class.
    pub(super) fn moves(&self, state: u32) -> impl Iterator<Item = (u16, u32)> + '_ {
        let row = &self.next[state as usize * self.width..][..self.width];
        (0..).zip(row.iter().copied()).filter(|(_, to)| *to != DEAD)
    }

    /// What this one accepts and the other does not; both over the same classes.
    pub(super) fn difference(&self, other: &Automaton) -> Result<Self, NotRegular> {
        self.product(other, |this, other| this && !other)
    }

    /// Whether the class may stand in what it accepts.
    pub(super) fn reads(&self, class: u16) -> bool {
        (0..self.len() as u32).any(|state| self.step(state, class) != DEAD)
    }

    /// Whether there is a text that both accept.
    pub(super) fn meets(&self, other: &Automaton) -> bool {
        self.product(other, |this, other| this && other).is_ok_and(|both| !both.accepting.is_clear())
    }

    /// The states are pairs; the second may be dead, the first never.
    fn product(&self, other: &Automaton, accepts: impl Fn(bool, bool) -> bool) -> Result<Self, NotRegular> {
        let mut product = Automaton { width: self.width, next: Vec::new(), accepting: FixedBitSet::new() };
        let mut numbers = FxHashMap::from_iter([((0, 0), 0)]);
        let mut pairs = vec![(0, 0)];
        let mut done = 0;
        while done < pairs.len() {
            if pairs.len() > 10 * MAX_STATES {
                return Err(NotRegular::TooLarge);
            }
            let (this, that) = pairs[done];
            let accepting = accepts(self.is_accepting(this), that != DEAD && other.is_accepting(that));
            product.accepting.grow_and_insert_if(done, accepting);
            for class in 0..self.width as u16 {
                let to = (self.step(this, class), if that == DEAD { DEAD } else { other.step(that, class) });
                product.next.push(if to.0 == DEAD {
                    DEAD
                } else {
                    *numbers.entry(to).or_insert_with(|| {
                        pairs.push(to);
                        (pairs.len() - 1) as u32
                    })
                });
            }
            done += 1;
        }
        Ok(product)
    }

    /// The least automaton that accepts the same (Moore's partition refinement), without states from which nothing is accepted.
    pub(super) fn minimal(&self) -> Self {
        let states = self.len();
        let mut part: Vec<u32> = (0..states as u32).map(|state| u32::from(self.is_accepting(state))).collect();
        let mut parts = 0;
        loop {
            let mut numbers: FxHashMap<(u32, Vec<u32>), u32> = FxHashMap::default();
            let refined: Vec<u32> = (0..states)
                .map(|state| {
                    let row = &self.next[state * self.width..][..self.width];
                    let row = row.iter().map(|to| if *to == DEAD { DEAD } else { part[*to as usize] }).collect();
                    let next = numbers.len() as u32;
                    *numbers.entry((part[state], row)).or_insert(next)
                })
                .collect();
            part = refined;
            if numbers.len() == parts {
                break;
            }
            parts = numbers.len();
        }
        // Parts are numbered by their first state, so the start stays 0.
        let mut least = Automaton { width: self.width, next: Vec::new(), accepting: FixedBitSet::new() };
        for number in 0..parts as u32 {
            let state = part.iter().position(|of| *of == number).unwrap_or(0);
            least.accepting.grow_and_insert_if(number as usize, self.is_accepting(state as u32));
            let row = &self.next[state * self.width..][..self.width];
            least.next.extend(row.iter().map(|to| if *to == DEAD { DEAD } else { part[*to as usize] }));
        }
        least.forget_dead_ends();
        least
    }

    fn forget_dead_ends(&mut self) {
        let mut alive = self.accepting.clone();
        loop {
            let found: Vec<usize> = (0..self.len())
                .filter(|state| !alive.contains(*state))
                .filter(|state| self.moves(*state as u32).any(|(_, to)| alive.contains(to as usize)))
                .collect();
            if found.is_empty() {
                break;
            }
            found.into_iter().for_each(|state| alive.insert(state));
        }
        self.next.iter_mut().filter(|to| **to != DEAD && !alive.contains(**to as usize)).for_each(|to| *to = DEAD);
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

/// A way through an [`Nfa`] that a scanner is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Thread {
    state: u32,
    /// Whether it has passed a lazy repetition.
    lazy: bool,
    /// Whether it needs the end of the input.
    last: bool,
}

/// The ways that a scanner is on, in the order of preference.
struct Threads<'n> {
    nfa: &'n Nfa,
    end: u32,
    threads: Vec<Thread>,
    seen: FxHashSet<Thread>,
    /// Whether one of them has come to the end.
    ended: bool,
}

impl<'n> Threads<'n> {
    fn new(nfa: &'n Nfa, end: u32) -> Self {
        Threads { nfa, end, threads: Vec::new(), seen: FxHashSet::default(), ended: false }
    }

    /// Adds a way, and where it leads without reading.
    fn follow(&mut self, thread: Thread) {
        let mut open = vec![thread];
        while let Some(mut thread) = open.pop() {
            thread.lazy |= self.nfa.lazy.contains(&thread.state);
            thread.last |= self.nfa.last.contains(&thread.state);
            if self.ended && thread.lazy || !self.seen.insert(thread) {
                continue;
            }
            let state = thread.state as usize;
            if thread.state == self.end || !self.nfa.moves[state].is_empty() {
                self.threads.push(thread);
            }
            // At the end of the input there is nothing to give up.
            self.ended |= thread.state == self.end && !thread.last;
            open.extend(self.nfa.empty[state].iter().rev().map(|to| Thread { state: *to, ..thread }));
        }
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
    let mut seen: FxHashSet<u32> = states.iter().copied().collect();
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
