//! The rules by which a tree is chosen, written down plainly and without regard to cost: what the parser is tested against.
//! It shares nothing with the parser. Grammars without tokens only.

use crate::grammar::{Grammar, Kind, SymbolId};
use rustc_hash::FxHashMap;

/// A node as (symbol, alternative, from, to), in preorder.
pub(super) type Nodes = Vec<(SymbolId, u32, usize, usize)>;

pub(super) struct Reference<'a> {
    grammar: &'a Grammar,
    input: &'a [u8],
    /// Whether a symbol derives the bytes between two places.
    derives: Vec<Vec<Vec<bool>>>,
    empty_heights: Vec<Option<u32>>,
}

#[derive(Clone, Copy)]
struct Body<'a> {
    of: SymbolId,
    kind: &'a Kind,
    alternative: usize,
}

impl Body<'_> {
    /// What stands at a place of the body; whether it may end there; whether it must.
    fn part(&self, place: usize, length: usize) -> (Option<SymbolId>, bool) {
        match self.kind {
            Kind::Choice(alternatives) => {
                let parts = &alternatives[self.alternative];
                (parts.get(place).copied(), place == parts.len())
            }
            Kind::Repeat { item, separator, min, max } => {
                let stride = if separator.is_some() { 2 } else { 1 };
                let items = place.div_ceil(stride);
                let between = separator.is_some() && place % 2 == 1;
                let whole = separator.is_none() || place == 0 || between;
                let most = max.map_or(*min as usize + length + 2, |max| max as usize);
                let next = if between { *separator } else { Some(*item) };
                let is_full = whole && items >= most;
                (next.filter(|_| !is_full), whole && items >= *min as usize)
            }
            Kind::Literal(_) | Kind::Set(_) => (None, false),
        }
    }
}

impl<'a> Reference<'a> {
    pub(super) fn new(grammar: &'a Grammar, input: &'a [u8]) -> Self {
        let n = input.len();
        let derives = vec![vec![vec![false; n + 1]; n + 1]; grammar.len()];
        let mut reference = Reference { grammar, input, derives, empty_heights: vec![None; grammar.len()] };
        let mut changed = true;
        while changed {
            changed = false;
            for id in grammar.ids() {
                for from in 0..=n {
                    for to in from..=n {
                        if !reference.derives[id.index()][from][to] && reference.step(id, from, to) {
                            reference.derives[id.index()][from][to] = true;
                            changed = true;
                        }
                    }
                }
            }
        }
        for height in 1..=grammar.len() as u32 + 1 {
            for id in grammar.ids() {
                if reference.empty_heights[id.index()].is_none() && reference.empty_alternative(id, height).is_some() {
                    reference.empty_heights[id.index()] = Some(height);
                }
            }
        }
        reference
    }

    pub(super) fn accepts(&self) -> bool {
        self.derives[self.grammar.start().index()][0][self.input.len()]
    }

    pub(super) fn tree(&self) -> Nodes {
        let mut nodes = Vec::new();
        self.emit(self.grammar.start(), 0, self.input.len(), &[], &mut nodes);
        nodes
    }

    fn bodies(&self, of: SymbolId) -> impl Iterator<Item = Body<'a>> + use<'a> {
        let kind = self.grammar.kind(of);
        (0..self.grammar.alternatives(of) as usize).map(move |alternative| Body { of, kind, alternative })
    }

    fn step(&self, id: SymbolId, from: usize, to: usize) -> bool {
        match self.grammar.kind(id) {
            Kind::Literal(bytes) => self.input[from..to] == **bytes,
            Kind::Set(set) => to == from + 1 && set.contains(u32::from(self.input[from])),
            _ => {
                let known = |part: SymbolId, from: usize, to: usize| self.derives[part.index()][from][to];
                self.bodies(id).any(|body| self.split(body, from, to, &known).is_some())
            }
        }
    }

