//! What a run is doing, on standard error, while it does it.

use super::say;
use ddset::search::Event;
use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line on a terminal is renewed.
const RENEWED: Duration = Duration::from_millis(100);
/// How often there is a line elsewhere: after a gain, and without one.
const AFTER_GAIN: Duration = Duration::from_secs(2);
const AT_LEAST: Duration = Duration::from_secs(10);
/// The width of the curve, and of the line.
const CURVE: usize = 16;
const WIDTH: usize = 79;

/// A line that is renewed in place on a terminal; seldom a line elsewhere; nothing if it is to be quiet.
pub(crate) struct Progress {
    live: bool,
    quiet: bool,
    jobs: usize,
    state: RefCell<State>,
}

struct State {
    begin: Instant,
    /// When there last was a line.
    shown: Instant,
    gained: Instant,
    /// Whether there was a gain since.
    news: bool,
    /// Whether a line stands on the terminal.
    stands: bool,
    /// The size at the begin, and after each gain.
    sizes: Vec<usize>,
    replayed: u64,
}

impl Progress {
    pub(crate) fn new(input: usize, jobs: usize) -> Self {
        let begin = Instant::now();
        let state =
            State { begin, shown: begin, gained: begin, news: false, stands: false, sizes: vec![input], replayed: 0 };
        Progress { live: std::io::stderr().is_terminal(), quiet: super::is_quiet(), jobs, state: RefCell::new(state) }
    }

    pub(crate) fn show(&self, event: &Event<'_>) {
        let mut state = self.state.borrow_mut();
        match event {
            Event::Best { best, .. } => {
                state.sizes.push(best.len());
                (state.gained, state.news) = (Instant::now(), true);
            }
            Event::Run { phase, runs, replayed, hits, .. } => {
                state.replayed += u64::from(*replayed);
                let often = match (self.live, state.news) {
                    (true, _) => RENEWED,
                    (false, true) => AFTER_GAIN,
                    (false, false) => AT_LEAST,
                };
                if self.quiet || state.shown.elapsed() < often {
                    return;
                }
                (state.shown, state.news) = (Instant::now(), false);
                let line = state.line(phase, *runs, *hits, self.jobs);
                if self.live {
                    state.stands = true;
                    let line: String = line.chars().take(WIDTH).collect();
                    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
                } else {
                    say(&line);
                }
            }
            _ => {}
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if std::mem::take(&mut self.state.borrow_mut().stands) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl State {
    fn line(&self, phase: &str, runs: u64, hits: u64, jobs: usize) -> String {
        let size = self.sizes.last().copied().unwrap_or_default();
        let rate = (runs - self.replayed) as f64 / self.begin.elapsed().as_secs_f64().max(0.001);
        let jobs = if jobs > 1 { format!(", {jobs} jobs") } else { String::new() };
        format!(
            "{size} bytes {}  {phase}, {runs} runs, {rate:.0}/s, {hits} known, gain {} s ago{jobs}",
            curve(&self.sizes),
            self.gained.elapsed().as_secs()
        )
    }
}

/// The sizes as bars, each as high as its number has digits: a reduction goes by factors.
fn curve(sizes: &[usize]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let height = |size: usize| (size as f64 + 1.0).ln();
    let most = sizes.iter().map(|size| height(*size)).fold(f64::MIN_POSITIVE, f64::max);
    let shown = sizes.len().min(CURVE);
    (0..shown)
        .map(|column| sizes[(column + 1) * sizes.len() / shown - 1])
        .map(|size| BARS[((height(size) / most * 7.0).round() as usize).min(7)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls_from_the_first_size_to_the_last() {
        assert_eq!(curve(&[1000]), "█");
        assert_eq!(curve(&[1000, 100, 10, 0]), "█▆▃▁");
        let long: Vec<usize> = (0..100).rev().collect();
        let bars: Vec<char> = curve(&long).chars().collect();
        assert_eq!((bars.len(), bars.last()), (CURVE, Some(&'▁')));
        assert!(bars.is_sorted_by(|a, b| a >= b), "{bars:?}");
    }

    #[test]
    fn a_line_says_where_it_is() {
        let begin = Instant::now();
        let state =
            State { begin, shown: begin, gained: begin, news: false, stands: false, sizes: vec![900, 30], replayed: 2 };
        let line = state.line("sweep", 12, 3, 2);
        for part in ["30 bytes █▅", "sweep, 12 runs", "3 known", "gain 0 s ago", "2 jobs"] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}
