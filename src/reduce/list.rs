//! Lists lose items from the end.
//!
//! Names are declared before they are used, so what stands last is needed least by the rest. A chunk that ends at the
//! current end is dropped: after a success the next chunk is twice as large, after a failure half as large; a single
//! item that must stay is passed. An item goes with its separator.
//!
//! Cost: about one run for a list of which nothing is needed, two for each needed item and the logarithm of the gaps between
//! them otherwise. What it can never do: drop two items that must go together and do not stand side by side.

use super::work::{Pass, Work};
use crate::search::Stop;
use crate::tree::NodeId;
use rustc_hash::FxHashSet;

/// Drops what it can from the repetition. `half`: begin with half of the items, not with all; for lists that hold most of the
/// node above them, which are likely to hold the core.
pub(super) fn shorten(work: &mut Work<'_, '_>, at: usize, half: bool) -> Result<(), Stop> {
    let (items, min) = work.items(at);
    let items: Vec<NodeId> = items.into_iter().map(|item| work.tree.node(item).id).collect();
    let mut left = items.len();
    let mut end = items.len();
    let mut chunk = if half && items.len() > 1 { items.len() / 2 } else { items.len() };
    while end > 0 {
        let begin = end.saturating_sub(chunk.max(1));
        let size = end - begin;
        let dropped: FxHashSet<NodeId> = items[begin..end].iter().copied().collect();
        // The list stays at its place: what changes is inside of it.
        if left - size >= min && work.attempt(Pass::List, work.without(at, |item| dropped.contains(&item)))? {
            left -= size;
            end = begin;
            chunk = size * 2;
        } else if size == 1 {
            end = begin;
            chunk = 1;
        } else {
            chunk = size / 2;
        }
    }
    Ok(())
}
