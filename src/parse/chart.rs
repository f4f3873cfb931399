//! Earley's algorithm: everything that can be derived of each beginning of the input.
//!
//! Symbols that can be empty are passed over when they are awaited (Aycock and Horspool, "Practical Earley Parsing", 2002),
//! so no derivation of an empty text is ever recorded and a set never waits for itself: when a set is complete it is
//! sorted, and stays so. What cannot go on with what is [ahead](super::ahead) is left out. Sets stand at the ends of leaves
//! only.
//!
//! **Recursion on the right** would have each set repeat what all sets before it found to end. If a symbol is awaited by
//! one derivation only, which ends with it, and so on upwards, only the topmost of these goes on (Leo, "A general
//! context-free parsing algorithm running in linear time on every LR(k) grammar without using lookahead", 1991). What was
//! skipped is found when the tree is read, at the places where it is looked for: see [`Recognizer::reveal`].

use super::ParseError;
use super::ahead::Ahead;
use super::flat::{Flat, NONE};
use crate::grammar::{Lexicon, SymbolId, Text};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;

/// Up to so many, looking at each is faster than halving.
const FEW: usize = 8;

/// How large what is remembered of beginnings may become, in states and symbols.
const REMEMBERED: usize = 1 << 20;

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
    ends: Vec<(u32, u32)>,
    /// The number of the set at each place.
    at: Vec<u32>,
    /// The last place that has a set.
    pub last: u32,
    /// Sets that were made again, with all in them.
    again: FxHashMap<u32, (Vec<Item>, Vec<Done>)>,
}

impl Chart {
    fn number(&self, place: u32) -> Option<usize> {
        self.at.get(place as usize).filter(|number| **number != NONE).map(|number| *number as usize)
    }

    fn bounds(&self, place: u32) -> (Range<usize>, Range<usize>) {
        let Some(number) = self.number(place) else { return (0..0, 0..0) };
        let (items, done) = number.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        let end = self.ends[number];
        (items as usize..end.0 as usize, done as usize..end.1 as usize)
    }

    /// The items of a set.
    pub(super) fn items(&self, place: u32) -> &[Item] {
        match self.again(place) {
            Some((items, _)) => items,
            None => &self.items[self.bounds(place).0],
        }
    }

    /// What was found to end at a place.
    pub(super) fn done(&self, place: u32) -> &[Done] {
        match self.again(place) {
            Some((_, done)) => done,
            None => &self.done[self.bounds(place).1],
        }
    }

    fn again(&self, place: u32) -> Option<&(Vec<Item>, Vec<Done>)> {
        if self.again.is_empty() { None } else { self.again.get(&place) }
    }

    /// Where in the row of items those of a set are that await a symbol.
    fn awaiting(&self, place: u32, states: Range<u32>) -> Range<usize> {
        let (range, _) = self.bounds(place);
        let items = &self.items[range.clone()];
        let row = find(items, |item| match item.state {
            state if state < states.start => Ordering::Less,
            state if state < states.end => Ordering::Equal,
            _ => Ordering::Greater,
        });
        range.start + row.start..range.start + row.end
    }

    /// Whether a derivation that began at `origin` can be in `state` at `place`.
    pub(super) fn contains(&self, place: u32, state: u32, origin: u32) -> bool {
        let items = self.items(place);
        let item = Item { state, origin };
        if items.len() <= FEW { items.contains(&item) } else { items.binary_search(&item).is_ok() }
    }

    /// Where a symbol that ends at `place` can begin, and how.
    pub(super) fn spans(&self, place: u32, symbol: u32) -> &[Done] {
        let done = self.done(place);
        &done[find(done, |found| found.symbol.cmp(&symbol))]
    }

