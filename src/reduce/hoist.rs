//! Hoisting: a part of a node takes the node's place, in its least context there.
//!
//! What fails is most often a small part of a large input, so one success can halve the tree or better. There are two ways
//! to choose the part. On *large* nodes a wrong guess costs little beside what a right one gains, and there are many parts: a
//! belief over the leaves says where the core may be, and the part with the greatest expected gain is tried. With even
//! belief that is a part of about half the size: a binary search along the path to the core. On *small* nodes the belief
//! would not pay for its runs: the three parts nearest to half the size are tried.
//!
//! Cost: at most six runs without success for a large node, three for a small one. What it can never do: keep two parts
//! that are apart from each other; that is left to lists and replacements.

use super::work::{Pass, Work};
use crate::search::Stop;
use crate::tree::NodeId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes longer than this part of the original text are large.
const LARGE: f64 = 0.02;
/// The belief, at first, that anything at all can be hoisted in a node's place.
const HOPE: f64 = 0.6;
/// Most runs for a large node.
const TRIES: usize = 6;
/// The search ends when the expected gain is a smaller part of the node than this.
const WORTH: f64 = 0.1;
/// What is left of a leaf's weight after a part that holds it did not fail.
const DOUBT: f64 = 0.1;
/// How many parts are tried for a small node.
const NEAREST: usize = 3;
/// They are at most this part of the node.
const NEAR: f64 = 0.9;

/// A part that can take a node's place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub at: usize,
    /// Its leaves, numbered in the whole tree.
    pub leaves: (usize, usize),
    /// Length of what would stand in the node's place.
    pub length: usize,
}

/// What was learned in this round.
#[derive(Clone, Default)]
pub(super) struct Beliefs {
    nodes: FxHashMap<NodeId, Belief>,
    /// Successes and the sum of what was expected, for the root and for the other nodes.
    record: [(f64, f64); 2],
}

/// What was learned of a text in the tree. Nodes with the same leaves, as in a chain of rules with one part each, share it:
/// what could not stand for one of them is not tried again for the next, in another context (the sweep does).
#[derive(Clone)]
struct Belief {
    hope: f64,
    /// Factors on leaves' weights.
    weights: FxHashMap<NodeId, f64>,
    /// Parts that were tried, by their first and last leaf.
    tried: FxHashSet<(NodeId, NodeId)>,
}

impl Default for Belief {
    fn default() -> Self {
        Belief { hope: HOPE, weights: FxHashMap::default(), tried: FxHashSet::default() }
    }
}

impl Beliefs {
    /// Forgets all but how well the expectations were met.
    pub(super) fn forget(&mut self) {
        self.nodes.clear();
    }
}

/// Tries to hoist something in a node's place. Whether something was.
pub(super) fn hoist(work: &mut Work<'_, '_>, beliefs: &mut Beliefs, at: usize) -> Result<bool, Stop> {
    let mut parts = parts(work, at);
    if parts.is_empty() {
        return Ok(false);
    }
    let belief = beliefs.nodes.entry(top_of_chain(work, at)).or_default();
    let record = &mut beliefs.record[usize::from(at > 0)];
    parts.retain(|part| !belief.tried.contains(&ends(work, part)));
    if work.view.length(at) as f64 <= LARGE * work.original as f64 {
        nearest(work, belief, at, parts)
    } else {
        search(work, belief, record, at, parts)
    }
}

/// The id of the topmost node with the same leaves.
fn top_of_chain(work: &Work<'_, '_>, at: usize) -> NodeId {
    let leaves = work.view.interval(&work.tree, at);
    let mut top = at;
    while let Some(above) = work.view.parent(top) {
        if work.view.interval(&work.tree, above) != leaves {
            break;
        }
        top = above;
    }
    work.tree.node(top).id
}

/// The first and the last leaf of a part.
fn ends(work: &Work<'_, '_>, part: &Part) -> (NodeId, NodeId) {
    let id = |leaf: Option<usize>| leaf.map_or(NodeId::NEW, |leaf| work.tree.node(leaf).id);
    (id(work.tree.first_leaf(part.at)), id(work.tree.last_leaf(part.at)))
}

