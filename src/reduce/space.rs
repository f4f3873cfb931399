//! White space and comments: as little as possible.
//!
//! The grammar says that what is skipped has no meaning, and mostly it is right: then one run rids the whole input of it. Where
//! it is wrong (a line break that counts, a comment that is a directive), white space is kept, and when the tree is small it
//! is tried again by halves of the leaves: about twice as many runs as there are leaves before which it must stay.
//! What it can never do: change white space inside of a leaf, or in a grammar that skips nothing.

use super::work::{Pass, Work};
use crate::search::Stop;
use crate::tree::spaced;
use std::ops::Range;

/// Tries the tight tree.
pub(super) fn everywhere(work: &mut Work<'_, '_>) -> Result<bool, Stop> {
    if !work.grammar.lexicon().has_skip() {
        return Ok(false);
    }
    work.attempt(Pass::Space, work.tree.tight(work.grammar))
}

/// Tries the tight tree, and where that does not fail, ever smaller regions.
pub(super) fn by_region(work: &mut Work<'_, '_>) -> Result<(), Stop> {
    if !work.grammar.lexicon().has_skip() || everywhere(work)? {
        return Ok(());
    }
    // A leaf's number stays, whatever stands before it.
    let loose: Vec<usize> =
        (0..work.tree.len()).filter(|at| work.tree.node(*at).size == 1 && work.tree.node(*at).trivia > 0).collect();
    // Beside what stands before leaves there is what stands at the end: it goes with any region, an empty one too.
    let mut open: Vec<Range<usize>> = std::iter::once(0..loose.len()).collect();
    while let Some(region) = open.pop() {
        let candidate = {
            let tree = &work.tree;
            let chosen = &loose[region.clone()];
            spaced(work.grammar, tree, |at| {
                (!chosen.contains(&at)).then(|| &tree.text_of(at)[..tree.node(at).trivia as usize])
            })
        };
        if !work.attempt(Pass::Space, candidate)? && region.len() > 1 {
            let pieces: Vec<_> = halves(region).collect();
            open.extend(pieces.into_iter().rev());
        }
    }
    Ok(())
}

fn halves(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let middle = range.start + range.len() / 2;
    [range.start..middle, middle..range.end].into_iter().filter(|half| !half.is_empty())
}