    /// How a symbol can be derived between two places.
    pub(super) fn derivations(&self, origin: u32, place: u32, symbol: u32) -> &[Done] {
        let done = self.done(place);
        &done[find(done, |found| (found.symbol, found.origin).cmp(&(symbol, origin)))]
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

/// Makes the chart of `text` for `start`, which is no leaf.
pub(super) fn recognize<'a>(
    flat: &'a Flat,
    lexicon: &'a Lexicon,
    text: &'a Text,
    start: u32,
    limit: usize,
) -> Result<Recognizer<'a>, ParseError> {
    let mut recognizer = Recognizer {
        flat,
        lexicon,
        text,
        limit,
        start,
        end: None,
        chart: Chart { at: vec![NONE; text.len() + 1], ..Chart::default() },
        work: Vec::new(),
        begun: Vec::new(),
        found: Vec::new(),
        seen: Seen::default(),
        predicted: vec![0; flat.symbols()],
        beginnings: FxHashMap::default(),
        remembered: 0,
        again_bytes: 0,
        pending: vec![(0, Pending::default())],
        spare: Vec::new(),
        leaves: Vec::new(),
        tops: FxHashMap::default(),
        hidden: FxHashMap::default(),
    };
    while let Some((place, pending)) = recognizer.pending.pop() {
        recognizer.set(place, pending)?;
    }
    if recognizer.end.is_none() {
        recognizer.again(recognizer.chart.last, Care::None)?;
    }
    Ok(recognizer)
}

/// The chart in the making.
pub(super) struct Recognizer<'a> {
    flat: &'a Flat,
    lexicon: &'a Lexicon,
    text: &'a Text,
    /// How many bytes it may take.
    pub limit: usize,
    start: u32,
    /// What there is so far.
    pub chart: Chart,
    /// The greatest place at which an input that is the start symbol and nothing more can end.
    pub end: Option<u32>,
    /// The set in the making.
    work: Vec<Item>,
    /// Its items that stand for a whole [`Beginning`].
    begun: Vec<Item>,
    found: Vec<Done>,
    seen: Seen,
    /// For each symbol, one more than the place at which it was predicted last.
    predicted: Vec<u32>,
    /// For a symbol and what is ahead, all that begins if it is awaited.
    beginnings: FxHashMap<(u32, Ahead), Beginning>,
    /// How large they are together.
    remembered: usize,
    /// How many bytes the sets have that were made again.
    again_bytes: usize,
    /// What leaves have brought to places ahead, the nearest last.
    pending: Vec<(u32, Pending)>,
    spare: Vec<Pending>,
    leaves: Vec<(u32, u32, Range<usize>)>,
    /// For a place and a symbol awaited there, where its derivation may go on at once.
    tops: FxHashMap<(u32, u32), Top>,
    /// The symbols that were skipped at a place, as in [`Top::skipped`].
    hidden: FxHashMap<u32, u64>,
}

#[derive(Debug, Default)]
struct Pending {
    items: Vec<Item>,
    leaves: Vec<Done>,
}

/// The topmost of derivations that each end with the next.
#[derive(Clone, Copy, Debug)]
struct Top {
    item: Item,
    /// The symbols between, a bit for each, several to the same bit.
    skipped: u64,
}

/// All that begins where a symbol is awaited.
#[derive(Clone, Debug, Default)]
struct Beginning {
    /// The symbol and those that its derivations may begin with.
    symbols: Vec<u32>,
    /// The states of these, sorted, and those after symbols that can be empty.
    states: Vec<u32>,
}

/// What may be left out of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// What cannot go on, and what recursion on the right repeats.
    Full,
    /// What cannot go on.
    Ahead,
    /// Nothing.
    None,
}

/// What the set in the making is to be.
#[derive(Clone, Copy)]
struct Making {
    place: u32,
    ahead: Ahead,
    care: Care,
}

