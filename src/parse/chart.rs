//! Earley's algorithm: everything that can be derived of each beginning of the input.
//!
//! Symbols that can be empty are passed over when they are awaited (Aycock and Horspool, "Practical Earley Parsing", 2002),
//! so no derivation of an empty text is ever recorded and a set never waits for itself: when a set is complete it is
//! sorted, and stays so. Predictions are filtered by what can be seen ahead. Sets stand at the ends of leaves only.

use super::ParseError;
use super::flat::{Ahead, Flat, NONE};
use crate::grammar::{Lexicon, SymbolId, Text};
use std::collections::BTreeMap;
use std::ops::Range;

/// A derivation that began at `origin` and has come to `state` at the set's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub state: u32,
    pub origin: u32,
}

/// A symbol that was found between `origin` and the set's place. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Done {
    pub symbol: u32,
    pub origin: u32,
    /// The state in which the derivation ended, which tells the alternative; [`NONE`] for a leaf. In ascending order, as
    /// the alternatives are.
    pub state: u32,
}

/// The sets of an input.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// Sorted within each set; only those that await something.
    items: Vec<Item>,
    /// Sorted within each set.
    done: Vec<Done>,
    /// Where each set's items and found symbols end.
    ends: Vec<(usize, usize)>,
    /// The number of the set at each place.
    at: Vec<u32>,
    /// The last place that has a set.
    pub last: u32,
}

impl Chart {
    fn number(&self, place: u32) -> Option<usize> {
        self.at.get(place as usize).filter(|number| **number != NONE).map(|number| *number as usize)
    }

    fn bounds(&self, place: u32) -> (Range<usize>, Range<usize>) {
        let Some(number) = self.number(place) else { return (0..0, 0..0) };
        let (items, done) = number.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        let end = self.ends[number];
        (items..end.0, done..end.1)
    }

    /// The items of a set.
    pub(super) fn items(&self, place: u32) -> &[Item] {
        &self.items[self.bounds(place).0]
    }

    /// What was found to end at a place.
    pub(super) fn done(&self, place: u32) -> &[Done] {
        &self.done[self.bounds(place).1]
    }

    /// Where in the row of items those of a set are that await a symbol.
    fn awaiting(&self, place: u32, states: Range<u32>) -> Range<usize> {
        let (range, _) = self.bounds(place);
        let items = &self.items[range.clone()];
        let from = items.partition_point(|item| item.state < states.start);
        let count = items[from..].partition_point(|item| item.state < states.end);
        range.start + from..range.start + from + count
    }

    /// Whether a derivation that began at `origin` can be in `state` at `place`.
    pub(super) fn contains(&self, place: u32, state: u32, origin: u32) -> bool {
        self.items(place).binary_search(&Item { state, origin }).is_ok()
    }

    /// Where a symbol that ends at `place` can begin, and how.
    pub(super) fn spans(&self, place: u32, symbol: u32) -> &[Done] {
        let done = self.done(place);
        let from = done.partition_point(|found| found.symbol < symbol);
        let count = done[from..].partition_point(|found| found.symbol == symbol);
        &done[from..from + count]
    }

    /// How a symbol can be derived between two places.
    pub(super) fn derivations(&self, origin: u32, place: u32, symbol: u32) -> &[Done] {
        let done = self.done(place);
        let from = done.partition_point(|found| (found.symbol, found.origin) < (symbol, origin));
        let count = done[from..].partition_point(|found| (found.symbol, found.origin) == (symbol, origin));
        &done[from..from + count]
    }

    fn bytes(&self) -> usize {
        self.items.len() * size_of::<Item>() + self.done.len() * size_of::<Done>()
    }

    /// How many items and found symbols there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.items.len() + self.done.len()
    }
}

