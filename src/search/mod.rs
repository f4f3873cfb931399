//! What stands between an oracle and the algorithms that ask it: no input is run twice without need, each run is counted, and the
//! search ends when it is told to.
//!
//! With several jobs, what will likely be asked next is run ahead (`ahead`, `pool`). A run counts, is recorded, and has its effect
//! when it is asked for and in that order, so results and figures are the same for any number of jobs.
//!
//! It knows bytes only: no grammar, no tree.

mod ahead;
mod pool;

use std::cell::RefCell;
use std::fmt;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::oracle::{Oracle, OracleError, Outcome, Run};
pub(crate) use ahead::{Ahead, Lent, Mark};
use ahead::{Foresight, Scout};
use pool::{LAST_WORDS, Pool, Task};

/// The phase that runs count for until [`Search::enter`] names one.
const FIRST_PHASE: &str = "search";

/// An input's content, as a short key: its BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of an input.
    pub fn of(input: &[u8]) -> Self {
        Self(*blake3::hash(input).as_bytes())
    }

    /// Reads what [`Display`](fmt::Display) writes: 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// Outcomes that outlive the process, so that a search that was interrupted goes on where it was.
///
/// `ordinal` counts the runs of one input from 0. With it, an oracle that wavers replays as it was.
pub trait Memory {
    /// The outcome of that run, if it was recorded.
    fn lookup(&self, key: &Key, ordinal: u32) -> Option<Outcome>;

    /// Records a run: of an input of `len` bytes, in `phase`, which took `micros` microseconds.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn record(
        &mut self,
        key: &Key,
        ordinal: u32,
        outcome: Outcome,
        phase: &str,
        len: usize,
        micros: u64,
    ) -> std::io::Result<()>;
}

/// Why a search ends early. What was found so far holds.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The stop flag was set.
    #[error("interrupted")]
    Interrupted,
    /// A limit was met; says which.
    #[error("{0}")]
    Budget(String),
    /// The oracle could not be asked.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A run could not be recorded, so that a search that goes on could not be resumed.
    #[error("the outcome of a run cannot be kept: {0}")]
    Memory(#[source] std::io::Error),
}

/// How much a search may cost. The default is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// The number of runs. Those that are served from memory do not count: a resumed search may do as many again.
    pub max_runs: Option<u64>,
    /// The moment after which no run is started.
    pub deadline: Option<Instant>,
}

/// How many runs had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Runs that were [`Outcome::Fail`].
    pub fail: u64,
    /// Runs that were [`Outcome::Pass`].
    pub pass: u64,
    /// Runs that were [`Outcome::Unresolved`].
    pub unresolved: u64,
}

impl Counts {
    /// All runs.
    pub fn total(&self) -> u64 {
        self.fail + self.pass + self.unresolved
    }

    /// Counts one more.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Fail => self.fail += 1,
            Outcome::Pass => self.pass += 1,
            Outcome::Unresolved => self.unresolved += 1,
        }
    }
}

/// What an observer is told.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A phase begins.
    Phase {
        /// Its name.
        phase: &'static str,
    },
    /// A run has ended.
    Run {
        /// The phase it belongs to.
        phase: &'static str,
        /// The number of runs so far, this one included.
        runs: u64,
        /// Its outcome.
        outcome: Outcome,
        /// The input's length in bytes.
        len: usize,
        /// Whether it was served from memory.
        replayed: bool,
        /// How long it took.
        elapsed: Duration,
        /// How often a test was answered by what was known already.
        hits: u64,
    },
    /// A smaller failing input is known.
    Best {
        /// The input.
        best: &'e [u8],
        /// The number of runs so far.
        runs: u64,
    },
    /// An input fails in another way.
    Other {
        /// Which failure it is, in a line.
        failure: &'e str,
        /// The input.
        input: &'e [u8],
    },
    /// Two runs of one input did not agree on whether it fails.
    Contradiction {
        /// The number of contradictions so far.
        contradictions: u64,
    },
}

