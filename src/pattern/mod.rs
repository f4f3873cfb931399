//! Patterns: a failing input in which some parts may be anything.
//!
//! A pattern is a derivation tree with holes. It prints as text (`((<expr>))`), and saves as JSON with the grammar inside, so
//! that one file is enough to generate from it.

pub mod instances;
mod json;
pub mod notation;

pub use instances::Instances;
pub use json::PatternError;

use crate::generate::validity::Validity;
use crate::grammar::Grammar;
use crate::layout::Layout;
use crate::tree::Tree;
use notation::Segment;
use std::sync::Arc;

/// An abstract failure-inducing input.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The grammar whose derivation it is.
    pub grammar: Arc<Grammar>,
    /// The failing input that it was made from.
    pub tree: Tree,
    /// What may vary, in the order of the text.
    pub holes: Vec<Hole>,
    /// What supports the pattern as a whole.
    pub evidence: Evidence,
    /// Why concrete parts are concrete, topmost parts first.
    pub reasons: Vec<Reason>,
    /// Parts for which nothing could be found out: no valid replacement was met. They are printed as they are.
    pub undecided: Vec<usize>,
    /// What was learned about valid fillings; generation prefers them.
    pub validity: Validity,
}

/// A part that may vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// Places of the nodes in the tree that it stands for; several only for [`Filling::Same`].
    pub members: Vec<usize>,
    /// What may stand there.
    pub filling: Filling,
    /// How often this hole, varied alone or with others, was part of a failing input.
    pub failed: u32,
}

/// What may stand in a hole.
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    /// Any string of the node's nonterminal.
    Any,
    /// Any string of the nonterminal, the same one at each member, and different from all other names in the input.
    Same,
    /// One of these words.
    OneOf(Vec<Tree>),
}

/// What supports a pattern: distinct inputs in which all its holes were varied at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Evidence {
    /// Inputs that failed in the same way.
    pub failed: u32,
    /// Inputs that were processed without the failure. A printed pattern has none.
    pub passed: u32,
    /// Inputs that said nothing (invalid, timed out).
    pub unresolved: u32,
    /// Whether the pattern has so few distinct inputs that all that could be found were tried.
    pub exhausted: bool,
}

impl Evidence {
    /// Lower bound of the share of failing inputs among the valid ones, with 95 % confidence, for the generator that made
    /// them: n failures without a pass give 0.05^(1/n).
    pub fn bound(&self) -> f64 {
        if self.passed > 0 || self.failed == 0 { 0.0 } else { 0.05_f64.powf(1.0 / f64::from(self.failed)) }
    }

    /// Share of the inputs that were valid.
    pub fn valid(&self) -> f64 {
        let all = self.failed + self.passed + self.unresolved;
        if all == 0 { 0.0 } else { f64::from(self.failed + self.passed) / f64::from(all) }
    }
}

/// Why a part is concrete: with this text in its place the input does not fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Place of the node.
    pub at: usize,
    /// The shortest text met that, in its place, made the input pass.
    pub passes_with: Vec<u8>,
}

impl Pattern {
    /// The hole that the node at this place belongs to.
    pub fn hole_at(&self, at: usize) -> Option<usize> {
        self.holes.iter().position(|hole| hole.members.contains(&at))
    }

    /// The pattern piece by piece: concrete text, laid out as its readers see it, and holes.
    pub fn segments(&self) -> Vec<Segment> {
        let layout = Layout::of(&self.grammar);
        let mut segments = Vec::new();
        let mut text = layout.writer();
        let mut at = 0;
        while at < self.tree.len() {
            if let Some(hole) = self.hole_at(at) {
                let skipped = self.tree.text_of(at).len() - self.tree.lexeme(at).len();
                text.text(&self.tree.text_of(at)[..skipped]);
                let concrete = text.up_to(self.tree.text_of(at));
                segments.extend((!concrete.is_empty()).then_some(Segment::Text(concrete)));
                segments.push(Segment::Hole(self.hole_label(hole)));
                at = self.tree.after(at);
                continue;
            }
            if self.tree.node(at).size == 1 {
                text.text(self.tree.text_of(at));
            }
            at += 1;
        }
        text.text(self.tree.trailing());
        let concrete = text.finish();
        segments.extend((!concrete.is_empty()).then_some(Segment::Text(concrete)));
        segments
    }

    /// The pattern's text; see [`notation`].
    pub fn text(&self) -> Vec<u8> {
        notation::print(&self.segments())
    }

    fn hole_label(&self, hole: usize) -> String {
        let symbol = self.tree.node(self.holes[hole].members[0]).symbol;
        let label = self.grammar.label(symbol);
        match &self.holes[hole].filling {
            Filling::Any => label,
            Filling::Same => {
                let groups = self.holes[..hole].iter().filter(|hole| hole.filling == Filling::Same);
                format!("${label}{}", groups.count() + 1)
            }
            Filling::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| notation::quoted(word.lexeme(0))).collect();
                match &self.grammar.symbol(symbol).name {
                    Some(name) => format!("{name}: {}", words.join(" | ")),
                    None => words.join(" | "),
                }
            }
        }
    }
}