/// Makes the chart of `text` for `start`, which is no leaf, and finds the greatest place at which an input that is `start`
/// and nothing more can end.
pub(super) fn recognize(
    flat: &Flat,
    lexicon: &Lexicon,
    text: &Text,
    start: u32,
    limit: usize,
) -> Result<(Chart, Option<u32>), ParseError> {
    let mut recognizer = Recognizer {
        flat,
        lexicon,
        text,
        limit,
        chart: Chart { at: vec![NONE; text.len() + 1], ..Chart::default() },
        work: Vec::new(),
        seen: Seen::default(),
        predicted: vec![0; flat.symbols()],
        pending: BTreeMap::from([(0, Pending::default())]),
        spare: Vec::new(),
    };
    let mut accepted = None;
    while let Some((place, pending)) = recognizer.pending.pop_first() {
        let after_skip = lexicon.skip_end(text, place as usize);
        recognizer.set(place, after_skip, pending, start)?;
        let complete = match place {
            0 => flat.is_nullable(start),
            _ => !recognizer.chart.derivations(0, place, start).is_empty(),
        };
        if complete && after_skip == text.len() {
            accepted = Some(place);
        }
    }
    Ok((recognizer.chart, accepted))
}

struct Recognizer<'a> {
    flat: &'a Flat,
    lexicon: &'a Lexicon,
    text: &'a Text,
    limit: usize,
    chart: Chart,
    /// The set in the making.
    work: Vec<Item>,
    seen: Seen,
    /// For each symbol, one more than the place at which it was predicted last.
    predicted: Vec<u32>,
    /// What leaves have brought to places ahead.
    pending: BTreeMap<u32, Pending>,
    spare: Vec<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    items: Vec<Item>,
    leaves: Vec<Done>,
}

