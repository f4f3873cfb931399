//! Derivation trees: one parse of one input, whose leaves, left to right, spell it byte for byte.
//!
//! A tree is a plain value: its nodes stand in one array in preorder, each with the size of its subtree, beside the text.
//! Nothing here recurses over an input, so depth costs nothing. A subtree is a tree, too (a *fragment*), and an edit puts
//! fragments in the place of nodes.

pub mod coverage;
mod edit;
mod least;
mod show;
mod style;

pub use edit::spaced;
pub use least::least;
pub use show::{to_dot, to_json, to_outline, to_sexp};
pub use style::Style;

use crate::grammar::{Grammar, Kind, SymbolId};

/// Identifies a node over edits: what is kept or moved keeps its id, what is new gets a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The id of nodes that were made, not parsed, until an edit takes them into a tree.
    pub const NEW: NodeId = NodeId(u32::MAX);
}

/// A node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is a derivation of.
    pub symbol: SymbolId,
    /// Which alternative of a choice; 0 for others.
    pub alternative: u32,
    /// How many nodes its subtree has, itself included.
    pub size: u32,
    /// Where its text begins, in bytes, what was skipped before its first leaf included.
    pub start: u32,
    /// Where its text ends.
    pub end: u32,
    /// For a leaf, how many bytes at its start were skipped (white space, comments).
    pub trivia: u32,
    /// Its identity over edits.
    pub id: NodeId,
}

/// A derivation tree. Nodes are addressed by their place in preorder; the root is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
    text: Vec<u8>,
    next_id: u32,
}

impl Tree {
    /// All nodes in preorder; never empty.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: a tree has a root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node at a place.
    pub fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    /// The whole input, what was skipped at its end included.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text of a node, what was skipped before its first leaf included.
    pub fn text_of(&self, at: usize) -> &[u8] {
        &self.text[self.nodes[at].start as usize..self.nodes[at].end as usize]
    }

    /// The text of a node without what was skipped before its first leaf.
    pub fn lexeme(&self, at: usize) -> &[u8] {
        let first = self.first_leaf(at).map_or(0, |leaf| self.nodes[leaf].trivia as usize);
        &self.text_of(at)[first..]
    }

    /// What was skipped after the last leaf.
    pub fn trailing(&self) -> &[u8] {
        &self.text[self.nodes[0].end as usize..]
    }

    /// The place right after the node's subtree.
    pub fn after(&self, at: usize) -> usize {
        at + self.nodes[at].size as usize
    }

    /// The places of a node's children, left to right.
    pub fn children(&self, at: usize) -> Children<'_> {
        Children { tree: self, next: at + 1, end: self.after(at) }
    }

    /// The places of the nodes below a node and of the node itself, in preorder.
    pub fn subtree(&self, at: usize) -> std::ops::Range<usize> {
        at..self.after(at)
    }

    /// The parent of each node; the root is its own.
    pub fn parents(&self) -> Vec<u32> {
        let mut parents = vec![0; self.nodes.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, parent) in parents.iter_mut().enumerate() {
            while open.last().is_some_and(|last| self.after(*last) <= at) {
                open.pop();
            }
            *parent = open.last().map_or(0, |last| *last as u32);
            open.push(at);
        }
        parents
    }

    /// Whether the node has text of its own: a literal, a character or a token, not an empty inner node.
    pub fn is_leaf(&self, grammar: &Grammar, at: usize) -> bool {
        grammar.is_leaf(self.nodes[at].symbol)
    }

    /// The first node in the subtree that has bytes and no children.
    pub fn first_leaf(&self, at: usize) -> Option<usize> {
        self.subtree(at).find(|place| self.has_bytes(*place))
    }

    /// The last node in the subtree that has bytes and no children.
    pub fn last_leaf(&self, at: usize) -> Option<usize> {
        self.subtree(at).rev().find(|place| self.has_bytes(*place))
    }

    fn has_bytes(&self, at: usize) -> bool {
        self.nodes[at].size == 1 && self.nodes[at].end > self.nodes[at].start
    }

    /// The node that has this id, if it is still there.
    pub fn find(&self, id: NodeId) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// The id that the next new node gets: all ids in the tree are smaller.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// The subtree as a tree of its own. Ids are kept.
    pub fn fragment(&self, at: usize) -> Tree {
        let base = self.nodes[at].start;
        let moved = |node: &Node| Node { start: node.start - base, end: node.end - base, ..*node };
        let nodes = self.nodes[self.subtree(at)].iter().map(moved).collect();
        Tree { nodes, text: self.text_of(at).to_vec(), next_id: self.next_id }
    }

    /// Whether every node is a derivation step of the grammar and the root derives `symbol`. For tests and for trees that
    /// come from outside.
    pub fn is_derivation(&self, grammar: &Grammar, symbol: SymbolId) -> bool {
        let step = |at: usize| {
            let node = &self.nodes[at];
            let children: Vec<SymbolId> = self.children(at).map(|child| self.nodes[child].symbol).collect();
            if grammar.is_leaf(node.symbol) {
                return children.is_empty() && grammar.lexicon().is_match(node.symbol, self.lexeme(at));
            }
            match grammar.kind(node.symbol) {
                Kind::Choice(alternatives) => {
                    alternatives.get(node.alternative as usize).is_some_and(|parts| *parts == children)
                }
                Kind::Repeat { item, separator, min, max } => {
                    let items = if separator.is_some() { children.len().div_ceil(2) } else { children.len() } as u32;
                    let wanted = |place: usize| separator.filter(|_| place % 2 == 1).unwrap_or(*item);
                    (separator.is_none() || children.is_empty() || children.len() % 2 == 1)
                        && children.iter().enumerate().all(|(place, child)| *child == wanted(place))
                        && items >= *min
                        && max.is_none_or(|max| items <= max)
                }
                Kind::Literal(_) | Kind::Set(_) => false,
            }
        };
        self.nodes[0].symbol == symbol && (0..self.nodes.len()).all(step)
    }
}

