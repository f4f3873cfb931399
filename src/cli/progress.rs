//! What a run is doing, on standard error, while it does it.

use ddset::search::Event;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line is renewed.
const EVERY: Duration = Duration::from_millis(100);

/// One line that is renewed in place on a terminal; nothing elsewhere.
pub(crate) struct Progress {
    live: bool,
    shown: Cell<Option<Instant>>,
    best: Cell<usize>,
}

impl Progress {
    pub(crate) fn new(input: usize) -> Self {
        Progress { live: std::io::stderr().is_terminal(), shown: Cell::new(None), best: Cell::new(input) }
    }

    pub(crate) fn show(&self, event: &Event<'_>) {
        match event {
            Event::Best { best, .. } => self.best.set(best.len()),
            Event::Run { phase, runs, .. } if self.live && self.is_due() => {
                self.shown.set(Some(Instant::now()));
                let _ = write!(std::io::stderr(), "\r\x1b[K{runs} runs, {} bytes, {phase}", self.best.get());
            }
            _ => {}
        }
    }

    fn is_due(&self) -> bool {
        self.shown.get().is_none_or(|shown| shown.elapsed() >= EVERY)
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if self.shown.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
