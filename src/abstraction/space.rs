//! White space: varied like everything else where the grammar says that it is free, and no hole in the pattern.

use super::Engine;
use crate::generate::stream;
use crate::grammar::{Grammar, Mark};
use crate::oracle::Outcome;
use crate::search::Stop;
use crate::tree::{Tree, spaced};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Runs that tell whether white space is free.
const RUNS: u64 = 3;

impl Engine<'_, '_> {
    /// Whether the input fails with other white space.
    pub(super) fn screen_space(&mut self) -> Result<(), Stop> {
        if !varies(self.grammar) {
            return Ok(());
        }
        self.free_space = true;
        for number in 0..RUNS {
            let mut rng = stream(self.options.seed, "white space", number);
            let text = respaced(self.grammar, &self.tree, &mut rng).text().to_vec();
            // A fail that was missed once is no reason.
            if self.outcome(&text, false)? != Outcome::Fail && self.outcome(&text, true)? != Outcome::Fail {
                self.free_space = false;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether white space may be varied: something may be skipped, and it is not what makes blocks.
fn varies(grammar: &Grammar) -> bool {
    grammar.lexicon().has_skip() && grammar.mark(Mark::Indent).is_none() && grammar.mark(Mark::Newline).is_none()
}

/// The tree with blanks or nothing between its leaves, as it happens.
pub(super) fn respaced(grammar: &Grammar, tree: &Tree, rng: &mut ChaCha8Rng) -> Tree {
    let chosen: Vec<bool> = (0..tree.len()).map(|_| rng.random_bool(0.3)).collect();
    spaced(grammar, tree, |at| {
        let own = &tree.text_of(at)[..tree.node(at).trivia as usize];
        match chosen[at] {
            true if own.is_empty() => Some(grammar.lexicon().separator_after(b"")),
            true => None,
            false => Some(own),
        }
    })
}
