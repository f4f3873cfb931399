//! Failures that come and go: how often they come, and a vote of several runs instead of one.
//!
//! The vote is Wald's sequential test (1945): each run moves a sum of logarithms of likelihoods towards "as often as the original"
//! or towards "hardly ever", until one of them is reached. A run that fails counts much, so that a failure is found soon; that it
//! is absent takes more runs, the more the seldomer it is.

use std::str::FromStr;
use std::time::{Duration, Instant};

use super::{Oracle, OracleError, Outcome, Run};

/// How often a vote may err, each way, if the failure comes as often as was measured.
pub const ERROR: f64 = 0.001;

/// How many runs a vote may take. A failure so seldom that it takes more is too seldom.
pub const MOST_RUNS: u32 = 200;

/// The rate that counts as "hardly ever", as a part of the original's.
const HARDLY: f64 = 0.05;

/// Runs of the original: first, if none of those fails, and if they disagree. A failure that comes in 30 % of the runs comes in three
/// runs of three once in 37 times, and in five of five once in 400.
const LOOKS: [u32; 3] = [5, 20, 100];

/// How long an input is run again that has not failed yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often an input was seen to fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Runs that failed.
    pub failed: u32,
    /// All runs.
    pub of: u32,
}

impl Rate {
    /// Runs the input five times; if it never fails, twenty times; if the runs disagree, a hundred times.
    ///
    /// # Errors
    /// When the oracle cannot be run.
    pub fn of(oracle: &dyn Oracle, input: &[u8]) -> Result<Rate, OracleError> {
        Self::default().continued(oracle, input)
    }

    /// The same, for what has been run already.
    ///
    /// # Errors
    /// When the oracle cannot be run.
    pub fn continued(mut self, oracle: &dyn Oracle, input: &[u8]) -> Result<Rate, OracleError> {
        let started = Instant::now();
        for looks in LOOKS {
            // One that never fails is not looked at for long if its runs are.
            while self.of < looks && (self.failed > 0 || self.of < LOOKS[0] || started.elapsed() < PATIENCE) {
                self.failed += u32::from(oracle.run(input)?.outcome == Outcome::Fail);
                self.of += 1;
            }
            if self.of > 0 && self.failed == self.of {
                break;
            }
            if self.failed == 0 && self.of >= LOOKS[1] {
                break;
            }
        }
        Ok(self)
    }

    /// Whether all runs agreed.
    pub fn is_steady(&self) -> bool {
        self.failed == 0 || self.failed == self.of
    }

    /// The least rate that these runs allow for, with 97.5 % confidence (Wilson's bound, 1927).
    pub fn bound(&self) -> f64 {
        if self.failed == 0 {
            return 0.0;
        }
        let (n, p, z) = (f64::from(self.of), f64::from(self.failed) / f64::from(self.of), 1.96);
        let middle = p + z * z / (2.0 * n);
        let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (middle - spread) / (1.0 + z * z / n)
    }

    /// The vote that tells inputs that fail as often from others. `None` if it would take too many runs.
    pub fn need(&self) -> Option<Need> {
        let need = Need::Rate(self.bound());
        (self.bound() > 0.0 && need.runs_to_pass() <= MOST_RUNS).then_some(need)
    }
}

/// What it takes that an input counts as failing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// So many runs of so many.
    Runs(u32, u32),
    /// As many as a failure of this rate has, by the sequential test.
    Rate(f64),
}

impl Need {
    /// What has to be reached for a failure, what a run that fails adds, and what another takes away from a sum that ends at the
    /// negative.
    fn weights(rate: f64) -> (f64, f64, f64) {
        // A rate of 1 would make one pass decide all.
        let (rate, hardly) = (rate.min(0.99), rate * HARDLY);
        (((1.0 - ERROR) / ERROR).ln(), (rate / hardly).ln(), ((1.0 - hardly) / (1.0 - rate)).ln())
    }

    /// How many runs it takes to find that an input never fails.
    pub fn runs_to_pass(&self) -> u32 {
        match *self {
            Need::Runs(failed, of) => of - failed + 1,
            Need::Rate(rate) => {
                let (goal, _, pass) = Self::weights(rate);
                (goal / pass).ceil() as u32
            }
        }
    }

