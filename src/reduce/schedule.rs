//! The order of the passes, as a state: what is to be done next can be kept at any clean point, and gone on with from there.

use super::hoist::Beliefs;
use super::work::Work;
use super::{queue, space, sweep, tokens};
use crate::search::Stop;
use crate::tree::NodeId;
use rustc_hash::FxHashSet;

/// What is to be done next.
#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    Begin,
    Queue,
    Shorten,
    Simplify,
    Space,
    Sweep,
}

/// Where a reduction is.
#[derive(Clone, Default)]
pub(super) struct Schedule {
    stage: Stage,
    /// The version with which the round began.
    version: u64,
    pub beliefs: Beliefs,
    /// The nodes that the queue has handled in this round.
    pub done: FxHashSet<NodeId>,
    pub sweep: sweep::State,
}

/// Goes on until nothing is left to do; whether that is proven.
pub(super) fn run(work: &mut Work<'_, '_>, schedule: &mut Schedule) -> Result<bool, Stop> {
    loop {
        work.keep(schedule);
        schedule.stage = match schedule.stage {
            Stage::Begin => {
                space::everywhere(work)?;
                schedule.round(work)
            }
            Stage::Queue => {
                queue::run(work, schedule)?;
                Stage::Shorten
            }
            Stage::Shorten => {
                tokens::shorten(work)?;
                if work.version == schedule.version { Stage::Simplify } else { schedule.round(work) }
            }
            Stage::Simplify => {
                tokens::simplify(work)?;
                Stage::Space
            }
            Stage::Space => {
                space::by_region(work)?;
                schedule.sweep = sweep::State::default();
                work.rest();
                Stage::Sweep
            }
            Stage::Sweep => {
                let proven = sweep::run(work, schedule)?;
                if !schedule.sweep.changed {
                    return Ok(proven);
                }
                schedule.round(work)
            }
        };
    }
}

impl Schedule {
    fn round(&mut self, work: &mut Work<'_, '_>) -> Stage {
        self.version = work.version;
        self.beliefs.forget();
        self.done.clear();
        work.rest();
        Stage::Queue
    }
}
