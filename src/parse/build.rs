//! One tree from a chart: the first alternative that fits, and in it each part, from left to right, as long as it can be.
//!
//! A node is a symbol between two places. To divide it among its parts, the chart is walked backwards from the state in
//! which its derivation ended: what is reached leads to the end for certain, so that walking forwards again, always as far
//! as possible, never has to turn back. A node of which there is only one derivation costs as many steps as it has parts.
//!
//! **Cycles.** A symbol may derive itself over the same text. Trees do not: no node has a descendant with its symbol and its
//! (non-empty) text. Over the same text a node has at most one child that is a derivation, since what is beside it is
//! empty. So the nodes over the same text form a path in a graph of symbols, and a path can be completed without coming back to
//! where it was if and only if a node that needs no such child can be reached on what has not been visited. That is a
//! search of the graph for each node, polynomial, and needed only for symbols that can derive themselves at all (one
//! [`component`](Flat::component)): whoever left a component never comes back to it.
//!
//! **Empty texts** have one fixed derivation for each symbol ([`Flat::empty_alternative`]).

use super::chart::{Chart, Done};
use super::flat::{Flat, NONE};
use super::priority::HIDDEN;
use crate::grammar::{Grammar, Kind, SymbolId, Text};
use crate::tree::{self, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// The tree of the first `end` characters of `text` as a derivation of `start`.
pub(super) fn tree(
    grammar: &Grammar,
    flat: &Flat,
    chart: &Chart,
    text: &Text,
    input: &[u8],
    start: u32,
    end: u32,
) -> Tree {
    let mut builder =
        Builder { grammar, flat, chart, text, input, tree: tree::Builder::default(), open: Vec::new(), cycle: None };
    builder.open.push(Task::Derive(Part { symbol: start, from: 0, to: end }, Vec::new()));
    while let Some(task) = builder.open.pop() {
        match task {
            Task::Close => builder.tree.close(),
            Task::Derive(part, _) if flat.is_leaf(part.symbol) => builder.leaf(part),
            Task::Derive(part, _) if part.from == part.to => builder.empty(part),
            Task::Derive(part, above) => builder.derive(part, above),
        }
    }
    builder.tree.finish(&input[text.offset(end as usize)..])
}

/// A symbol between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    symbol: u32,
    from: u32,
    to: u32,
}

enum Task {
    /// Make the node, and tasks for its parts. With it, the symbols of its component above it over the same text.
    Derive(Part, Vec<u32>),
    Close,
}

struct Builder<'a> {
    grammar: &'a Grammar,
    flat: &'a Flat,
    chart: &'a Chart,
    text: &'a Text,
    input: &'a [u8],
    tree: tree::Builder,
    open: Vec<Task>,
    /// The graph over one text that was made last.
    cycle: Option<Cycle>,
}

/// How the symbols of one component derive each other over one text, as far as asked.
struct Cycle {
    component: u32,
    from: u32,
    to: u32,
    ways: FxHashMap<u32, Ways>,
}

/// How one symbol can be derived over a text.
struct Ways {
    /// Without a symbol of its component over the same text.
    plain: bool,
    /// With one of these.
    through: Vec<u32>,
}

/// The ways from the beginning to the end of a node that its parts can take.
struct Paths {
    /// For each state and place that leads to the end, where the next part ends at most; [`NONE`] at the end itself.
    furthest: FxHashMap<(u32, u32), u32>,
    /// The initial state, if the end can be reached from it.
    initial: Option<u32>,
    /// The symbols over the whole text that were not allowed.
    refused: Vec<u32>,
}

