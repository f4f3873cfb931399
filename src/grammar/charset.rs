//! Sets of characters.

use super::code::{self, Code};

/// A set of [`Code`]s: sorted, disjoint, non-adjacent inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CharSet {
    ranges: Vec<(Code, Code)>,
}

impl CharSet {
    /// The set of all codes in the given inclusive ranges, in any order.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (Code, Code)>) -> Self {
        let mut sorted: Vec<_> = ranges.into_iter().filter(|(low, high)| low <= high).collect();
        sorted.sort_unstable();
        let mut ranges: Vec<(Code, Code)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match ranges.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => ranges.push((low, high)),
            }
        }
        CharSet { ranges }
    }

    /// The set of one code.
    pub fn single(code: Code) -> Self {
        CharSet { ranges: vec![(code, code)] }
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> &[(Code, Code)] {
        &self.ranges
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many codes are in it.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|(low, high)| u64::from(high - low) + 1).sum()
    }

    /// Whether `code` is in it.
    pub fn contains(&self, code: Code) -> bool {
        let after = self.ranges.partition_point(|(low, _)| *low <= code);
        after > 0 && code <= self.ranges[after - 1].1
    }

    /// The `index`-th code in ascending order, if there are so many.
    pub fn nth(&self, mut index: u64) -> Option<Code> {
        for (low, high) in &self.ranges {
            let size = u64::from(high - low) + 1;
            if index < size {
                return Some(low + index as Code);
            }
            index -= size;
        }
        None
    }

    /// All codes that are not in it: scalar values and raw bytes (those below 0x80 are never raw).
    pub fn complement(&self) -> Self {
        let mut ranges = Vec::new();
        let mut next = 0;
        let never = CharSet { ranges: vec![(code::RAW, code::RAW + 0x7F)] };
        for (low, high) in self.union(&never).ranges {
            if low > next {
                ranges.push((next, low - 1));
            }
            next = next.max(high + 1);
        }
        if next <= code::MAX {
            ranges.push((next, code::MAX));
        }
        // Surrogates are no scalar values: a range that spans them would make sampling return codes without bytes.
        CharSet::from_ranges(ranges.into_iter().flat_map(|(low, high)| {
            [(low, high.min(0xD7FF)), (low.max(0xE000), high)].into_iter().filter(|(low, high)| low <= high)
        }))
    }

    /// What is in both.
    pub fn intersection(&self, other: &CharSet) -> Self {
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            for &(other_low, other_high) in &other.ranges {
                ranges.push((low.max(other_low), high.min(other_high)));
            }
        }
        CharSet::from_ranges(ranges)
    }

    /// What is in this set and not in the other.
    pub fn difference(&self, other: &CharSet) -> Self {
        self.intersection(&other.complement())
    }

    /// What is in either.
    pub fn union(&self, other: &CharSet) -> Self {
        CharSet::from_ranges(self.ranges.iter().chain(&other.ranges).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_algebra() {
        let letters = CharSet::from_ranges([(97, 122), (65, 90)]);
        let vowels = CharSet::from_ranges([(97, 97), (101, 101)]);
        let rest = letters.difference(&vowels);
        assert!(rest.contains(98) && !rest.contains(97) && !rest.contains(101));
        assert_eq!(rest.len(), 50);
        assert_eq!(rest.union(&vowels), letters);
        assert_eq!(letters.nth(26), Some(97));
        assert!(!letters.complement().contains(0xD800));
        assert!(letters.complement().contains(code::RAW + 0xFF));
        assert_eq!(letters.complement().complement(), letters);
        assert!(CharSet::default().complement().complement().is_empty());
    }
}