/// An oracle with a memory, counters and limits.
///
/// ```
/// use ddset::{oracle::Outcome, search::Search};
/// let oracle = |input: &[u8]| if input.contains(&b'x') { Outcome::Fail } else { Outcome::Pass };
/// let mut search = Search::new(&oracle);
/// assert_eq!(search.test(b"axb")?, Outcome::Fail);
/// assert_eq!(search.test(b"axb")?, Outcome::Fail);
/// assert_eq!(search.runs(), 1);
/// # Ok::<(), ddset::search::Stop>(())
/// ```
pub struct Search<'a> {
    oracle: &'a dyn Oracle,
    memory: Rc<RefCell<Option<Box<dyn Memory + 'a>>>>,
    observer: Option<Observer<'a>>,
    stop: Option<Arc<AtomicBool>>,
    budget: Budget,
    known: Rc<RefCell<FxHashMap<Key, Known>>>,
    phase: &'static str,
    phases: IndexMap<&'static str, Counts>,
    runs: u64,
    replayed: u64,
    hits: u64,
    /// How many last words were said.
    confirmed: u32,
    contradictions: u64,
    pool: Option<Rc<Pool>>,
    foresight: Rc<RefCell<Foresight>>,
    scout: Option<Scout>,
    begin: Instant,
}

type Observer<'a> = Box<dyn FnMut(&Event<'_>) + 'a>;

/// What is known of one input: its runs in their order.
#[derive(Default)]
struct Known(Vec<Told>);

#[derive(Clone, Copy)]
struct Told {
    /// How many runs there were before, of any input.
    before: u64,
    outcome: Outcome,
    /// Whether it has a number. Runs that are never replayed have none.
    counted: bool,
}

impl Known {
    fn add(&mut self, before: u64, outcome: Outcome, counted: bool) {
        self.0.push(Told { before, outcome, counted });
    }

    /// What was known after so many runs of any input, and the number of the next run of this one.
    fn after(&self, runs: u64) -> Option<(Outcome, u32)> {
        let told = || self.0.iter().take_while(|told| told.before < runs);
        let outcome = told().map(|told| told.outcome).max_by_key(|outcome| tells(*outcome))?;
        Some((outcome, told().filter(|told| told.counted).count() as u32))
    }

    fn until(&self, runs: u64) -> Known {
        Known(self.0.iter().take_while(|told| told.before < runs).copied().collect())
    }

    /// The outcome of the run with that number.
    fn nth(&self, ordinal: u32) -> Option<Outcome> {
        self.0.iter().filter(|told| told.counted).nth(ordinal as usize).map(|told| told.outcome)
    }
}

impl<'a> Search<'a> {
    /// A search without memory, limits or observer, that does one run at a time.
    pub fn new(oracle: &'a dyn Oracle) -> Self {
        Self {
            oracle,
            memory: Rc::default(),
            observer: None,
            stop: None,
            budget: Budget::default(),
            known: Rc::default(),
            phase: FIRST_PHASE,
            phases: IndexMap::new(),
            runs: 0,
            replayed: 0,
            hits: 0,
            confirmed: 0,
            contradictions: 0,
            pool: None,
            foresight: Rc::default(),
            scout: None,
            begin: Instant::now(),
        }
    }