impl Recognizer<'_> {
    fn set(&mut self, place: u32, after_skip: usize, mut pending: Pending, start: u32) -> Result<(), ParseError> {
        let ahead = Ahead {
            after_skip: self.text.classes.get(after_skip).copied(),
            immediate: self.text.classes.get(place as usize).copied(),
        };
        self.seen.clear();
        if place == 0 {
            self.predict(start, place, ahead);
        }
        for item in pending.items.drain(..) {
            self.add(item, place);
        }
        let first_done = self.chart.done.len();
        self.chart.done.append(&mut pending.leaves);
        self.spare.push(pending);
        let mut next = 0;
        while let Some(&Item { state: number, origin }) = self.work.get(next) {
            next += 1;
            let state = *self.flat.state(number);
            if state.accepts && origin < place {
                self.chart.done.push(Done { symbol: state.owner, origin, state: number });
                self.complete(state.owner, origin, place);
            }
            if state.awaits != NONE && !self.flat.awaits_leaf(number) {
                self.predict(state.awaits, place, ahead);
                if self.flat.is_nullable(state.awaits) {
                    self.add(Item { state: state.next, origin }, place);
                }
            }
            if self.chart.bytes() + self.work.len() * size_of::<Item>() > self.limit {
                return Err(ParseError::Memory { offset: self.text.offset(place as usize), limit: self.limit });
            }
        }
        self.finish(place, first_done);
        self.scan(place, after_skip);
        Ok(())
    }

    /// Adds an item to the set in the making. A complete derivation of an empty text tells nothing new.
    fn add(&mut self, item: Item, place: u32) {
        let empty = item.origin == place && self.flat.state(item.state).awaits == NONE;
        if !empty && self.seen.insert(item.state, item.origin) {
            self.work.push(item);
        }
    }

    fn predict(&mut self, symbol: u32, place: u32, ahead: Ahead) {
        if std::mem::replace(&mut self.predicted[symbol as usize], place + 1) == place + 1 {
            return;
        }
        for &state in self.flat.initial(symbol) {
            if self.flat.can_begin(state, ahead) {
                // Nothing leads to an initial state, so it cannot be there yet.
                self.work.push(Item { state, origin: place });
            }
        }
    }

    /// What awaited the symbol where it began goes on here.
    fn complete(&mut self, symbol: u32, origin: u32, place: u32) {
        let count = self.flat.len() as u32;
        if !self.seen.insert(count + symbol, origin) {
            return;
        }
        for at in self.chart.awaiting(origin, self.flat.awaiting(symbol)) {
            let item = self.chart.items[at];
            self.add(Item { state: self.flat.state(item.state).next, origin: item.origin }, place);
        }
    }

    /// Sorts the set and takes it into the chart. Complete derivations are there as found symbols already.
    fn finish(&mut self, place: u32, first_done: usize) {
        let flat = self.flat;
        self.work.retain(|item| flat.state(item.state).awaits != NONE);
        self.work.sort_unstable();
        self.chart.done[first_done..].sort_unstable();
        self.chart.at[place as usize] = self.chart.ends.len() as u32;
        self.chart.items.append(&mut self.work);
        self.chart.ends.push((self.chart.items.len(), self.chart.done.len()));
        self.chart.last = place;
    }

    /// Tries each leaf that is awaited, once. Of the operators only the longest count.
    fn scan(&mut self, place: u32, after_skip: usize) {
        let mut leaves: Vec<(u32, usize, Range<usize>)> = Vec::new();
        let mut longest = 0;
        let (range, _) = self.chart.bounds(place);
        let mut at =
            range.start + self.chart.items[range.clone()].partition_point(|i| i.state < self.flat.first_leaf());
        while at < range.end {
            let leaf = self.flat.state(self.chart.items[at].state).awaits;
            let last = self.flat.awaiting(leaf).end;
            let awaiting = at..at + self.chart.items[at..range.end].partition_point(|item| item.state < last);
            at = awaiting.end;
            let id = SymbolId(leaf);
            let from = if self.lexicon.is_immediate(id) { place as usize } else { after_skip };
            if let Some(end) = self.lexicon.leaf_end(id, self.text, from).filter(|end| *end > from) {
                if self.lexicon.is_operator(id) {
                    longest = longest.max(end);
                }
                leaves.push((leaf, end, awaiting));
            }
        }
        leaves.retain(|(leaf, end, _)| *end >= longest || !self.lexicon.is_operator(SymbolId(*leaf)));
        for (leaf, end, awaiting) in leaves {
            let spare = &mut self.spare;
            let pending = self.pending.entry(end as u32).or_insert_with(|| spare.pop().unwrap_or_default());
            pending.leaves.push(Done { symbol: leaf, origin: place, state: NONE });
            let advanced = |item: &Item| Item { state: self.flat.state(item.state).next, origin: item.origin };
            pending.items.extend(self.chart.items[awaiting].iter().map(advanced));
        }
    }
}

/// A set of pairs that is emptied in no time: what is in it carries the number of the filling it belongs to.
#[derive(Debug, Default)]
struct Seen {
    slots: Vec<(u64, u32)>,
    filling: u32,
    count: usize,
}

impl Seen {
    fn clear(&mut self) {
        self.count = 0;
        self.filling = match self.filling.checked_add(1) {
            Some(filling) => filling,
            None => {
                self.slots.fill((0, 0));
                1
            }
        };
    }

    /// Whether the pair was not in it.
    fn insert(&mut self, high: u32, low: u32) -> bool {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        let inserted = Self::put(&mut self.slots, self.filling, u64::from(high) << 32 | u64::from(low));
        self.count += usize::from(inserted);
        inserted
    }

    fn put(slots: &mut [(u64, u32)], filling: u32, key: u64) -> bool {
        let mask = slots.len() - 1;
        // The high bits of the product depend on all bits of the key.
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        loop {
            match slots[at] {
                (found, of) if of == filling && found == key => return false,
                (_, of) if of == filling => at = (at + 1) & mask,
                _ => {
                    slots[at] = (key, filling);
                    return true;
                }
            }
        }
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, 0); (self.slots.len() * 2).max(64)];
        // 0 marks free slots.
        self.filling = self.filling.max(1);
        for &(key, of) in &self.slots {
            if of == self.filling {
                Self::put(&mut slots, self.filling, key);
            }
        }
        self.slots = slots;
    }
}
