//! Putting fragments in the place of nodes.

use super::{Node, NodeId, Tree};
use crate::grammar::{Grammar, Kind, Lexicon};

impl Tree {
    /// The tree with each of the given nodes replaced by a fragment of the same symbol. The places are of disjoint subtrees, in
    /// ascending order.
    ///
    /// A replaced node's leading white space stays before its replacement, and where two leaves that did not stand side by
    /// side would run together, a separator goes between them. All else is kept byte for byte. Costs one copy of the tree.
    #[must_use]
    pub fn replace(&self, lexicon: &Lexicon, edits: &[(usize, &Tree)]) -> Tree {
        let mut writer = Writer::new(lexicon, self.nodes.len(), self.text.len(), self.next_id);
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut next = edits.iter().peekable();
        let mut at = 0;
        while at < self.nodes.len() {
            writer.close_until(&mut ends, at);
            if let Some((_, fragment)) = next.next_if(|(place, _)| *place == at) {
                let first = self.first_leaf(at);
                let trivia = first.map(|leaf| &self.text_of(leaf)[..self.nodes[leaf].trivia as usize]);
                writer.graft(fragment, trivia);
                at = self.after(at);
                continue;
            }
            ends.push((self.after(at), writer.nodes.len()));
            writer.copy(self, at);
            at += 1;
        }
        writer.close_until(&mut ends, self.nodes.len());
        writer.finish(self.trailing())
    }

    /// The fragment for a repetition's node with only the items that `keep` names by their index; separators go with them.
    pub fn with_items(&self, grammar: &Grammar, at: usize, keep: impl Fn(usize) -> bool) -> Tree {
        let separated = matches!(grammar.kind(self.nodes[at].symbol), Kind::Repeat { separator: Some(_), .. });
        let step = if separated { 2 } else { 1 };
        let mut writer = Writer::new(grammar.lexicon(), self.nodes[at].size as usize, 0, self.next_id);
        writer.node(&self.nodes[at]);
        let children: Vec<usize> = self.children(at).collect();
        let mut kept = 0;
        for index in 0..children.len().div_ceil(step) {
            writer.seam = true;
            if keep(index) {
                if separated && kept > 0 {
                    writer.subtree(self, children[index * step - 1]);
                }
                writer.subtree(self, children[index * step]);
                kept += 1;
            }
        }
        writer.nodes[0].size = writer.nodes.len() as u32;
        writer.nodes[0].end = writer.text.len() as u32;
        writer.finish(&[])
    }

    /// The tree with the least white space: none where the leaves stay apart without it.
    #[must_use]
    pub fn tight(&self, grammar: &Grammar) -> Tree {
        spaced(grammar, self, |_| None)
    }
}

/// The tree with other white space: `trivia` gives, for the place of each leaf, what is to stand before it, `None` for as
/// little as possible. Nothing stands at the end. Leaves before which nothing may be skipped are kept as they are.
pub fn spaced<'a>(grammar: &Grammar, tree: &Tree, trivia: impl Fn(usize) -> Option<&'a [u8]>) -> Tree {
    let lexicon = grammar.lexicon();
    let mut writer = Writer::new(lexicon, tree.nodes.len(), tree.text.len(), tree.next_id);
    writer.preorder(tree, 0, |writer, at| {
        if tree.has_bytes(at) && lexicon.has_skip() {
            writer.seam = true;
            writer.leaf(&tree.nodes[at], trivia(at).unwrap_or_default(), tree.lexeme(at));
        } else {
            writer.copy(tree, at);
        }
    });
    writer.finish(&[])
}

/// Writes a tree in preorder from parts of others.
struct Writer<'a> {
    lexicon: &'a Lexicon,
    nodes: Vec<Node>,
    text: Vec<u8>,
    next_id: u32,
    /// Where the text of the last leaf begins, without what was skipped before it.
    last: usize,
    /// Whether the next leaf did not follow the last one before.
    seam: bool,
}

impl<'a> Writer<'a> {
    fn new(lexicon: &'a Lexicon, nodes: usize, text: usize, next_id: u32) -> Self {
        Writer {
            lexicon,
            nodes: Vec::with_capacity(nodes),
            text: Vec::with_capacity(text),
            next_id,
            last: 0,
            seam: false,
        }
    }

    fn close_until(&mut self, ends: &mut Vec<(usize, usize)>, at: usize) {
        while let Some((_, node)) = ends.pop_if(|(end, _)| *end <= at) {
            self.nodes[node].size = (self.nodes.len() - node) as u32;
            self.nodes[node].end = self.text.len() as u32;
        }
    }

    /// Copies one node, a leaf with its text.
    fn copy(&mut self, tree: &Tree, at: usize) {
        let node = &tree.nodes[at];
        if tree.has_bytes(at) {
            let text = tree.text_of(at);
            self.leaf(node, &text[..node.trivia as usize], &text[node.trivia as usize..]);
        } else {
            self.node(node);
        }
    }

    /// Copies a fragment; `trivia` goes before its first leaf.
    fn graft(&mut self, fragment: &Tree, trivia: Option<&[u8]>) {
        // A fragment that was edited after it was taken from a tree has ids that the tree has not given yet.
        if self.next_id != NodeId::NEW.0 && fragment.next_id != NodeId::NEW.0 {
            self.next_id = self.next_id.max(fragment.next_id);
        }
        let first = fragment.first_leaf(0);
        self.seam = true;
        self.preorder(fragment, 0, |writer, at| {
            if Some(at) == first {
                writer.leaf(&fragment.nodes[at], trivia.unwrap_or_default(), fragment.lexeme(at));
            } else {
                writer.copy(fragment, at);
            }
        });
        self.seam = true;
    }

    fn subtree(&mut self, tree: &Tree, at: usize) {
        self.preorder(tree, at, |writer, at| writer.copy(tree, at));
    }

    fn preorder(&mut self, tree: &Tree, root: usize, mut write: impl FnMut(&mut Self, usize)) {
        let mut ends = Vec::new();
        for at in tree.subtree(root) {
            self.close_until(&mut ends, at);
            ends.push((tree.after(at), self.nodes.len()));
            write(self, at);
        }
        self.close_until(&mut ends, tree.after(root));
    }

    fn node(&mut self, node: &Node) {
        let start = self.text.len() as u32;
        let mut id = node.id;
        if id == NodeId::NEW && self.next_id != NodeId::NEW.0 {
            id = NodeId(self.next_id);
            self.next_id += 1;
        }
        self.nodes.push(Node { size: 1, start, end: start, trivia: 0, id, ..*node });
    }

    fn leaf(&mut self, node: &Node, trivia: &[u8], lexeme: &[u8]) {
        let immediate = self.lexicon.is_immediate(node.symbol);
        let trivia = if immediate { &[] } else { trivia };
        let apart = !self.seam
            || !trivia.is_empty()
            || immediate
            || !self.lexicon.run_together(&self.text[self.last..], lexeme);
        let trivia = if apart { trivia } else { self.lexicon.separator_after(&self.text[self.last..]) };
        self.node(node);
        self.text.extend_from_slice(trivia);
        self.last = self.text.len();
        self.text.extend_from_slice(lexeme);
        self.seam = false;
        let end = self.text.len() as u32;
        if let Some(written) = self.nodes.last_mut() {
            written.trivia = trivia.len() as u32;
            written.end = end;
        }
    }

    fn finish(mut self, trailing: &[u8]) -> Tree {
        self.text.extend_from_slice(trailing);
        Tree { nodes: self.nodes, text: self.text, next_id: self.next_id }
    }
}
