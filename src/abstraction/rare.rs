//! Parts for which valid fillings are rare: they are abstract if those that were met all fail, and that is said with the share
//! that was valid.

use super::{Counts, Engine};
use crate::oracle::Outcome;
use crate::pattern::Filling;
use crate::search::Stop;

/// Runs for one part.
const TRIES: u32 = 110;
/// Runs without a valid filling after which a part stays undecided.
const HOPELESS: u32 = 30;
/// Valid fillings that must fail.
const WANTED: u32 = 5;

impl Engine<'_, '_> {
    /// Looks again at what is undecided, from the top, with even choices: what was learned of validity would only lead back to
    /// the few valid fillings that are known. At most half again as many runs as the proof asks for failing inputs.
    pub(super) fn screen_rare(&mut self) -> Result<(), Stop> {
        // Where no run at all was valid, as when all variants hang, there is little hope, and each run may take its full time.
        let valid = self.asked > self.invalid;
        let mut left = if valid { self.options.confidence.saturating_mul(3) / 2 } else { HOPELESS / 2 };
        // Those that have failed once are the likelier ones.
        let failed = |at: &usize| self.counts.get(at).is_some_and(|counts| counts.failed > 0);
        let mut undecided = self.undecided.clone();
        undecided.sort_by_key(|at| (!failed(at), *at));
        undecided.dedup();
        for at in undecided {
            let Some(candidate) = self.candidate(at) else { continue };
            let holds_hole = self.holes.iter().flat_map(|hole| &hole.members).any(|member| self.is_inside(*member, at));
            if self.dead.contains(&at) || self.is_taken(at) || holds_hole {
                continue;
            }
            let mut counts = self.counts.get(&at).copied().unwrap_or_default();
            let before = counts.failed + counts.unresolved;
            while counts.failed < WANTED && left > 0 {
                let spent = counts.failed + counts.unresolved;
                if spent - before >= TRIES || counts.failed == 0 && spent >= HOPELESS {
                    break;
                }
                let Some(filling) = self.plain_filling(candidate) else { break };
                left -= 1;
                let text = filling.lexeme(0).to_vec();
                match self.ask_at(at, filling)? {
                    Outcome::Fail => counts.failed += 1,
                    Outcome::Unresolved => counts.unresolved += 1,
                    Outcome::Pass => {
                        self.kill(at, &text);
                        break;
                    }
                }
                self.counts.insert(at, counts);
            }
            if counts.failed >= WANTED && !self.dead.contains(&at) {
                self.open_rare_hole(at, counts);
            }
        }
        Ok(())
    }

    fn open_rare_hole(&mut self, at: usize, counts: Counts) {
        self.open_hole(at, Filling::Any);
        let alone = self.holes.len() == 1;
        if let Some(hole) = self.holes.last_mut() {
            (hole.rarely_valid, hole.failed, hole.unresolved) = (true, counts.failed, counts.unresolved);
        }
        if alone {
            self.evidence.failed = counts.failed;
            self.evidence.unresolved = counts.unresolved;
        }
    }
}