    /// Does so many runs at a time, on threads of the scope: what is asked for, and what will likely be asked next. What is found,
    /// counted and recorded is the same for any number. The threads end with the search, after the runs that they are at.
    ///
    /// ```
    /// use ddset::{oracle::Outcome, search::Search};
    /// let oracle = |input: &[u8]| if input.contains(&b'x') { Outcome::Fail } else { Outcome::Pass };
    /// std::thread::scope(|scope| {
    ///     let mut search = Search::new(&oracle).with_jobs(scope, 2);
    ///     assert_eq!(search.test(b"axb")?, Outcome::Fail);
    ///     Ok::<(), ddset::search::Stop>(())
    /// })?;
    /// # Ok::<(), ddset::search::Stop>(())
    /// ```
    #[must_use]
    pub fn with_jobs<'scope>(mut self, scope: &'scope std::thread::Scope<'scope, '_>, jobs: usize) -> Self
    where
        'a: 'scope,
    {
        self.pool = (jobs > 1).then(|| Rc::new(Pool::start(scope, self.oracle, jobs)));
        self
    }

    /// Replays runs from the memory, and records new ones there.
    #[must_use]
    pub fn with_memory(mut self, memory: Box<dyn Memory + 'a>) -> Self {
        self.memory = Rc::new(RefCell::new(Some(memory)));
        self
    }

    /// Ends the search when the flag is set: before the next run, or with the run in flight if the oracle heeds it too.
    #[must_use]
    pub fn with_stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Ends the search when the budget is used up.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Tells what happens. The observer must not be slow: the search waits for it.
    #[must_use]
    pub fn with_observer(mut self, observer: Box<dyn FnMut(&Event<'_>) + 'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Runs count for this phase from now on.
    pub fn enter(&mut self, phase: &'static str) {
        self.phase = phase;
        self.notify(&Event::Phase { phase });
    }

    /// The outcome of an input: what is known of it, else that of a run.
    ///
    /// # Errors
    /// When the search is to end.
    pub fn test(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        self.test_ahead(input, None)
    }

    /// Says what will be tested next, so that idle jobs begin with it. It takes the place of what was said before.
    pub fn expect<I: Into<Vec<u8>>>(&mut self, inputs: impl IntoIterator<Item = I>) {
        let Some(pool) = &self.pool else { return };
        let task = |input: Vec<u8>| Task { turn: (Key::of(&input), 0), input };
        let tasks = inputs.into_iter().map(|input| task(input.into())).filter(|task| {
            let remembered = self.memory.borrow().as_ref().and_then(|memory| memory.lookup(&task.turn.0, 0));
            remembered.is_none() && self.recall(&task.turn.0).is_none()
        });
        pool.plan(tasks.collect::<Vec<_>>());
    }

    /// What is known of an input, without a run.
    pub fn known(&self, input: &[u8]) -> Option<Outcome> {
        self.recall(&Key::of(input)).map(|(outcome, _)| outcome)
    }

    /// The outcome of one more run. What is known of the input becomes the most telling of its runs: `Fail`, then `Pass`, then
    /// `Unresolved`; a fail is a fact.
    ///
    /// # Errors
    /// When the search is to end.
    pub fn retest(&mut self, input: &[u8]) -> Result<Outcome, Stop> {
        self.retest_ahead(input, None)
    }

    /// A run that is fresh in any case, served neither from memory nor from what is known: the last word on an input. It is not
    /// recorded either, and so it is fresh again in a resumed search. The budget does not hold it back: a search that ends for its
    /// budget still has a last word to say.
    ///
    /// # Errors
    /// When the stop flag is set, or the oracle cannot be asked.
    pub fn confirm(&mut self, input: &[u8]) -> Result<Run, Stop> {
        if self.is_stopped() {
            return Err(Stop::Interrupted);
        }
        let turn = (Key::of(input), LAST_WORDS + self.confirmed);
        let (run, elapsed) = self.run(turn, input, None)?;
        self.confirmed += 1;
        self.learn(turn.0, run.outcome, false);
        self.count(run.outcome, input.len(), false, elapsed);
        Ok(run)
    }

    /// Says that so many last words on this input will be asked for, so that idle jobs begin with them.
    pub fn expect_confirmations(&mut self, input: &[u8], count: u32) {
        let Some(pool) = &self.pool else { return };
        let key = Key::of(input);
        let first = LAST_WORDS + self.confirmed;
        pool.plan((first..first + count).map(|number| Task { turn: (key, number), input: input.to_vec() }));
    }

    /// Tells the observer of a smaller failing input.
    pub fn improved(&mut self, best: &[u8]) {
        let runs = self.runs;
        self.notify(&Event::Best { best, runs });
    }

    /// The number of runs, replayed ones included: the same for a search that was interrupted and resumed.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many of the runs were served from memory.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// How often a test was answered by what was known already.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// How many runs were begun ahead and never asked for. They count nowhere else.
    pub fn wasted(&self) -> u64 {
        self.pool.as_ref().map_or(0, |pool| pool.wasted())
    }

    /// How long ago the search was made.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// How many runs are done at a time.
    pub fn jobs(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.jobs)
    }

    /// How often one more run of an input did not agree with what was known of it on whether it fails.
    pub fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// The runs by phase, in the order in which the phases had their first run.
    pub fn phases(&self) -> &IndexMap<&'static str, Counts> {
        &self.phases
    }

    /// The next run of an input: from memory, else from the oracle.
    fn ask(&mut self, key: Key, input: &[u8], ahead: Option<&Ahead<'_, 'a>>) -> Result<Outcome, Stop> {
        self.check()?;
        let before = self.recall(&key);
        let turn = (key, before.map_or(0, |(_, next)| next));
        if self.scout.is_some() {
            let outcome = self.foresee(turn, input, before.map(|(outcome, _)| outcome))?;
            self.learn(key, outcome, true);
            self.runs += 1;
            return Ok(outcome);
        }
        let remembered = self.memory.borrow().as_ref().and_then(|memory| memory.lookup(&key, turn.1));
        let (outcome, elapsed) = match remembered {
            Some(outcome) => (outcome, Duration::ZERO),
            None => {
                let (run, elapsed) = self.run(turn, input, ahead)?;
                self.record(&key, turn.1, run.outcome, input.len(), elapsed)?;
                if let Some(failure) = &run.other {
                    self.notify(&Event::Other { failure, input });
                }
                (run.outcome, elapsed)
            }
        };
        if let Some(pool) = &self.pool
            && self.foresight.borrow_mut().learn(turn, self.phase, outcome, elapsed)
        {
            pool.plan([]);
        }
        self.learn(key, outcome, true);
        self.count(outcome, input.len(), remembered.is_some(), elapsed);
        Ok(outcome)
    }

    fn check(&self) -> Result<(), Stop> {
        if self.is_stopped() {
            return Err(Stop::Interrupted);
        }
        if let Some(max) = self.budget.max_runs.filter(|max| self.runs - self.replayed >= *max) {
            return Err(Stop::Budget(format!("the budget of {max} runs is used up")));
        }
        if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Stop::Budget("the time is used up".to_owned()));
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn run(&mut self, turn: (Key, u32), input: &[u8], ahead: Option<&Ahead<'_, 'a>>) -> Result<(Run, Duration), Stop> {
        let (run, elapsed) = match self.pool.clone() {
            Some(pool) => {
                pool.ask(turn, input);
                if let Some(ahead) = ahead.filter(|_| !pool.is_done(&turn)) {
                    self.look_ahead(&pool, ahead, turn, input);
                }
                let (run, elapsed) = pool.take(&turn);
                (run.unwrap_or_else(|panic| resume_unwind(panic)), elapsed)
            }
            None => {
                let started = Instant::now();
                (self.oracle.run(input), started.elapsed())
            }
        };
        match run {
            Ok(run) => Ok((run, elapsed)),
            // The oracle may have been told to stop as well: that is no fault of it.
            Err(_) if self.is_stopped() => Err(Stop::Interrupted),
            Err(error) => Err(Stop::Oracle(error)),
        }
    }

    fn record(&mut self, key: &Key, ordinal: u32, outcome: Outcome, len: usize, time: Duration) -> Result<(), Stop> {
        let mut memory = self.memory.borrow_mut();
        let Some(memory) = memory.as_mut() else { return Ok(()) };
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        memory.record(key, ordinal, outcome, self.phase, len, micros).map_err(Stop::Memory)
    }

    fn learn(&mut self, key: Key, outcome: Outcome, counted: bool) {
        let before = self.recall(&key);
        self.note(key, outcome, counted);
        if before.is_some_and(|(before, _)| (before == Outcome::Fail) != (outcome == Outcome::Fail)) {
            self.contradictions += 1;
            let contradictions = self.contradictions;
            self.notify(&Event::Contradiction { contradictions });
        }
    }

    fn count(&mut self, outcome: Outcome, len: usize, replayed: bool, elapsed: Duration) {
        self.runs += 1;
        self.replayed += u64::from(replayed);
        self.phases.entry(self.phase).or_default().add(outcome);
        let (phase, runs, hits) = (self.phase, self.runs, self.hits);
        self.notify(&Event::Run { phase, runs, outcome, len, replayed, elapsed, hits });
    }

    fn notify(&mut self, event: &Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer(event);
        }
    }
}

