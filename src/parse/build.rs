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

use super::ParseError;
use super::ambiguity::{Ambiguity, Step};
use super::chart::{Chart, Done, Item, Recognizer};
use super::flat::{Flat, NONE};
use super::priority::HIDDEN;
use crate::grammar::{Grammar, Kind, SymbolId, Text};
use crate::tree::{self, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// What reads derivations from a chart, and with it the first `end` characters of `text` as a derivation of `start`.
pub(super) struct Builder<'a> {
    grammar: &'a Grammar,
    pub(super) flat: &'a Flat,
    pub(super) recognized: Recognizer<'a>,
    text: &'a Text,
    input: &'a [u8],
    tree: tree::Builder,
    open: Vec<Task>,
    /// State, origin and place of the items that await recursion on the right, sorted; made when it is needed.
    index: OnceCell<Vec<(u32, u32, u32)>>,
    /// Kept for its memory.
    derivations: Vec<Done>,
    /// Symbols, each with the place of the one above it; [`NONE`] at the top.
    lineage: Vec<(u32, u32)>,
    /// The graph over one text that was made last.
    cycle: Option<Cycle>,
    /// Nodes with several derivations, if they are wanted.
    ambiguities: Option<Vec<Ambiguity>>,
}

/// If more parts end at a place, it is asked where those that can be meant begin.
const MANY: usize = 16;

/// A symbol between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub symbol: u32,
    pub from: u32,
    pub to: u32,
}

enum Task {
    /// Make the node, and tasks for its parts. With it, the place in [`Builder::lineage`] of what is above it, of its
    /// component and over the same text.
    Derive(Part, u32),
    Close,
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

/// For each state and place that leads to the end, where the next part ends at most, and at most but for that; [`NONE`] at
/// the end itself, and where there is no other way.
type Furthest = FxHashMap<(u32, u32), (u32, u32)>;

/// The ways from the beginning to the end of a node that its parts can take.
struct Paths {
    furthest: Furthest,
    /// The initial state, if the end can be reached from it.
    initial: Option<u32>,
    /// The symbols over the whole text that were not allowed.
    refused: Vec<u32>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        grammar: &'a Grammar,
        flat: &'a Flat,
        recognized: Recognizer<'a>,
        text: &'a Text,
        input: &'a [u8],
    ) -> Self {
        Builder {
            grammar,
            flat,
            recognized,
            text,
            input,
            tree: tree::Builder::default(),
            open: Vec::new(),
            index: OnceCell::new(),
            derivations: Vec::new(),
            lineage: Vec::new(),
            cycle: None,
            ambiguities: None,
        }
    }

    /// The tree of a part that begins where the input does.
    pub(super) fn tree(mut self, root: Part) -> Result<Tree, ParseError> {
        self.build(root)?;
        Ok(self.tree.finish(&self.input[self.text.offset(root.to as usize)..]))
    }

    /// The nodes of its tree that have several derivations.
    pub(super) fn ambiguities(mut self, root: Part) -> Result<Vec<Ambiguity>, ParseError> {
        self.ambiguities = Some(Vec::new());
        self.build(root)?;
        Ok(self.ambiguities.unwrap_or_default())
    }

    fn build(&mut self, root: Part) -> Result<(), ParseError> {
        self.open.push(Task::Derive(root, NONE));
        let limit = self.recognized.limit / size_of::<tree::Node>();
        while let Some(task) = self.open.pop() {
            // Rules that are nothing but nothing twice make large trees of small texts.
            if self.tree.len() > limit {
                let offset = self.tree.text_len();
                return Err(ParseError::Memory { offset, limit: self.recognized.limit });
            }
            match task {
                Task::Close => self.tree.close(),
                Task::Derive(part, _) if self.flat.is_leaf(part.symbol) => self.leaf(part),
                Task::Derive(part, _) if part.from == part.to => self.empty(part),
                Task::Derive(part, above) => self.derive(part, above)?,
            }
        }
        Ok(())
    }

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
        let derive = |id: &SymbolId| Task::Derive(Part { symbol: id.0, ..part }, NONE);
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

    fn derive(&mut self, part: Part, above: u32) -> Result<(), ParseError> {
        let flat = self.flat;
        let component = flat.component(part.symbol);
        if component == NONE {
            return self.first_fit(part, NONE, |_| true);
        }
        self.lineage.push((part.symbol, above));
        let above = self.lineage.len() as u32 - 1;
        let usable = self.usable(part, component, above)?;
        self.first_fit(part, above, |symbol| flat.component(symbol) != component || usable.contains(&symbol))
    }