/// The places of a node's children; see [`Tree::children`].
#[derive(Clone, Debug)]
pub struct Children<'a> {
    tree: &'a Tree,
    next: usize,
    end: usize,
}

impl Iterator for Children<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let at = (self.next < self.end).then_some(self.next)?;
        self.next = self.tree.after(at);
        Some(at)
    }
}

/// Builds a tree in preorder: open a node, add what is in it, close it.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
    text: Vec<u8>,
    open: Vec<usize>,
}

impl Builder {
    /// Begins an inner node.
    pub fn open(&mut self, symbol: SymbolId, alternative: u32) {
        self.open.push(self.nodes.len());
        self.push(symbol, alternative, 0);
    }

    /// Takes back the inner node that was begun last, in which there is nothing yet.
    pub(crate) fn take_back(&mut self) {
        self.open.pop();
        self.nodes.pop();
    }

    /// Ends the inner node that was begun last.
    pub fn close(&mut self) {
        if let Some(at) = self.open.pop() {
            self.nodes[at].size = (self.nodes.len() - at) as u32;
            self.nodes[at].end = self.text.len() as u32;
        }
    }

    /// Adds a leaf: what was skipped before it, and its own text.
    pub fn leaf(&mut self, symbol: SymbolId, trivia: &[u8], lexeme: &[u8]) {
        self.push(symbol, 0, trivia.len() as u32);
        self.text.extend_from_slice(trivia);
        self.text.extend_from_slice(lexeme);
        let end = self.text.len() as u32;
        if let Some(node) = self.nodes.last_mut() {
            node.end = end;
        }
    }

    /// Adds a whole tree as the next child, with its ids.
    pub fn graft(&mut self, fragment: &Tree) {
        let base = self.text.len() as u32;
        self.nodes.extend(fragment.nodes.iter().map(|n| Node { start: n.start + base, end: n.end + base, ..*n }));
        self.text.extend_from_slice(&fragment.text[..fragment.nodes[0].end as usize]);
    }

    fn push(&mut self, symbol: SymbolId, alternative: u32, trivia: u32) {
        let start = self.text.len() as u32;
        self.nodes.push(Node { symbol, alternative, size: 1, start, end: start, trivia, id: NodeId::NEW });
    }

    /// How many bytes of text there are so far.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// How many nodes there are so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The tree of a whole input: ids are given in preorder. `trailing` is what was skipped at the end.
    ///
    /// # Panics
    /// Never, if one root was opened and closed or one leaf added.
    pub fn finish(mut self, trailing: &[u8]) -> Tree {
        for (id, node) in self.nodes.iter_mut().enumerate() {
            node.id = NodeId(id as u32);
        }
        let next_id = self.nodes.len() as u32;
        self.text.extend_from_slice(trailing);
        Tree { nodes: self.nodes, text: self.text, next_id }
    }

    /// A fragment: new nodes stay without identity until an edit takes them into a tree.
    pub fn fragment(self) -> Tree {
        Tree { nodes: self.nodes, text: self.text, next_id: NodeId::NEW.0 }
    }
}