impl Recognizer<'_> {
    fn set(&mut self, place: u32, mut pending: Pending) -> Result<(), ParseError> {
        let after_skip = self.lexicon.skip_end(self.text, place as usize);
        let making = self.making(place, after_skip, Care::Full);
        self.seen.clear();
        if place == 0 {
            self.predict(self.start, making);
        }
        for item in pending.items.drain(..) {
            self.add(item, making);
        }
        self.found.append(&mut pending.leaves);
        self.spare.push(pending);
        self.close(making)?;
        self.chart.at[place as usize] = self.chart.ends.len() as u32;
        self.chart.items.append(&mut self.work);
        self.chart.done.append(&mut self.found);
        self.chart.ends.push((self.chart.items.len() as u32, self.chart.done.len() as u32));
        self.chart.last = place;
        if after_skip == self.text.len() && self.is_whole(place) {
            self.end = Some(place);
        }
        self.scan(place, after_skip);
        Ok(())
    }

    fn is_whole(&self, place: u32) -> bool {
        match place {
            0 => self.flat.is_nullable(self.start),
            _ => !self.chart.derivations(0, place, self.start).is_empty(),
        }
    }

    fn making(&self, place: u32, after_skip: usize, care: Care) -> Making {
        let class = |at: usize| self.text.classes.get(at).copied();
        Making { place, care, ahead: self.flat.lookahead.ahead(class(after_skip), class(place as usize)) }
    }

    /// Makes sure that the chart holds all derivations of a symbol that end at a place.
    pub(super) fn reveal(&mut self, place: u32, symbol: u32) -> Result<(), ParseError> {
        if self.hidden.is_empty() || self.flat.right(symbol) == NONE {
            return Ok(());
        }
        if self.hidden.get(&place).is_some_and(|skipped| skipped & bit(symbol) != 0) {
            self.hidden.remove(&place);
            self.again(place, Care::Ahead)?;
        }
        Ok(())
    }

    /// Makes a set again: all of it follows from the leaves that end there, and from the sets before.
    fn again(&mut self, place: u32, care: Care) -> Result<(), ParseError> {
        let making = self.making(place, self.lexicon.skip_end(self.text, place as usize), care);
        self.seen.clear();
        self.predicted.fill(0);
        if place == 0 {
            self.predict(self.start, making);
        }
        for at in self.chart.bounds(place).1 {
            let done = self.chart.done[at];
            if done.state == NONE {
                self.found.push(done);
                self.advance(self.chart.awaiting(done.origin, self.flat.awaiting(done.symbol)), making);
            }
        }
        self.close(making)?;
        let set = (std::mem::take(&mut self.work), std::mem::take(&mut self.found));
        self.again_bytes += set.0.len() * size_of::<Item>() + set.1.len() * size_of::<Done>();
        self.chart.again.insert(place, set);
        Ok(())
    }

    /// Adds to the set in the making all that follows from it, and sorts it.
    fn close(&mut self, making: Making) -> Result<(), ParseError> {
        let flat = self.flat;
        let Making { place, ahead, care } = making;
        let mut next = 0;
        while let Some(&Item { state: number, origin }) = self.work.get(next) {
            next += 1;
            let state = flat.state(number);
            let ends = state.accepts && origin < place;
            if ends && (care == Care::None || flat.lookahead.can_follow(state.owner, ahead)) {
                self.found.push(Done { symbol: state.owner, origin, state: number });
                self.complete(state.owner, origin, making);
            }
            if state.awaits != NONE && !flat.awaits_leaf(number) {
                self.predict(state.awaits, making);
                if flat.is_nullable(state.awaits) {
                    self.add(Item { state: state.next, origin }, making);
                }
            }
            if self.bytes() > self.limit {
                return Err(ParseError::Memory { offset: self.text.offset(place as usize), limit: self.limit });
            }
        }
        // Complete derivations are there as found symbols already; of those that await a leaf, some could only end.
        let stays = |item: &Item| match flat.state(item.state).awaits {
            NONE => false,
            _ if flat.awaits_leaf(item.state) && care != Care::None => flat.lookahead.can_begin(item.state, ahead),
            _ => true,
        };
        self.work.retain(stays);
        self.work.sort_unstable();
        if !self.begun.is_empty() {
            self.work.append(&mut self.begun);
            // Two sorted rows: the stable sort merges them.
            self.work.sort();
        }
        self.found.sort_unstable();
        Ok(())
    }

    fn bytes(&self) -> usize {
        let making = (self.work.len() + self.begun.len()) * size_of::<Item>() + self.found.len() * size_of::<Done>();
        self.chart.bytes() + making + self.again_bytes + self.tops.len() * 2 * size_of::<((u32, u32), Top)>()
    }

    /// Adds an item to the set in the making, unless it leads nowhere. A complete derivation of an empty text tells nothing
    /// new.
    fn add(&mut self, item: Item, Making { place, ahead, care }: Making) {
        let goes_on = if item.origin < place {
            care == Care::None || self.flat.lookahead.can_go_on(item.state, ahead)
        } else {
            self.flat.state(item.state).awaits != NONE
                && (care == Care::None || self.flat.lookahead.can_begin(item.state, ahead))
        };
        if goes_on && self.seen.insert(item.state, item.origin) {
            self.work.push(item);
        }
    }

    fn predict(&mut self, symbol: u32, Making { place, ahead, care }: Making) {
        if self.predicted[symbol as usize] == place + 1 {
            return;
        }
        // Two of these may overlap; one is all that most sets have.
        if care == Care::Full && self.begun.is_empty() && self.remembered < REMEMBERED {
            let flat = self.flat;
            let beginning = self.beginnings.entry((symbol, ahead)).or_insert_with(|| {
                let beginning = Beginning::of(flat, symbol, ahead);
                self.remembered += beginning.states.len() + beginning.symbols.len();
                beginning
            });
            beginning.symbols.iter().for_each(|symbol| self.predicted[*symbol as usize] = place + 1);
            self.begun.extend(beginning.states.iter().map(|state| Item { state: *state, origin: place }));
            return;
        }
        self.predicted[symbol as usize] = place + 1;
        for &state in self.flat.initial(symbol) {
            if self.flat.lookahead.can_begin(state, ahead) {
                // Nothing leads to an initial state, so it cannot be there yet.
                self.work.push(Item { state, origin: place });
            }
        }
    }

    /// What awaited the symbol where it began goes on here.
    fn complete(&mut self, symbol: u32, origin: u32, making: Making) {
        let count = self.flat.len() as u32;
        if !self.seen.insert(count + symbol, origin) {
            return;
        }
        let awaiting = self.chart.awaiting(origin, self.flat.awaiting(symbol));
        if awaiting.len() == 1
            && making.care == Care::Full
            && self.flat.right(symbol) != NONE
            && let Some(Top { item, skipped }) = self.top(symbol, origin)
        {
            if skipped != 0 {
                *self.hidden.entry(making.place).or_default() |= skipped;
            }
            self.add(item, making);
            return;
        }
        self.advance(awaiting, making);
    }

    fn advance(&mut self, awaiting: Range<usize>, making: Making) {
        for at in awaiting {
            let item = self.chart.items[at];
            self.add(Item { state: self.flat.state(item.state).next, origin: item.origin }, making);
        }
    }

    /// Where a derivation of the symbol that began at `origin` goes on, if what awaits it ends with it, and so on upwards.
    fn top(&mut self, symbol: u32, origin: u32) -> Option<Top> {
        let recursion = self.flat.right(symbol);
        let mut links: Vec<((u32, u32), Item, u32)> = Vec::new();
        let mut key = (origin, symbol);
        let mut known = None;
        // Derivations of the same symbols over the same text could go round in a circle.
        let mut unmoved = 0;
        while unmoved <= self.flat.symbols() {
            known = self.tops.get(&key).copied();
            if known.is_some() {
                break;
            }
            let awaiting = self.chart.awaiting(key.0, self.flat.awaiting(key.1));
            let Some(&item) = self.chart.items.get(awaiting.start).filter(|_| awaiting.len() == 1) else { break };
            let state = self.flat.state(item.state);
            if self.flat.state(state.next).awaits != NONE {
                break;
            }
            links.push((key, Item { state: state.next, origin: item.origin }, state.owner));
            let is_input = state.owner == self.start && item.origin == 0;
            if self.flat.right(state.owner) != recursion || is_input {
                break;
            }
            unmoved = if item.origin == key.0 { unmoved + 1 } else { 0 };
            key = (item.origin, state.owner);
        }
        if unmoved > self.flat.symbols() {
            return None;
        }
        for (key, item, owner) in links.into_iter().rev() {
            let top = known
                .map_or(Top { item, skipped: 0 }, |Top { item, skipped }| Top { item, skipped: skipped | bit(owner) });
            self.tops.insert(key, top);
            known = Some(top);
        }
        known
    }

    /// Tries each leaf that is awaited, once. Of the operators only the longest count.
    fn scan(&mut self, place: u32, after_skip: usize) {
        let mut leaves = std::mem::take(&mut self.leaves);
        let mut longest = 0;
        let (range, _) = self.chart.bounds(place);
        let mut at =
            range.start + self.chart.items[range.clone()].partition_point(|i| i.state < self.flat.first_leaf());
        while at < range.end {
            let leaf = self.flat.state(self.chart.items[at].state).awaits;
            let last = self.flat.awaiting(leaf).end;
            let first = at;
            while at < range.end && self.chart.items[at].state < last {
                at += 1;
            }
            let lexeme = self.flat.lexeme(leaf);
            let from = if lexeme.immediate { place as usize } else { after_skip };
            let end = match lexeme.single {
                true => Some(from + 1),
                false => self.lexicon.leaf_end(SymbolId(leaf), self.text, from).filter(|end| *end > from),
            };
            if let Some(end) = end {
                if lexeme.operator {
                    longest = longest.max(end as u32);
                }
                leaves.push((leaf, end as u32, first..at));
            }
        }
        for (leaf, end, awaiting) in leaves.drain(..) {
            if end < longest && self.flat.lexeme(leaf).operator {
                continue;
            }
            let found = self.pending.binary_search_by(|(place, _)| end.cmp(place));
            let number = found.unwrap_or_else(|number| {
                self.pending.insert(number, (end, self.spare.pop().unwrap_or_default()));
                number
            });
            let (_, pending) = &mut self.pending[number];
            pending.leaves.push(Done { symbol: leaf, origin: place, state: NONE });
            let advanced = |item: &Item| Item { state: self.flat.state(item.state).next, origin: item.origin };
            pending.items.extend(self.chart.items[awaiting].iter().map(advanced));
        }
        self.leaves = leaves;
    }
}