    /// Whether it fails, if that is decided by `failed` runs of `of`.
    fn verdict(&self, failed: u32, of: u32) -> Option<bool> {
        match *self {
            Need::Runs(need, _) if failed >= need => Some(true),
            Need::Runs(need, all) => (failed + (all - of) < need).then_some(false),
            Need::Rate(rate) => {
                let (goal, fail, pass) = Self::weights(rate);
                let sum = f64::from(failed) * fail - f64::from(of - failed) * pass;
                match sum {
                    sum if sum >= goal => Some(true),
                    sum if sum <= -goal => Some(false),
                    // Between the two rates it may never end.
                    _ => (of >= 2 * MOST_RUNS).then_some(sum > 0.0),
                }
            }
        }
    }
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(need, of)| Some((need.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((need, of)) if need >= 1 && need <= of && of <= 1000 => Ok(Need::Runs(need, of)),
            _ => Err("write, for instance, 3/10: an input fails if 3 of 10 runs do".to_owned()),
        }
    }
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Need::Runs(need, of) => write!(f, "an input fails if {need} of {of} runs do"),
            Need::Rate(rate) => write!(
                f,
                "an input fails if its runs fail as often, by votes of up to about {} runs; one vote in {} errs if it \
                 fails in {:.0} % of the runs",
                self.runs_to_pass(),
                (1.0 / ERROR).round(),
                100.0 * rate
            ),
        }
    }
}

/// An oracle that asks another one several times. Without a need it asks once.
#[derive(Debug)]
pub struct Voting<O> {
    /// The oracle that is asked.
    pub oracle: O,
    /// What it takes.
    pub need: Option<Need>,
}

impl<O: Oracle> Oracle for Voting<O> {
    fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
        let Some(need) = self.need else { return self.oracle.run(input) };
        let (mut failed, mut of) = (0, 0);
        let mut last: [Option<Run>; 3] = [None, None, None];
        loop {
            let run = self.oracle.run(input)?;
            of += 1;
            failed += u32::from(run.outcome == Outcome::Fail);
            let place = match run.outcome {
                Outcome::Fail => 0,
                Outcome::Pass => 1,
                Outcome::Unresolved => 2,
            };
            last[place] = Some(run);
            let Some(fails) = need.verdict(failed, of) else { continue };
            let [fail, pass, unresolved] = last;
            // A single pass shows that the input is valid.
            let (outcome, run) = match (fails, pass, unresolved) {
                (true, ..) => (Outcome::Fail, fail),
                (false, Some(pass), _) => (Outcome::Pass, Some(pass)),
                (false, None, Some(unresolved)) => (Outcome::Unresolved, Some(unresolved)),
                (false, None, None) => (Outcome::Pass, fail),
            };
            let told = run.as_ref().map_or("", |run| &run.reason);
            let reason = format!("{told}; {failed} of {of} runs failed");
            let other = run.as_ref().and_then(|run| run.other.clone()).filter(|_| outcome != Outcome::Fail);
            return Ok(Run { outcome, reason, other, process: run.and_then(|run| run.process) });
        }
    }

    /// That of the oracle inside, and the need if a user said it. A measured rate is a little different each time.
    fn identity(&self) -> String {
        match self.need {
            Some(Need::Runs(need, of)) => format!("{} {need}/{of}", self.oracle.identity()),
            _ => self.oracle.identity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Fails on `x` in so many of a hundred runs.
    fn flaky(percent: u32, seed: u64) -> impl Fn(&[u8]) -> Outcome + Send + Sync {
        let random = Mutex::new(ChaCha8Rng::seed_from_u64(seed));
        move |input: &[u8]| {
            let lucky = random.lock().unwrap().random_range(0..100) < percent;
            if input.contains(&b'x') && lucky { Outcome::Fail } else { Outcome::Pass }
        }
    }

    #[test]
    fn votes_are_right() {
        for percent in [10, 30, 60, 95] {
            let mut wrong = 0;
            for seed in 0..50 {
                let oracle = flaky(percent, seed);
                let rate = Rate { failed: percent, of: 100 };
                let voting = Voting { oracle, need: rate.need() };
                wrong += u32::from(voting.run(b"x").unwrap().outcome != Outcome::Fail);
                wrong += u32::from(voting.run(b"y").unwrap().outcome != Outcome::Pass);
            }
            assert!(wrong <= 1, "{wrong} of 100 votes at {percent} %");
        }
    }

    #[test]
    fn the_rate_is_measured() {
        let steady = Rate::of(&flaky(100, 1), b"x").unwrap();
        assert_eq!((steady, steady.is_steady()), (Rate { failed: 5, of: 5 }, true));
        let rate = Rate::of(&flaky(30, 3), b"x").unwrap();
        assert_eq!(rate.of, 100);
        assert!((18..42).contains(&rate.failed) && rate.bound() < 0.3, "{rate:?}");
        assert!(Rate { failed: 1, of: 100 }.need().is_none());
        assert_eq!(Rate::default().bound(), 0.0);
    }

    #[test]
    fn a_need_ends_as_soon_as_it_is_decided() {
        let need: Need = "3/10".parse().unwrap();
        assert_eq!(need.verdict(3, 3), Some(true));
        assert_eq!([need.verdict(0, 8), need.verdict(0, 7)], [Some(false), None]);
        assert_eq!(need.runs_to_pass(), 8);
        assert!(["0/3", "4/3", "3", "a/b"].iter().all(|text| text.parse::<Need>().is_err()));
    }
}
