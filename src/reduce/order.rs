//! When one text is simpler than another.

use std::cmp::Ordering;

/// Whether `a` is strictly simpler than `b`: shorter, or equally long and earlier in the order of their bytes, in which
/// digits come first, then lower-case letters, then other visible ASCII characters, then the rest.
///
/// There are finitely many texts of a length, so a chain of ever simpler texts ends. It is the order in which the grammar
/// chooses its least leaves, too (`0` before `a` before `"`).
pub(super) fn simpler(a: &[u8], b: &[u8]) -> bool {
    let by_bytes = || a.iter().map(rank).cmp(b.iter().map(rank));
    a.len().cmp(&b.len()).then_with(by_bytes) == Ordering::Less
}

fn rank(byte: &u8) -> (u8, u8) {
    let class = match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'!'..=b'~' => 2,
        b' ' => 3,
        _ => 4,
    };
    (class, *byte)
}
