//! The characters of a grammar, merged where it never tells them apart.

use super::code::{self, Code};
use super::{Kind, Symbol};

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
        let mut bounds = vec![0, code::RAW, code::MAX + 1];
        let mut sets = Vec::new();
        for symbol in symbols {
            match &symbol.kind {
                Kind::Literal(bytes) => {
                    bounds.extend(super::lower::codes(bytes).into_iter().flat_map(|c| [c, c + 1]));
                }
                Kind::Set(set) => {
                    bounds.extend(set.ranges().iter().flat_map(|(low, high)| [*low, high + 1]));
                    sets.push(set);
                }
                Kind::Choice(_) | Kind::Repeat { .. } => {}
            }
        }
        // A blank may have to be put between tokens, whether or not the grammar names it.
        bounds.extend([32, 33]);
        bounds.sort_unstable();
        bounds.dedup();
        bounds.retain(|bound| *bound <= code::MAX);
        let literal: rustc_hash::FxHashSet<Code> = symbols
            .iter()
            .flat_map(|symbol| match &symbol.kind {
                Kind::Literal(bytes) => super::lower::codes(bytes),
                _ => Vec::new(),
            })
            .chain([32])
            .collect();
        let mut seen = rustc_hash::FxHashMap::default();
        let mut classes = Vec::with_capacity(bounds.len());
        for &bound in &bounds {
            let members: Vec<bool> = sets.iter().map(|set| set.contains(bound)).collect();
            let own = literal.contains(&bound).then_some(bound);
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
    pub fn classes_of<'a>(&'a self, set: &'a super::charset::CharSet) -> impl Iterator<Item = u16> + 'a {
        self.bounds.iter().zip(&self.classes).filter(|(bound, _)| set.contains(**bound)).map(|(_, class)| *class)
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
