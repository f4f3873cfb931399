//! What the passes ask of a tree again and again, computed once for each tree that was accepted.

use crate::tree::Tree;

/// Tables over a tree's places.
pub(super) struct View {
    parents: Vec<u32>,
    /// How many leaves with bytes stand before a place; one entry more than there are nodes.
    leaves: Vec<u32>,
    /// Length of a node's text in bytes, without what was skipped before its first leaf.
    lengths: Vec<u32>,
}

impl View {
    pub(super) fn of(tree: &Tree) -> Self {
        let nodes = tree.nodes();
        let mut leaves = Vec::with_capacity(nodes.len() + 1);
        leaves.push(0);
        for node in nodes {
            let leaf = node.size == 1 && node.end > node.start;
            leaves.push(leaves.last().copied().unwrap_or(0) + u32::from(leaf));
        }
        let mut lengths = vec![0; nodes.len()];
        let mut skipped = 0;
        for (at, node) in nodes.iter().enumerate().rev() {
            if leaves[at + 1] > leaves[at] {
                skipped = node.trivia;
            }
            // The first leaf at or after a place is the node's own first leaf, if the node has any text.
            lengths[at] = if node.end > node.start { node.end - node.start - skipped } else { 0 };
        }
        View { parents: tree.parents(), leaves, lengths }
    }

    /// The place of a node's parent; `None` for the root.
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        (at > 0).then(|| self.parents[at] as usize)
    }

    /// Length of a node's text in bytes, without what was skipped before its first leaf.
    pub(super) fn length(&self, at: usize) -> usize {
        self.lengths[at] as usize
    }

    /// Which leaves a subtree has, as an interval of their numbers from left to right.
    pub(super) fn interval(&self, tree: &Tree, at: usize) -> (usize, usize) {
        (self.leaves[at] as usize, self.leaves[tree.after(at)] as usize)
    }
}
