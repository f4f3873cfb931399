//! The sweep: every single edit of the tree, one by one, until a whole pass finds nothing. That pass is the proof that the
//! tree is 1-tree-minimal.
//!
//! A single edit is: an item or an option dropped; a rule, choice or token replaced by the least string of its symbol, by the
//! least seen in the input, or by the least strings of its two cheapest other alternatives; a part of a node (with text)
//! hoisted in its place, in its least context. Only what makes the text shorter is tried.
//!
//! Smallest gain first: the large gains were tried by the queue, and what is left over is mostly small. After a success the
//! pass goes on with what was not tried yet and does not begin again. Cost: one run for each edit of the result that was
//! not tried before; a handful for small results, some dozens for programs.
//! What it can never do: find two edits that only help together; prove a result that has more than a hundred thousand edits
//! or, by its depth, that many that are known already. Such a result is as small as any other, and said not to be proven.

use super::hoist;
use super::schedule::Schedule;
use super::work::{Pass, Shape, Work};
use crate::search::Stop;
use crate::tree::{NodeId, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Most edits that are listed at a time. Of a result that has more the sweep proves nothing.
const LIMIT: usize = 100_000;

/// A single edit.
enum Edit {
    Drop { list: usize, item: usize },
    Replace { at: usize, by: Rc<Tree> },
    Hoist { at: usize, part: usize },
}

/// Where a sweep is.
#[derive(Clone, Default)]
pub(super) struct State {
    tried: FxHashSet<(NodeId, NodeId, u32)>,
    /// Whether it made the tree smaller.
    pub changed: bool,
}

/// Sweeps until a pass finds nothing; whether that pass tried every edit.
pub(super) fn run(work: &mut Work<'_, '_>, schedule: &mut Schedule) -> Result<bool, Stop> {
    loop {
        work.keep(schedule);
        let (edits, complete) = edits(work, &schedule.sweep.tried);
        if !pass(work, edits, &mut schedule.sweep.tried)? {
            return Ok(complete && !work.is_weary());
        }
        schedule.sweep.changed = true;
    }
}

/// An edit, with whether it was tried before, the bytes that it saves, and what it is known by over edits.
type Listed = (bool, usize, (NodeId, NodeId, u32), Edit);

/// Tries edits until one succeeds. Those that are predicted not to succeed come last.
fn pass(
    work: &mut Work<'_, '_>,
    edits: Vec<Listed>,
    tried: &mut FxHashSet<(NodeId, NodeId, u32)>,
) -> Result<bool, Stop> {
    let mut unlikely = Vec::new();
    for listed in edits {
        if work.is_weary() {
            return Ok(false);
        }
        let Some(candidate) = apply(work, &listed.3) else { continue };
        if work.search.known(candidate.text()).is_none() && work.insufficient.predicts(&candidate, &work.tree) {
            unlikely.push(listed);
            continue;
        }
        tried.insert(listed.2);
        if work.attempt(Pass::Sweep, candidate)? {
            return Ok(true);
        }
    }
    for (_, _, key, edit) in unlikely {
        if work.is_weary() {
            return Ok(false);
        }
        let Some(candidate) = apply(work, &edit) else { continue };
        tried.insert(key);
        if work.attempt(Pass::Sweep, candidate)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn apply(work: &mut Work<'_, '_>, edit: &Edit) -> Option<Tree> {
    match edit {
        Edit::Drop { list, item } => {
            let id = work.tree.node(*item).id;
            Some(work.without(*list, |other| other == id))
        }
        Edit::Replace { at, by } => Some(work.put(*at, by)),
        Edit::Hoist { at, part } => work.hoisted(*at, *part),
    }
}

/// All single edits in the order in which to try them; and whether that are really all.
fn edits(work: &mut Work<'_, '_>, tried: &FxHashSet<(NodeId, NodeId, u32)>) -> (Vec<Listed>, bool) {
    let mut edits: Vec<Listed> = Vec::new();
    let mut add = |gain: usize, node: NodeId, other: NodeId, number: u32, edit: Edit| {
        let key = (node, other, number);
        edits.push((tried.contains(&key), gain, key, edit));
        edits.len() < LIMIT
    };
    let mut complete = true;
    let mut cache: FxHashMap<crate::grammar::SymbolId, Vec<Rc<Tree>>> = FxHashMap::default();
    'nodes: for at in 0..work.tree.len() {
        let (id, symbol) = (work.tree.node(at).id, work.tree.node(at).symbol);
        let length = work.view.length(at);
        let shape = work.shape(at);
        if length == 0 {
            continue;
        }
        if matches!(shape, Shape::List | Shape::Option) {
            let (items, min) = work.items(at);
            if items.len() > min {
                for item in items {
                    let edit = Edit::Drop { list: at, item };
                    if !add(work.view.length(item), work.tree.node(item).id, NodeId::NEW, 0, edit) {
                        complete = false;
                        break 'nodes;
                    }
                }
            }
        }
        if matches!(shape, Shape::Rule | Shape::Token) {
            let mut fragments = work.replacements.all(symbol, length);
            if shape == Shape::Rule {
                let others = cache
                    .entry(symbol)
                    .or_insert_with(|| work.replacements.others(symbol).iter().cloned().map(Rc::new).collect());
                fragments.extend(others.iter().filter(|tree| tree.text().len() < length).cloned());
            }
            for (number, by) in (1..).zip(fragments) {
                let gain = length - by.text().len();
                if !add(gain, id, NodeId::NEW, number, Edit::Replace { at, by }) {
                    complete = false;
                    break 'nodes;
                }
            }
        }
    }
    // Last, since a deep tree has more of these than can be listed.
    'hoists: for at in 0..work.tree.len() {
        if matches!(work.shape(at), Shape::Rule | Shape::List) {
            let (id, length) = (work.tree.node(at).id, work.view.length(at));
            for part in hoist::parts(work, at) {
                let other = work.tree.node(part.at).id;
                if !add(length - part.length, id, other, 0, Edit::Hoist { at, part: part.at }) {
                    complete = false;
                    break 'hoists;
                }
            }
        }
    }
    edits.sort_by_key(|(tried, gain, _, _)| (*tried, *gain));
    (edits, complete)
}