    /// Makes the node, and tasks for the parts of the first alternative that fits. `allowed` are the symbols that it may have
    /// over the whole text.
    fn first_fit(&mut self, part: Part, above: u32, allowed: impl Fn(u32) -> bool) -> Result<(), ParseError> {
        let flat = self.flat;
        self.open.push(Task::Close);
        let opened = self.open.len();
        let derivations = self.derivations(part)?;
        let mut alternatives = derivations.chunk_by(|a, b| alternative(flat, a) == alternative(flat, b));
        while let Some(ends @ [first, ..]) = alternatives.next() {
            self.tree.open(flat.public(part.symbol), alternative(flat, first));
            if let [end] = ends
                && self.ambiguities.is_none()
                && self.only_way(part, end, above, &allowed)?
            {
                self.derivations = derivations;
                return Ok(());
            }
            self.open.truncate(opened);
            let paths = self.paths(part, ends, &allowed)?;
            if let Some(initial) = paths.initial {
                let parts = walk(flat, part, initial, &paths.furthest);
                if self.ambiguities.is_some() {
                    let taken = (alternative(flat, first), parts.as_slice());
                    self.compare(part, taken, initial, &paths, alternatives, &allowed)?;
                }
                for below in parts.into_iter().rev() {
                    self.open.push(self.task(part, above, below));
                }
                return Ok(());
            }
            self.tree.take_back();
        }
        debug_assert!(false, "the chart holds a derivation of {part:?}");
        Ok(())
    }

