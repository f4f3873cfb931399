//! Prediction from what did not fail: if some leaves do not suffice, fewer of them are not expected to.
//!
//! It saves the runs for candidates that keep a subset of the leaves that an earlier candidate without failure kept. Most
//! oracles are monotone in this sense nearly everywhere, none has to be: so the sweep only orders its candidates by the
//! prediction and tries all of them, and the result's guarantee does not rest on it.

use crate::tree::Tree;
use fixedbitset::FixedBitSet;

/// Most sets that are kept, the latest.
const LIMIT: usize = 256;

/// The sets of leaves that did not suffice; none is a subset of another.
#[derive(Clone, Default)]
pub(super) struct Insufficient {
    sets: Vec<FixedBitSet>,
}

impl Insufficient {
    /// Whether the candidate's leaves are a subset of leaves that did not suffice. A new leaf, one that `current` does not
    /// have, is in no set: of a candidate that has one nothing is predicted.
    pub(super) fn predicts(&self, candidate: &Tree, current: &Tree) -> bool {
        if self.sets.is_empty() {
            return false;
        }
        let (kept, new) = leaves(candidate, current);
        !new && self.sets.iter().any(|set| kept.is_subset(set))
    }

    /// Notes that the candidate, made of `current`, does not fail. Its new leaves are left out of the set: their ids are given
    /// again to the next candidate's.
    pub(super) fn add(&mut self, candidate: &Tree, current: &Tree) {
        let (kept, _) = leaves(candidate, current);
        self.sets.retain(|set| !set.is_subset(&kept));
        if self.sets.len() == LIMIT {
            self.sets.remove(0);
        }
        self.sets.push(kept);
    }
}

/// The ids of the candidate's old leaves, and whether it has others.
fn leaves(candidate: &Tree, current: &Tree) -> (FixedBitSet, bool) {
    let mut kept = FixedBitSet::with_capacity(current.next_id() as usize);
    let mut new = false;
    for node in candidate.nodes().iter().filter(|node| node.size == 1 && node.end > node.start) {
        let id = node.id.0 as usize;
        if id < kept.len() { kept.insert(id) } else { new = true }
    }
    (kept, new)
}