impl Builder<'_> {
    fn leaf(&mut self, Part { symbol, from, to }: Part) {
        let leaf = SymbolId(symbol);
        let lexicon = self.grammar.lexicon();
        let skipped =
            if lexicon.is_immediate(leaf) { from as usize } else { lexicon.skip_end(self.text, from as usize) };
        let (from, begin, to) =
            (self.text.offset(from as usize), self.text.offset(skipped), self.text.offset(to as usize));
        self.tree.leaf(leaf, &self.input[from..begin], &self.input[begin..to]);
    }

    fn empty(&mut self, part: Part) {
        let symbol = self.flat.public(part.symbol);
        let alternative = self.flat.empty_alternative(part.symbol);
        self.tree.open(symbol, alternative);
        self.open.push(Task::Close);
        let derive = |id: &SymbolId| Task::Derive(Part { symbol: id.0, ..part }, Vec::new());
        match self.grammar.kind(symbol) {
            Kind::Choice(_) => {
                self.open.extend(self.grammar.alternative(symbol, alternative).iter().rev().map(derive));
            }
            Kind::Repeat { item, separator, min, .. } => {
                for count in 0..*min {
                    self.open.extend(separator.iter().filter(|_| count > 0).map(derive));
                    self.open.push(derive(item));
                }
            }
            Kind::Literal(_) | Kind::Set(_) => {}
        }
    }

    fn derive(&mut self, part: Part, mut above: Vec<u32>) {
        let component = self.flat.component(part.symbol);
        let (alternative, parts) = if component == NONE {
            self.first_fit(part, |_| true)
        } else {
            above.push(part.symbol);
            let usable = self.usable(part, component, &above);
            let flat = self.flat;
            self.first_fit(part, |symbol| flat.component(symbol) != component || usable.contains(&symbol))
        };
        self.tree.open(self.flat.public(part.symbol), alternative);
        self.open.push(Task::Close);
        for below in parts.into_iter().rev() {
            let same = (below.from, below.to) == (part.from, part.to);
            let inherits = same && component != NONE && self.flat.component(below.symbol) == component;
            self.open.push(Task::Derive(below, if inherits { above.clone() } else { Vec::new() }));
        }
    }

    /// The first alternative that fits, with its parts. `allowed` are the symbols that it may have over the whole text.
    fn first_fit(&self, part: Part, allowed: impl Fn(u32) -> bool) -> (u32, Vec<Part>) {
        for ends in self.derivations(part).chunk_by(|a, b| self.alternative(a) == self.alternative(b)) {
            let alternative = ends.first().map_or(0, |end| self.alternative(end));
            if let Some(parts) = self.only_way(part, ends, &allowed) {
                return (alternative, parts);
            }
            let paths = self.paths(part, ends, &allowed);
            if let Some(initial) = paths.initial {
                return (alternative, self.walk(part, initial, &paths.furthest));
            }
        }
        debug_assert!(false, "the chart holds a derivation of {part:?}");
        (0, Vec::new())
    }

    /// The derivations of a part by alternatives, those of the copies that it may be among them.
    fn derivations(&self, part: Part) -> Cow<'_, [Done]> {
        let found = self.chart.derivations(part.from, part.to, part.symbol);
        if self.flat.inner(part.symbol).is_none() {
            return Cow::Borrowed(found);
        }
        let mut all = found.to_vec();
        let mut next = self.flat.inner(part.symbol);
        while let Some(symbol) = next {
            all.extend_from_slice(self.chart.derivations(part.from, part.to, symbol));
            next = self.flat.inner(symbol);
        }
        all.retain(|end| self.alternative(end) != HIDDEN);
        all.sort_by_key(|end| self.alternative(end));
        Cow::Owned(all)
    }

    fn alternative(&self, end: &Done) -> u32 {
        self.flat.state(end.state).alternative
    }

    /// The last parts that can end at a place where a derivation of `whole` is in `state`: each with the state before it.
    fn last_parts(&self, whole: Part, state: u32, place: u32) -> impl Iterator<Item = (u32, Part)> {
        self.flat.before(state).flat_map(move |before| {
            let symbol = self.flat.state(before).awaits;
            let nothing = self.flat.is_nullable(symbol).then_some(place);
            let spans = self.chart.spans(place, symbol);
            let mut known = None;
            let origins =
                spans.iter().map(|found| found.origin).filter(move |origin| known.replace(*origin) != Some(*origin));
            origins
                .chain(nothing)
                .filter(move |from| *from >= whole.from && self.chart.contains(*from, before, whole.from))
                .map(move |from| (before, Part { symbol, from, to: place }))
        })
    }

    /// The parts, if there is one way only: the usual case, and cheap.
    fn only_way(&self, whole: Part, ends: &[Done], allowed: &impl Fn(u32) -> bool) -> Option<Vec<Part>> {
        let [end] = ends else { return None };
        let (mut state, mut place) = (end.state, whole.to);
        let mut parts = Vec::new();
        loop {
            let mut last = self.last_parts(whole, state, place);
            let Some((before, part)) = last.next() else { break };
            let refused = (part.from, part.to) == (whole.from, whole.to) && !allowed(part.symbol);
            if refused || last.next().is_some() {
                return None;
            }
            parts.push(part);
            (state, place) = (before, part.from);
        }
        parts.reverse();
        Some(parts)
    }

    fn paths(&self, whole: Part, ends: &[Done], allowed: &impl Fn(u32) -> bool) -> Paths {
        let mut open: Vec<(u32, u32)> = ends.iter().map(|end| (end.state, whole.to)).collect();
        let mut furthest: FxHashMap<(u32, u32), u32> = open.iter().map(|at| (*at, NONE)).collect();
        let mut paths = Paths { furthest: FxHashMap::default(), initial: None, refused: Vec::new() };
        while let Some((state, place)) = open.pop() {
            for (before, part) in self.last_parts(whole, state, place) {
                let is_whole = (part.from, part.to) == (whole.from, whole.to);
                if is_whole && !self.flat.is_leaf(part.symbol) && !allowed(part.symbol) {
                    paths.refused.push(part.symbol);
                    continue;
                }
                let at = (before, part.from);
                match furthest.get_mut(&at) {
                    // The end itself stays known as such: see `walk`.
                    Some(known) => *known = if *known == NONE { place } else { place.max(*known) },
                    None => {
                        furthest.insert(at, place);
                        open.push(at);
                    }
                }
            }
        }
        let alternative = ends.first().map_or(0, |end| self.alternative(end));
        let initial = ends.first().map_or(&[][..], |end| self.flat.initial(self.flat.state(end.state).owner));
        paths.initial = initial
            .iter()
            .copied()
            .filter(|state| self.flat.state(*state).alternative == alternative)
            .find(|state| furthest.contains_key(&(*state, whole.from)));
        paths.furthest = furthest;
        paths
    }

    /// Goes as far as possible with each part, and stops at the first state at the end that may be the last.
    ///
    /// It ends: a walk that stays at its place goes along a chain of states, or round a loop. Where there is a way on from
    /// a loop, it leaves the place on some state of the loop, and is taken there, being longest.
    fn walk(&self, whole: Part, initial: u32, furthest: &FxHashMap<(u32, u32), u32>) -> Vec<Part> {
        let mut parts = Vec::new();
        let (mut number, mut place) = (initial, whole.from);
        loop {
            let state = self.flat.state(number);
            if place == whole.to && state.accepts {
                break;
            }
            let Some(to) = furthest.get(&(number, place)).copied().filter(|to| *to != NONE) else { break };
            parts.push(Part { symbol: state.awaits, from: place, to });
            (number, place) = (state.next, to);
        }
        parts
    }

    /// The symbols of the component that can be completed over the part's text without any of those above.
    fn usable(&mut self, part: Part, component: u32, above: &[u32]) -> FxHashSet<u32> {
        let known = self
            .cycle
            .take()
            .filter(|cycle| (cycle.component, cycle.from, cycle.to) == (component, part.from, part.to));
        let mut cycle =
            known.unwrap_or_else(|| Cycle { component, from: part.from, to: part.to, ways: FxHashMap::default() });
        // Found in both directions: first what can be reached, then what of it leads to a plain derivation.
        let mut reached: Vec<u32> = Vec::new();
        let mut seen: FxHashSet<u32> = above.iter().copied().collect();
        let mut open = vec![part.symbol];
        while let Some(symbol) = open.pop() {
            let ways = cycle.ways.entry(symbol).or_insert_with(|| self.ways(Part { symbol, ..part }, component));
            for &to in &ways.through {
                if seen.insert(to) {
                    reached.push(to);
                    open.push(to);
                }
            }
        }
        let mut usable = FxHashSet::default();
        let mut changed = true;
        while changed {
            changed = false;
            for symbol in &reached {
                let ways = &cycle.ways[symbol];
                let good = ways.plain || ways.through.iter().any(|to| usable.contains(to));
                changed |= good && usable.insert(*symbol);
            }
        }
        self.cycle = Some(cycle);
        usable
    }

    fn ways(&self, part: Part, component: u32) -> Ways {
        let mut ways = Ways { plain: false, through: Vec::new() };
        for ends in self.derivations(part).chunk_by(|a, b| self.alternative(a) == self.alternative(b)) {
            let paths = self.paths(part, ends, &|symbol| self.flat.component(symbol) != component);
            ways.plain |= paths.initial.is_some();
            ways.through.extend(paths.refused);
        }
        ways.through.sort_unstable();
        ways.through.dedup();
        ways
    }
}
