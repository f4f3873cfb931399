//! Patterns: a failing input in which some parts may be anything.
//!
//! A pattern is a derivation tree with holes. It prints as text (`((<expr>))`), and saves as JSON with the grammar inside, so
//! that one file is enough to generate from it.

pub mod condition;
mod copy;
pub mod instances;
mod json;
pub mod notation;

pub use condition::Condition;
pub use copy::{Case, Copy};
pub use instances::Instances;
pub use json::PatternError;

use crate::generate::validity::Validity;
use crate::grammar::{Grammar, Kind, SymbolId};
use crate::layout::Layout;
use crate::tree::Tree;
use notation::Segment;
use std::collections::BTreeSet;
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
    /// Whether white space was varied, too, and made no difference. It is not printed as a hole.
    pub free_space: bool,
}

/// A part that may vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// Places of the nodes in the tree that it stands for; several only for [`Filling::Same`].
    pub members: Vec<usize>,
    /// How the text at each member follows from that of the hole, where it is not just the same. Empty: it is, at each.
    pub copies: Vec<Copy>,
    /// What may stand there.
    pub filling: Filling,
    /// What else must hold of it.
    pub condition: Option<Condition>,
    /// Whether most fillings are invalid, whatever was learned. Such a hole is part of the pattern, since no valid filling
    /// was met that does not fail; but generation leaves it as it is unless it is told otherwise.
    pub rarely_valid: bool,
    /// How often this hole, varied alone or with others, was part of a failing input.
    pub failed: u32,
    /// How often it was part of an unresolved input.
    pub unresolved: u32,
}

impl Hole {
    /// A hole without conditions.
    pub fn new(members: Vec<usize>, filling: Filling) -> Self {
        Hole { members, copies: Vec::new(), filling, condition: None, rarely_valid: false, failed: 0, unresolved: 0 }
    }

    /// How the text at a member follows from that of the hole.
    pub fn copy_at(&self, member: usize) -> Copy {
        let place = self.members.iter().position(|at| *at == member);
        place.and_then(|place| self.copies.get(place)).cloned().unwrap_or_default()
    }
}

/// What may stand in a hole.
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    /// Any string of the node's nonterminal.
    Any,
    /// Any string of the nonterminal, the same one at each member. The names that are drawn for it are other ones than those
    /// in the input.
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
                let copy = self.holes[hole].copy_at(at);
                let mut concrete = text.up_to(self.tree.text_of(at));
                concrete.extend_from_slice(&copy.before);
                push_text(&mut segments, concrete);
                let case = copy.case.label().map(|case| format!(": {case}")).unwrap_or_default();
                segments.push(Segment::Hole(self.label(hole) + &case));
                push_text(&mut segments, copy.after);
                at = self.tree.after(at);
                continue;
            }
            if self.tree.node(at).size == 1 {
                text.text(self.tree.text_of(at));
            }
            at += 1;
        }
        text.text(self.tree.trailing());
        push_text(&mut segments, text.finish());
        segments
    }

    /// The names of the rules that can stand in the holes, at any depth.
    pub fn symbols_in_holes(&self) -> BTreeSet<&str> {
        let mut open: Vec<SymbolId> =
            self.holes.iter().flat_map(|hole| &hole.members).map(|at| self.tree.node(*at).symbol).collect();
        let mut seen = vec![false; self.grammar.len()];
        let mut names = BTreeSet::new();
        while let Some(symbol) = open.pop() {
            if !std::mem::replace(&mut seen[symbol.index()], true) {
                names.extend(self.grammar.symbol(symbol).name.as_deref());
                open.extend(self.grammar.kind(symbol).parts());
            }
        }
        names
    }

    /// The pattern's text; see [`notation`].
    pub fn text(&self) -> Vec<u8> {
        notation::print(&self.segments())
    }

    /// What stands between `<` and `>` for a hole.
    pub fn label(&self, hole: usize) -> String {
        let name = self.hole_name(hole);
        let rarely = self.holes[hole].rarely_valid.then(|| "rarely valid".to_owned());
        let condition = self.condition_label(hole).into_iter().chain(rarely).collect::<Vec<_>>().join(", ");
        match &self.holes[hole].filling {
            Filling::OneOf(words) => {
                let symbol = self.tree.node(self.holes[hole].members[0]).symbol;
                let words: Vec<String> = words.iter().map(|word| notation::quoted(word.lexeme(0))).collect();
                match &self.grammar.symbol(symbol).name {
                    Some(name) => format!("{name}: {}", words.join(" | ")),
                    None => words.join(" | "),
                }
            }
            Filling::Any | Filling::Same if condition.is_empty() => name,
            Filling::Any | Filling::Same => format!("{name}: {condition}"),
        }
    }

    fn condition_label(&self, hole: usize) -> Option<String> {
        let symbol = self.tree.node(self.holes[hole].members[0]).symbol;
        let other = |place: usize| match self.hole_at(place) {
            Some(other) => self.hole_name(other),
            None => notation::quoted(self.tree.lexeme(place)),
        };
        self.holes[hole].condition.as_ref().map(|condition| condition.label(&self.grammar, symbol, other))
    }

    /// A hole's name without its conditions: the symbol's; numbered, where another part of the pattern speaks of it.
    fn hole_name(&self, hole: usize) -> String {
        let label = self.grammar.label(self.tree.node(self.holes[hole].members[0]).symbol);
        if !self.is_numbered(hole) {
            return label;
        }
        let before = (0..hole).filter(|hole| self.is_numbered(*hole)).count();
        format!("${label}{}", before + 1)
    }

    fn is_numbered(&self, hole: usize) -> bool {
        let Hole { members, filling, .. } = &self.holes[hole];
        let named = |other: &Hole| match &other.condition {
            Some(Condition::Differs(places)) => places.iter().any(|place| members.contains(place)),
            _ => false,
        };
        *filling == Filling::Same || self.holes.iter().any(named)
    }
}

fn push_text(segments: &mut Vec<Segment>, text: Vec<u8>) {
    if text.is_empty() {
        return;
    }
    match segments.last_mut() {
        Some(Segment::Text(before)) => before.extend(text),
        _ => segments.push(Segment::Text(text)),
    }
}

/// The place, at or below `at`, at which something is chosen: rules with a single alternative of a single symbol derive just
/// what that symbol derives.
pub(crate) fn core(grammar: &Grammar, tree: &Tree, at: usize) -> usize {
    let is_wrapper = |at: usize| {
        let symbol = tree.node(at).symbol;
        !grammar.is_leaf(symbol)
            && matches!(grammar.kind(symbol), Kind::Choice(alternatives)
                if alternatives.len() == 1 && alternatives[0].len() == 1)
    };
    let mut core = at;
    while is_wrapper(core) {
        core += 1;
    }
    core
}

/// The leaf that spells the whole of a node, if one does, and it is a token or a single character.
pub(crate) fn only_leaf(grammar: &Grammar, tree: &Tree, at: usize) -> Option<usize> {
    let leaf = tree.first_leaf(at)?;
    let token = !grammar.is_literal(tree.node(leaf).symbol);
    (token && tree.last_leaf(at) == Some(leaf)).then_some(leaf)
}