    /// The ends of the parts of the first division of a text, each part as long as possible.
    fn split(
        &self,
        body: Body,
        from: usize,
        to: usize,
        fits: &dyn Fn(SymbolId, usize, usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut dead = FxHashMap::default();
        let mut ends = Vec::new();
        self.split_rest(body, from, to, fits, &mut ends, &mut dead).then_some(ends)
    }

    fn split_rest(
        &self,
        body: Body,
        at: usize,
        to: usize,
        fits: &dyn Fn(SymbolId, usize, usize) -> bool,
        ends: &mut Vec<usize>,
        dead: &mut FxHashMap<(usize, usize), ()>,
    ) -> bool {
        let (next, may_end) = body.part(ends.len(), self.input.len());
        if at == to && may_end {
            return true;
        }
        let Some(part) = next.filter(|_| !dead.contains_key(&(ends.len(), at))) else { return false };
        for end in (at..=to).rev() {
            if fits(part, at, end) {
                ends.push(end);
                if self.split_rest(body, end, to, fits, ends, dead) {
                    return true;
                }
                ends.pop();
            }
        }
        dead.insert((ends.len(), at), ());
        false
    }

    /// Whether there is a derivation in which no symbol is above itself, or any of `above`, over the same text.
    fn choose(&self, id: SymbolId, from: usize, to: usize, above: &[SymbolId]) -> Option<(Body<'a>, Vec<usize>)> {
        let mut path = above.to_vec();
        path.push(id);
        let fits = |part: SymbolId, start: usize, end: usize| {
            let leaf = self.grammar.is_leaf(part);
            if leaf || (start, end) != (from, to) {
                return self.derives[part.index()][start][end];
            }
            self.derives[part.index()][start][end]
                && !path.contains(&part)
                && self.choose(part, start, end, &path).is_some()
        };
        self.bodies(id).find_map(|body| Some((body, self.split(body, from, to, &fits)?)))
    }

    fn emit(&self, id: SymbolId, from: usize, to: usize, above: &[SymbolId], nodes: &mut Nodes) {
        if self.grammar.is_leaf(id) {
            nodes.push((id, 0, from, to));
            return;
        }
        if from == to {
            return self.emit_empty(id, from, nodes);
        }
        let Some((body, ends)) = self.choose(id, from, to, above) else { panic!("no derivation of {id:?}") };
        nodes.push((id, body.alternative as u32, from, to));
        let mut start = from;
        for (place, end) in ends.into_iter().enumerate() {
            let Some(part) = body.part(place, self.input.len()).0 else { panic!("a part too many") };
            let mut path = Vec::new();
            if (start, end) == (from, to) {
                path.extend_from_slice(above);
                path.push(body.of);
            }
            self.emit(part, start, end, &path, nodes);
            start = end;
        }
    }

    /// The first alternative with an empty derivation lower than `height` in all its parts.
    fn empty_alternative(&self, id: SymbolId, height: u32) -> Option<(u32, Vec<SymbolId>)> {
        let low = |part: &SymbolId| self.empty_heights[part.index()].is_some_and(|part| part < height);
        match self.grammar.kind(id) {
            Kind::Choice(alternatives) => (0..)
                .zip(alternatives)
                .find(|(_, parts)| parts.iter().all(low))
                .map(|(number, parts)| (number, parts.clone())),
            Kind::Repeat { item, separator, min, .. } => {
                let mut parts = Vec::new();
                for count in 0..*min {
                    parts.extend(separator.filter(|_| count > 0));
                    parts.push(*item);
                }
                parts.iter().all(low).then_some((0, parts))
            }
            Kind::Literal(_) | Kind::Set(_) => None,
        }
    }

    fn emit_empty(&self, id: SymbolId, at: usize, nodes: &mut Nodes) {
        let height = self.empty_heights[id.index()];
        let Some((alternative, parts)) = height.and_then(|height| self.empty_alternative(id, height)) else {
            panic!("no empty derivation of {id:?}")
        };
        nodes.push((id, alternative, at, at));
        parts.iter().for_each(|part| self.emit_empty(*part, at, nodes));
    }
}