    /// Notes the next derivation that would be taken, if there is one.
    fn compare<'d>(
        &mut self,
        whole: Part,
        taken: (u32, &[Part]),
        initial: u32,
        paths: &Paths,
        others: impl Iterator<Item = &'d [Done]>,
        allowed: &impl Fn(u32) -> bool,
    ) -> Result<(), ParseError> {
        let flat = self.flat;
        let mut other = other_walk(flat, whole, initial, taken.1, &paths.furthest).map(|parts| (taken.0, parts));
        for ends in others {
            if other.is_some() {
                break;
            }
            let paths = self.paths(whole, ends, allowed)?;
            other = ends
                .first()
                .zip(paths.initial)
                .map(|(end, initial)| (alternative(flat, end), walk(flat, whole, initial, &paths.furthest)));
        }
        if let Some((alternative, parts)) = other {
            let ambiguity = Ambiguity {
                symbol: flat.public(whole.symbol),
                span: self.span(whole),
                taken: self.step(taken.0, taken.1),
                other: self.step(alternative, &parts),
            };
            self.ambiguities.get_or_insert_default().push(ambiguity);
        }
        Ok(())
    }

    fn step(&self, alternative: u32, parts: &[Part]) -> Step {
        Step { alternative, parts: parts.iter().map(|p| (self.flat.public(p.symbol), self.span(*p))).collect() }
    }

    /// The bytes of a part, without what is skipped before it.
    fn span(&self, part: Part) -> Range<usize> {
        let from = self.grammar.lexicon().skip_end(self.text, part.from as usize).min(part.to as usize);
        self.text.offset(from)..self.text.offset(part.to as usize)
    }

    /// The task for a part of a node, with what is above it.
    fn task(&self, whole: Part, above: u32, part: Part) -> Task {
        let inherits = above != NONE
            && (part.from, part.to) == (whole.from, whole.to)
            && self.flat.component(part.symbol) == self.flat.component(whole.symbol);
        Task::Derive(part, if inherits { above } else { NONE })
    }

    /// The derivations of a part by alternatives, those of the copies that it may be among them.
    fn derivations(&mut self, Part { symbol, from, to }: Part) -> Result<Vec<Done>, ParseError> {
        let mut all = std::mem::take(&mut self.derivations);
        all.clear();
        let mut next = Some(symbol);
        while let Some(symbol) = next {
            self.recognized.reveal(to, symbol)?;
            all.extend_from_slice(self.chart().derivations(from, to, symbol));
            next = self.flat.inner(symbol);
        }
        if self.flat.inner(symbol).is_some() {
            all.retain(|end| alternative(self.flat, end) != HIDDEN);
            all.sort_by_key(|end| alternative(self.flat, end));
        }
        Ok(all)
    }

    fn chart(&self) -> &Chart {
        &self.recognized.chart
    }

    /// Makes sure that [`Self::last_parts`] has all to choose from.
    pub(super) fn reveal(&mut self, state: u32, place: u32) -> Result<(), ParseError> {
        for before in self.flat.before(state) {
            self.recognized.reveal(place, self.flat.state(before).awaits)?;
        }
        Ok(())
    }

    /// Calls `f` with each last part that can end at a place where a derivation that began at `start` is in `state`, and
    /// the state before it, until it returns true; whether it did.
    pub(super) fn last_parts(
        &self,
        start: u32,
        state: u32,
        place: u32,
        mut f: impl FnMut((u32, Part)) -> bool,
    ) -> bool {
        let chart = self.chart();
        let reached = |from: u32, before: u32| from >= start && chart.contains(from, before, start);
        for before in self.flat.before(state) {
            let symbol = self.flat.state(before).awaits;
            let mut spans = chart.spans(place, symbol);
            if spans.len() > MANY && self.flat.right(symbol) != NONE {
                spans = &[];
                let found = self.places(before, start).iter().map(|(.., from)| *from);
                for from in found.filter(|from| !chart.derivations(*from, place, symbol).is_empty()) {
                    if f((before, Part { symbol, from, to: place })) {
                        return true;
                    }
                }
            }
            let mut known = None;
            for &Done { origin, .. } in spans {
                let is_new = known.replace(origin) != Some(origin);
                if is_new && reached(origin, before) && f((before, Part { symbol, from: origin, to: place })) {
                    return true;
                }
            }
            let nothing = self.flat.is_nullable(symbol) && reached(place, before);
            if nothing && f((before, Part { symbol, from: place, to: place })) {
                return true;
            }
        }
        false
    }

    /// The places at which a derivation that began at `start` is in `state`, which awaits recursion on the right.
    fn places(&self, state: u32, start: u32) -> &[(u32, u32, u32)] {
        let index = self.index.get_or_init(|| {
            let awaits = |item: &Item| self.flat.state(item.state).awaits;
            let mut index = Vec::new();
            for place in 0..=self.chart().last {
                let wanted = self.chart().items(place).iter().filter(|item| self.flat.right(awaits(item)) != NONE);
                index.extend(wanted.map(|item| (item.state, item.origin, place)));
            }
            index.sort_unstable();
            index
        });
        let from = index.partition_point(|entry| (entry.0, entry.1) < (state, start));
        let count = index[from..].partition_point(|entry| (entry.0, entry.1) == (state, start));
        &index[from..from + count]
    }

    /// Adds tasks for the parts, if there is one way only: the usual case, and cheap.
    fn only_way(
        &mut self,
        whole: Part,
        end: &Done,
        above: u32,
        allowed: &impl Fn(u32) -> bool,
    ) -> Result<bool, ParseError> {
        let (mut state, mut place) = (end.state, whole.to);
        loop {
            self.reveal(state, place)?;
            let mut only = None;
            let several = self.last_parts(whole.from, state, place, |last| only.replace(last).is_some());
            let Some((before, part)) = only else { return Ok(true) };
            if several || (part.from, part.to) == (whole.from, whole.to) && !allowed(part.symbol) {
                return Ok(false);
            }
            self.open.push(self.task(whole, above, part));
            (state, place) = (before, part.from);
        }
    }

    fn paths(&mut self, whole: Part, ends: &[Done], allowed: &impl Fn(u32) -> bool) -> Result<Paths, ParseError> {
        let mut open: Vec<(u32, u32)> = ends.iter().map(|end| (end.state, whole.to)).collect();
        let mut furthest: Furthest = open.iter().map(|at| (*at, (NONE, NONE))).collect();
        let mut paths = Paths { furthest: FxHashMap::default(), initial: None, refused: Vec::new() };
        while let Some((state, place)) = open.pop() {
            self.reveal(state, place)?;
            self.last_parts(whole.from, state, place, |(before, part)| {
                let is_whole = (part.from, part.to) == (whole.from, whole.to);
                if is_whole && !self.flat.is_leaf(part.symbol) && !allowed(part.symbol) {
                    paths.refused.push(part.symbol);
                    return false;
                }
                match furthest.entry((before, part.from)) {
                    Entry::Occupied(mut known) => {
                        let (first, second) = known.get_mut();
                        if *first == NONE || place > *first {
                            (*first, *second) = (place, *first);
                        } else if place < *first && (*second == NONE || place > *second) {
                            *second = place;
                        }
                    }
                    Entry::Vacant(unknown) => {
                        unknown.insert((place, NONE));
                        open.push((before, part.from));
                    }
                }
                false
            });
        }
        let alternative = ends.first().map_or(0, |end| alternative(self.flat, end));
        let initial = ends.first().map_or(&[][..], |end| self.flat.initial(self.flat.state(end.state).owner));
        paths.initial = initial
            .iter()
            .copied()
            .filter(|state| self.flat.state(*state).alternative == alternative)
            .find(|state| furthest.contains_key(&(*state, whole.from)));
        paths.furthest = furthest;
        Ok(paths)
    }

    /// The symbols of the component that can be completed over the part's text without any of those above.
    fn usable(&mut self, part: Part, component: u32, above: u32) -> Result<FxHashSet<u32>, ParseError> {
        let known = self
            .cycle
            .take()
            .filter(|cycle| (cycle.component, cycle.from, cycle.to) == (component, part.from, part.to));
        let mut cycle =
            known.unwrap_or_else(|| Cycle { component, from: part.from, to: part.to, ways: FxHashMap::default() });
        // Found in both directions: first what can be reached, then what of it leads to a plain derivation.
        let mut reached: Vec<u32> = Vec::new();
        let lineage = std::iter::successors(self.lineage.get(above as usize), |(_, up)| self.lineage.get(*up as usize));
        let mut seen: FxHashSet<u32> = lineage.map(|(symbol, _)| *symbol).collect();
        let mut open = vec![part.symbol];
        while let Some(symbol) = open.pop() {
            let ways = match cycle.ways.entry(symbol) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.ways(Part { symbol, ..part }, component)?),
            };
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
        Ok(usable)
    }

    fn ways(&mut self, part: Part, component: u32) -> Result<Ways, ParseError> {
        let mut ways = Ways { plain: false, through: Vec::new() };
        let flat = self.flat;
        let derivations = self.derivations(part)?;
        for ends in derivations.chunk_by(|a, b| alternative(flat, a) == alternative(flat, b)) {
            let paths = self.paths(part, ends, &|symbol| flat.component(symbol) != component)?;
            ways.plain |= paths.initial.is_some();
            ways.through.extend(paths.refused);
        }
        ways.through.sort_unstable();
        ways.through.dedup();
        Ok(ways)
    }
}