/// How much an outcome tells of an input.
fn tells(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Unresolved => 0,
        Outcome::Pass => 1,
        Outcome::Fail => 2,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::rc::Rc;
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn on_x(input: &[u8]) -> Outcome {
        if input.contains(&b'x') { Outcome::Fail } else { Outcome::Pass }
    }

    /// An oracle that says one thing after another.
    fn script(outcomes: &[Outcome]) -> impl Fn(&[u8]) -> Outcome + Send + Sync + use<> {
        let (outcomes, next) = (outcomes.to_vec(), AtomicU64::new(0));
        move |_: &[u8]| outcomes[next.fetch_add(1, Ordering::Relaxed) as usize]
    }

    #[derive(Clone, Default)]
    struct Notes(Rc<RefCell<BTreeMap<(Key, u32), Outcome>>>);

    impl Memory for Notes {
        fn lookup(&self, key: &Key, ordinal: u32) -> Option<Outcome> {
            self.0.borrow().get(&(*key, ordinal)).copied()
        }

        fn record(
            &mut self,
            key: &Key,
            ordinal: u32,
            outcome: Outcome,
            _: &str,
            _: usize,
            _: u64,
        ) -> std::io::Result<()> {
            assert!(self.0.borrow_mut().insert((*key, ordinal), outcome).is_none(), "recorded twice");
            Ok(())
        }
    }

    #[test]
    fn an_input_is_run_once() {
        let mut search = Search::new(&on_x);
        assert_eq!(search.known(b"x"), None);
        for _ in 0..3 {
            assert_eq!(search.test(b"x").unwrap(), Outcome::Fail);
        }
        assert_eq!((search.runs(), search.known(b"x")), (1, Some(Outcome::Fail)));
    }

    #[test]
    fn phases_count_in_order_of_first_use() {
        let mut search = Search::new(&on_x);
        for (phase, input) in [("b", b"x"), ("c", b"y"), ("b", b"z"), ("b", b"x")] {
            search.enter(phase);
            search.test(input).unwrap();
        }
        let phases: Vec<_> = search.phases().iter().map(|(name, counts)| (*name, counts.fail, counts.pass)).collect();
        assert_eq!(phases, [("b", 1, 1), ("c", 0, 1)]);
    }

    #[test]
    fn a_fail_is_a_fact() {
        let oracle = script(&[Outcome::Pass, Outcome::Fail, Outcome::Pass, Outcome::Fail]);
        let mut search = Search::new(&oracle);
        search.test(b"a").unwrap();
        assert_eq!(search.retest(b"a").unwrap(), Outcome::Fail);
        assert_eq!(search.contradictions(), 1);
        assert_eq!(search.retest(b"a").unwrap(), Outcome::Pass);
        assert_eq!((search.known(b"a"), search.contradictions()), (Some(Outcome::Fail), 2));
        search.retest(b"a").unwrap();
        assert_eq!((search.contradictions(), search.runs()), (2, 4));
    }

    #[test]
    fn a_pass_tells_more_than_nothing() {
        let oracle = script(&[Outcome::Unresolved, Outcome::Pass, Outcome::Unresolved]);
        let mut search = Search::new(&oracle);
        for _ in 0..3 {
            search.retest(b"a").unwrap();
        }
        assert_eq!((search.known(b"a"), search.contradictions()), (Some(Outcome::Pass), 0));
    }

    #[test]
    fn a_resumed_search_replays_what_was() {
        let answers = [Outcome::Pass, Outcome::Fail, Outcome::Pass, Outcome::Fail, Outcome::Fail];
        let notes = Notes::default();
        let ask = |search: &mut Search<'_>| {
            search.test(b"a").unwrap();
            search.retest(b"a").unwrap();
            search.retest(b"a").unwrap();
            (search.confirm(b"a").unwrap().outcome, search.runs(), search.contradictions())
        };
        let first = script(&answers);
        let mut search = Search::new(&first).with_memory(Box::new(notes.clone()));
        assert_eq!(ask(&mut search), (Outcome::Fail, 4, 2));
        // Only the last word is asked for again, and what follows it.
        let second = script(&answers[3..]);
        let mut resumed = Search::new(&second).with_memory(Box::new(notes));
        assert_eq!(ask(&mut resumed), (Outcome::Fail, 4, 2));
        assert_eq!(resumed.replayed(), 3);
        resumed.retest(b"a").unwrap();
        assert_eq!((resumed.runs(), resumed.replayed()), (5, 3));
    }

    #[test]
    fn a_last_word_is_fresh_and_is_learnt() {
        let oracle = script(&[Outcome::Pass, Outcome::Fail]);
        let mut search = Search::new(&oracle);
        search.test(b"a").unwrap();
        assert_eq!(search.confirm(b"a").unwrap().outcome, Outcome::Fail);
        assert_eq!((search.known(b"a"), search.contradictions()), (Some(Outcome::Fail), 1));
    }

    #[test]
    fn limits_end_it() {
        let mut search = Search::new(&on_x).with_budget(Budget { max_runs: Some(1), deadline: None });
        search.test(b"a").unwrap();
        search.test(b"a").unwrap();
        assert!(matches!(search.test(b"b"), Err(Stop::Budget(text)) if text.contains('1')));
        assert_eq!(search.confirm(b"a").unwrap().outcome, Outcome::Pass);
        let past = Budget { max_runs: None, deadline: Some(Instant::now()) };
        assert!(matches!(Search::new(&on_x).with_budget(past).test(b"a"), Err(Stop::Budget(_))));
        let flag = Arc::new(AtomicBool::new(true));
        assert!(matches!(Search::new(&on_x).with_stop(flag).test(b"a"), Err(Stop::Interrupted)));
    }

    struct Broken(Arc<AtomicBool>);

    impl Oracle for Broken {
        fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
            self.0.store(input == b"stop", Ordering::Relaxed);
            Err(OracleError::new("gone"))
        }

        fn identity(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn a_stopped_run_is_no_fault_of_the_oracle() {
        let flag = Arc::new(AtomicBool::new(false));
        let oracle = Broken(Arc::clone(&flag));
        let mut search = Search::new(&oracle).with_stop(flag);
        assert!(matches!(search.test(b"a"), Err(Stop::Oracle(error)) if error.message == "gone"));
        assert!(matches!(search.test(b"stop"), Err(Stop::Interrupted)));
        assert_eq!(search.runs(), 0);
    }

    #[test]
    fn what_is_run_ahead_counts_when_it_is_asked_for() {
        let notes = Notes::default();
        std::thread::scope(|scope| {
            let mut search = Search::new(&on_x).with_memory(Box::new(notes.clone())).with_jobs(scope, 2);
            search.expect([b"a", b"x", b"b"]);
            while search.wasted() < 3 {
                std::thread::yield_now();
            }
            assert_eq!((search.runs(), notes.0.borrow().len(), search.known(b"x")), (0, 0, None));
            assert_eq!(search.test(b"x").unwrap(), Outcome::Fail);
            assert_eq!((search.runs(), search.wasted(), notes.0.borrow().len()), (1, 2, 1));
            // Nobody foresaw that.
            assert_eq!(search.test(b"xx").unwrap(), Outcome::Fail);
            assert_eq!(search.retest(b"x").unwrap(), Outcome::Fail);
            assert_eq!((search.runs(), search.wasted(), search.jobs()), (3, 2, 2));
        });
    }

    #[test]
    fn runs_overlap() {
        let both = std::sync::Barrier::new(2);
        let oracle = |input: &[u8]| {
            both.wait();
            on_x(input)
        };
        std::thread::scope(|scope| {
            let mut search = Search::new(&oracle).with_jobs(scope, 2);
            search.expect([b"a", b"x"]);
            assert_eq!((search.test(b"a").unwrap(), search.test(b"x").unwrap()), (Outcome::Pass, Outcome::Fail));
            search.expect_confirmations(b"x", 2);
            let last = [search.confirm(b"x"), search.confirm(b"x")].map(|run| run.unwrap().outcome);
            assert_eq!((last, search.wasted()), ([Outcome::Fail; 2], 0));
        });
    }

    #[test]
    #[should_panic(expected = "the oracle's own")]
    fn a_panic_of_the_oracle_is_that_of_the_search() {
        let oracle = |_: &[u8]| -> Outcome { panic!("the oracle's own") };
        std::thread::scope(|scope| drop(Search::new(&oracle).with_jobs(scope, 2).test(b"a")));
    }

    #[test]
    fn the_observer_sees_runs_and_the_best() {
        let mut seen = Vec::new();
        let observer = |event: &Event<'_>| match event {
            Event::Run { runs, outcome, len, .. } => seen.push(format!("{runs} {outcome:?} {len}")),
            Event::Best { best, runs } => seen.push(format!("best {} {runs}", best.len())),
            _ => {}
        };
        let mut search = Search::new(&on_x).with_observer(Box::new(observer));
        search.test(b"xx").unwrap();
        search.improved(b"xx");
        drop(search);
        assert_eq!(seen, ["1 Fail 2", "best 2 1"]);
    }

    #[test]
    fn keys_survive_their_text() {
        let key = Key::of(b"a");
        assert_eq!(Key::from_hex(&key.to_string()), Some(key));
        assert_eq!(Key::from_hex("zz"), None);
    }
}