fn nearest(work: &mut Work<'_, '_>, belief: &mut Belief, at: usize, mut parts: Vec<Part>) -> Result<bool, Stop> {
    let length = work.view.length(at) as f64;
    let share = |part: &Part| part.length as f64 / length;
    parts.retain(|part| share(part) <= NEAR);
    parts.sort_by(|a, b| (share(a) - 0.5).abs().total_cmp(&(share(b) - 0.5).abs()));
    for part in parts.into_iter().take(NEAREST.saturating_sub(belief.tried.len())) {
        belief.tried.insert(ends(work, &part));
        if try_part(work, at, part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn search(
    work: &mut Work<'_, '_>,
    belief: &mut Belief,
    record: &mut (f64, f64),
    at: usize,
    mut parts: Vec<Part>,
) -> Result<bool, Stop> {
    let (first, last) = work.view.interval(&work.tree, at);
    let leaves: Vec<(NodeId, f64)> = work
        .tree
        .subtree(at)
        .map(|place| work.tree.node(place))
        .filter(|node| node.size == 1 && node.end > node.start)
        .map(|node| (node.id, f64::from(node.end - node.start - node.trivia + 1)))
        .collect();
    debug_assert_eq!(leaves.len(), last - first);
    let length = work.view.length(at) as f64;
    for _ in belief.tried.len()..TRIES {
        let mut sums = Vec::with_capacity(leaves.len() + 1);
        sums.push(0.0);
        for (id, weight) in &leaves {
            let factor = belief.weights.get(id).copied().unwrap_or(1.0);
            sums.push(sums.last().copied().unwrap_or(0.0) + weight * factor);
        }
        let total = sums.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let share = |part: &Part| (sums[part.leaves.1 - first] - sums[part.leaves.0 - first]) / total;
        let calibration = (1.0 + record.0) / (1.0 + record.1);
        let mut best: Option<(f64, f64, usize)> = None;
        for (index, part) in parts.iter().enumerate() {
            let share = share(part);
            let gain = (length - part.length as f64) * share * belief.hope * calibration;
            if best.is_none_or(|(known, _, _)| gain > known) {
                best = Some((gain, share, index));
            }
        }
        let Some((_, share, index)) = best.filter(|(gain, _, _)| *gain >= WORTH * length) else { return Ok(false) };
        let part = parts.remove(index);
        belief.tried.insert(ends(work, &part));
        record.1 += belief.hope * share;
        if try_part(work, at, part)? {
            record.0 += 1.0;
            return Ok(true);
        }
        belief.hope = belief.hope * (1.0 - share) / (1.0 - belief.hope * share + 1e-9);
        for (id, _) in &leaves[part.leaves.0 - first..part.leaves.1 - first] {
            *belief.weights.entry(*id).or_insert(1.0) *= DOUBT;
        }
    }
    Ok(false)
}

fn try_part(work: &mut Work<'_, '_>, at: usize, part: Part) -> Result<bool, Stop> {
    match work.hoisted(at, part.at) {
        Some(candidate) => work.attempt(Pass::Hoist, candidate),
        None => Ok(false),
    }
}

/// The parts of a node that could take its place and make it shorter. Of several with the same leaves, as in a chain of
/// rules with one part each, the one that makes it shortest; inner before outer, from left to right.
///
/// A rule's parts are rules; a repetition's are repetitions of the same items and what can be its only item.
pub(super) fn parts(work: &mut Work<'_, '_>, at: usize) -> Vec<Part> {
    work.visit(work.tree.node(at).size as usize);
    let length = work.view.length(at);
    let outer = work.tree.node(at).symbol;
    let mut best: FxHashMap<(usize, usize), Part> = FxHashMap::default();
    for place in work.tree.subtree(at).skip(1) {
        let symbol = work.tree.node(place).symbol;
        let own = work.view.length(place);
        if own == 0 || own >= length {
            continue;
        }
        let rule = work.grammar.symbol(symbol).name.is_some() && !work.grammar.is_leaf(symbol);
        if symbol != outer && !rule {
            continue;
        }
        let around = if symbol == outer {
            0
        } else {
            match work.contexts.of(outer, symbol) {
                Some(context) => context.around(),
                None => continue,
            }
        };
        let leaves = work.view.interval(&work.tree, place);
        let part = Part { at: place, leaves, length: own + around };
        if part.length < length && best.get(&leaves).is_none_or(|known| part.length <= known.length) {
            best.insert(leaves, part);
        }
    }
    let mut parts: Vec<Part> = best.into_values().collect();
    parts.sort_by_key(|part| (part.leaves.1, std::cmp::Reverse(part.leaves.0)));
    parts
}
