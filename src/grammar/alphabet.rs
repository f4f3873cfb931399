//! The characters of a grammar, merged where it never tells them apart.

use super::charset::CharSet;
use super::code::{self, Code};
use super::{Kind, Symbol};
use rustc_hash::FxHashSet;

/// A partition of all characters into classes that the grammar does not divide. Automata and parser work on class numbers.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    /// The first code of each interval, ascending, from 0.
    bounds: Vec<Code>,
    /// The class of each interval. Distinct intervals that the grammar never tells apart share one.
    classes: Vec<u16>,
    ascii: Vec<u16>,
    len: u16,
}

impl Alphabet {
    pub(super) fn of(symbols: &[Symbol]) -> Self {
        let mut sets = Vec::new();
        // A blank may have to be put between tokens, whether or not the grammar names it.
        let mut characters = FxHashSet::from_iter([32]);
        for symbol in symbols {
            match &symbol.kind {
                Kind::Literal(bytes) => characters.extend(super::lower::codes(bytes)),
                Kind::Set(set) => sets.push(set),
                Kind::Choice(_) | Kind::Repeat { .. } => {}
            }
        }
        Alphabet::dividing(&sets, &characters)
    }

    /// The coarsest alphabet that divides none of the sets, each of the characters being a class of its own.
    pub(super) fn dividing(sets: &[&CharSet], characters: &FxHashSet<Code>) -> Self {
        let mut bounds = vec![0, code::RAW, code::MAX + 1];
        bounds.extend(characters.iter().flat_map(|code| [*code, *code + 1]));
        bounds.extend(sets.iter().flat_map(|set| set.ranges()).flat_map(|(low, high)| [*low, high + 1]));
        bounds.sort_unstable();
        bounds.dedup();
        bounds.retain(|bound| *bound <= code::MAX);
        let mut seen = rustc_hash::FxHashMap::default();
        let mut classes = Vec::with_capacity(bounds.len());
        for &bound in &bounds {
            let members: Vec<bool> = sets.iter().map(|set| set.contains(bound)).collect();
            let own = characters.contains(&bound).then_some(bound);
            let next = seen.len() as u16;
            classes.push(*seen.entry((members, own)).or_insert(next));
        }
        let len = seen.len() as u16;
        let mut alphabet = Alphabet { bounds, classes, ascii: Vec::new(), len };
        alphabet.ascii = (0..128).map(|code| alphabet.search(code)).collect();
        alphabet
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there is none, as in the default value only.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The class of a character.
    pub fn class(&self, code: Code) -> u16 {
        match self.ascii.get(code as usize) {
            Some(class) => *class,
            None => self.search(code),
        }
    }

    fn search(&self, code: Code) -> u16 {
        self.classes[self.bounds.partition_point(|bound| *bound <= code) - 1]
    }

    /// The classes that make up a set; the set must be one of the grammar's own.
    pub fn classes_of<'a>(&'a self, set: &'a CharSet) -> impl Iterator<Item = u16> + 'a {
        self.bounds.iter().zip(&self.classes).filter(|(bound, _)| set.contains(**bound)).map(|(_, class)| *class)
    }

    /// The characters of each class.
    pub(super) fn members(&self) -> Vec<CharSet> {
        let mut ranges = vec![Vec::new(); self.len()];
        let ends = self.bounds.iter().skip(1).map(|next| next - 1).chain([code::MAX]);
        for ((low, high), class) in self.bounds.iter().zip(ends).zip(&self.classes) {
            ranges[usize::from(*class)].push((*low, high));
        }
        // What lies between the ranges of characters is none.
        let real = CharSet::default().complement();
        ranges.into_iter().map(|ranges| CharSet::from_ranges(ranges).intersection(&real)).collect()
    }

    /// The least code of each class, preferring digits, then other printable ASCII characters.
    pub(super) fn representatives(&self) -> Vec<Code> {
        let mut found = vec![None; self.len()];
        let printable = (48..58).chain(97..123).chain(33..127).chain(32..33);
        for code in printable.chain(self.bounds.iter().copied()) {
            found[usize::from(self.class(code))].get_or_insert(code);
        }
        found.into_iter().map(|code| code.unwrap_or(0)).collect()
    }

    /// An input in classes, one for each character.
    pub fn text(&self, bytes: &[u8]) -> Text {
        let mut classes = Vec::with_capacity(bytes.len());
        let mut offsets = Vec::with_capacity(bytes.len() + 1);
        for (offset, code) in code::decode(bytes) {
            classes.push(self.class(code));
            offsets.push(offset as u32);
        }
        offsets.push(bytes.len() as u32);
        Text { classes, offsets }
    }
}

/// An input as the classes of its characters. Positions count characters.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The class of each character.
    pub classes: Vec<u16>,
    /// The byte at which each character begins, and the length in bytes at the end.
    pub offsets: Vec<u32>,
}

impl Text {
    /// How many characters there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The byte at which the character at `position` begins.
    pub fn offset(&self, position: usize) -> usize {
        self.offsets[position] as usize
    }
}