fn alternative(flat: &Flat, end: &Done) -> u32 {
    flat.state(end.state).alternative
}

/// Goes as far as possible with each part, and stops at the first state at the end that may be the last.
///
/// It ends: a walk that stays at its place goes along a chain of states, or round a loop. Where there is a way on from
/// a loop, it leaves the place on some state of the loop, and is taken there, being longest.
fn walk(flat: &Flat, whole: Part, initial: u32, furthest: &Furthest) -> Vec<Part> {
    let mut parts = Vec::new();
    walk_on(flat, whole, (initial, whole.from), furthest, &mut parts);
    parts
}

fn walk_on(flat: &Flat, whole: Part, at: (u32, u32), furthest: &Furthest, parts: &mut Vec<Part>) {
    let (mut number, mut place) = at;
    loop {
        let state = flat.state(number);
        if place == whole.to && state.accepts {
            break;
        }
        let Some((to, _)) = furthest.get(&(number, place)).copied().filter(|(to, _)| *to != NONE) else { break };
        parts.push(Part { symbol: state.awaits, from: place, to });
        (number, place) = (state.next, to);
    }
}

/// The walk that differs from the one taken as late as possible, in a part that is shorter.
fn other_walk(flat: &Flat, whole: Part, initial: u32, taken: &[Part], furthest: &Furthest) -> Option<Vec<Part>> {
    let mut states = vec![initial];
    for _ in taken {
        states.extend(states.last().map(|last| flat.state(*last).next));
    }
    let turn = |(number, part): (usize, &Part)| {
        let (_, second) = furthest.get(&(states[number], part.from)).copied().filter(|(_, other)| *other != NONE)?;
        let mut parts = taken[..number].to_vec();
        parts.push(Part { to: second, ..*part });
        walk_on(flat, whole, (flat.state(states[number]).next, second), furthest, &mut parts);
        Some(parts)
    };
    taken.iter().enumerate().rev().find_map(turn)
}
