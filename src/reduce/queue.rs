//! The queue: nodes from the longest down, each handled by what suits it, until all of a tree's nodes were handled.
//!
//! The longest come first because a success there saves the runs for all that is below. A node is *on the spine* if it
//! holds more than half of the nearest handled node above it: then it likely holds the core, and to replace or drop it as a
//! whole is not tried (the sweep does it, when it costs little).
//!
//! What it can never do: show that nothing is left; that is the sweep's.

use super::hoist::{self, Beliefs};
use super::list;
use super::schedule::Schedule;
use super::work::{Pass, Shape, Work};
use crate::search::Stop;

/// More than this part of the node above: on the spine.
const SPINE: f64 = 0.5;

pub(super) fn run(work: &mut Work<'_, '_>, schedule: &mut Schedule) -> Result<(), Stop> {
    loop {
        let version = work.version;
        for at in order(work) {
            if !schedule.done.contains(&work.tree.node(at).id) {
                work.keep(schedule);
                schedule.done.insert(work.tree.node(at).id);
                handle(work, &mut schedule.beliefs, at)?;
                if work.version != version {
                    break;
                }
                if work.is_weary() {
                    return Ok(());
                }
            }
        }
        if work.version == version {
            return Ok(());
        }
    }
}

/// What can be reduced, the longest first; what holds another before it.
fn order(work: &Work<'_, '_>) -> Vec<usize> {
    let length = |at: &usize| work.view.length(*at);
    let mut order: Vec<usize> =
        (0..work.tree.len()).filter(|at| length(at) > 0 && work.shape(*at) != Shape::Fixed).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(length(at)), *at));
    order
}

fn handle(work: &mut Work<'_, '_>, beliefs: &mut Beliefs, at: usize) -> Result<(), Stop> {
    let shape = work.shape(at);
    let spine = on_spine(work, at);
    match shape {
        Shape::List => return list::shorten(work, at, spine),
        Shape::Option if !spine => {
            let candidate = work.without(at, |_| true);
            work.attempt(Pass::Least, candidate)?;
            return Ok(());
        }
        Shape::Option | Shape::Fixed => return Ok(()),
        Shape::Rule | Shape::Token if work.view.length(at) <= 1 => return Ok(()),
        Shape::Rule | Shape::Token => {}
    }
    if !spine && let Some(fragment) = work.replacement(at) {
        if work.attempt(Pass::Least, work.put(at, &fragment))? {
            return Ok(());
        }
        if shape == Shape::Token {
            work.needed.insert(work.tree.node(at).id);
        }
    }
    if shape == Shape::Rule {
        hoist::hoist(work, beliefs, at)?;
    }
    Ok(())
}

/// All that holds the node and can be reduced comes before it, so the nearest such is the nearest that was handled.
fn on_spine(work: &Work<'_, '_>, at: usize) -> bool {
    let mut above = work.view.parent(at);
    while let Some(place) = above {
        if work.shape(place) != Shape::Fixed {
            return work.view.length(at) as f64 > SPINE * work.view.length(place) as f64;
        }
        above = work.view.parent(place);
    }
    true
}