/// Those of a sorted row that are equal to something.
fn find<T>(sorted: &[T], compare: impl Fn(&T) -> Ordering) -> Range<usize> {
    let place = |at_least: Ordering| match sorted.len() <= FEW {
        true => sorted.iter().position(|one| compare(one) >= at_least).unwrap_or(sorted.len()),
        false => sorted.partition_point(|one| compare(one) < at_least),
    };
    let from = place(Ordering::Equal);
    let count = sorted[from..].iter().take(FEW).position(|one| compare(one) != Ordering::Equal);
    match count {
        Some(count) => from..from + count,
        None => from..place(Ordering::Greater),
    }
}

impl Beginning {
    fn of(flat: &Flat, symbol: u32, ahead: Ahead) -> Self {
        let mut beginning = Beginning { symbols: vec![symbol], states: Vec::new() };
        let (mut symbols, mut states) = (0, 0);
        while let Some(&symbol) = beginning.symbols.get(symbols) {
            symbols += 1;
            let initial = flat.initial(symbol).iter().copied();
            beginning.states.extend(initial.filter(|state| flat.lookahead.can_begin(*state, ahead)));
            while let Some(&number) = beginning.states.get(states) {
                states += 1;
                let state = flat.state(number);
                if flat.awaits_leaf(number) {
                    continue;
                }
                if !beginning.symbols.contains(&state.awaits) {
                    beginning.symbols.push(state.awaits);
                }
                let passes = flat.is_nullable(state.awaits) && flat.state(state.next).awaits != NONE;
                if passes && flat.lookahead.can_begin(state.next, ahead) && !beginning.states.contains(&state.next) {
                    beginning.states.push(state.next);
                }
            }
        }
        beginning.states.sort_unstable();
        beginning
    }
}

fn bit(symbol: u32) -> u64 {
    1 << (symbol % 64)
}

/// A set of pairs that is emptied in no time: what is in it carries the number of the filling it belongs to. The first few
/// stand in a row.
#[derive(Debug, Default)]
struct Seen {
    few: Vec<u64>,
    slots: Vec<(u64, u32)>,
    filling: u32,
    count: usize,
}

impl Seen {
    const FEW: usize = 16;

    fn clear(&mut self) {
        self.few.clear();
        self.count = 0;
    }

    /// Whether the pair was not in it.
    fn insert(&mut self, high: u32, low: u32) -> bool {
        let key = u64::from(high) << 32 | u64::from(low);
        if self.count == 0 {
            if self.few.contains(&key) {
                return false;
            }
            if self.few.len() < Self::FEW {
                self.few.push(key);
                return true;
            }
            self.next_filling();
            for at in 0..self.few.len() {
                self.put(self.few[at]);
            }
        }
        self.put(key)
    }

    fn next_filling(&mut self) {
        self.filling = match self.filling.checked_add(1) {
            Some(filling) => filling,
            None => {
                self.slots.fill((0, 0));
                1
            }
        };
    }

    fn put(&mut self, key: u64) -> bool {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        let inserted = Self::put_in(&mut self.slots, self.filling, key);
        self.count += usize::from(inserted);
        inserted
    }

    fn put_in(slots: &mut [(u64, u32)], filling: u32, key: u64) -> bool {
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
        for &(key, of) in self.slots.iter().filter(|(_, of)| *of == self.filling) {
            Self::put_in(&mut slots, of, key);
        }
        self.slots = slots;
    }
}
