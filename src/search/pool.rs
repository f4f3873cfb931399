//! Threads that run an oracle: on what is asked for, and meanwhile on what will likely be asked next.

use super::Key;
use crate::oracle::{Oracle, OracleError, Outcome, Run};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// How long a thread at most waits for the search to look at an outcome before it goes on with what was planned.
const GRACE: Duration = Duration::from_millis(5);

/// The number of the first last word on an input: further than runs are ever counted.
pub(super) const LAST_WORDS: u32 = 1 << 31;

/// One run of one input: the runs of an input are numbered.
pub(super) type Turn = (Key, u32);

/// A run that may be asked for.
pub(super) struct Task {
    pub turn: Turn,
    pub input: Vec<u8>,
}

/// What a run came to and how long it took. The outer error is a panic of the oracle.
pub(super) type Finished = (Result<Result<Run, OracleError>, Box<dyn Any + Send>>, Duration);

/// The threads end with the pool, each after the run that it is at.
pub(super) struct Pool {
    shared: Arc<Shared>,
    pub jobs: usize,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to run, or nothing ever again.
    filled: Condvar,
    /// A run has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Task>,
    /// What was started and not taken; `None` while it runs.
    runs: FxHashMap<Turn, Option<Finished>>,
    /// The run that was asked for last.
    awaited: Option<Turn>,
    closed: bool,
}

impl State {
    /// Whether the search waits for a run: what is planned follows from all that it has seen.
    fn is_settled(&self) -> bool {
        self.awaited.is_some_and(|turn| !matches!(self.runs.get(&turn), Some(Some(_))))
    }
}

impl Pool {
    pub(super) fn start<'scope, 'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        oracle: &'a dyn Oracle,
        jobs: usize,
    ) -> Self {
        let (filled, ended) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state: Mutex::default(), filled, ended });
        for _ in 0..jobs {
            let shared = Arc::clone(&shared);
            scope.spawn(move || shared.work(oracle));
        }
        Pool { shared, jobs }
    }

    /// Has this run before all that is planned.
    pub(super) fn ask(&self, turn: Turn, input: &[u8]) {
        let mut state = self.shared.lock();
        state.awaited = Some(turn);
        self.shared.filled.notify_all();
        if state.runs.contains_key(&turn) {
            return;
        }
        match state.queue.iter().position(|task| task.turn == turn) {
            Some(0) => return,
            Some(place) => drop(state.queue.remove(place)),
            // Nobody foresaw this: what was foreseen will not come.
            None => state.queue.clear(),
        }
        state.queue.push_front(Task { turn, input: input.to_vec() });
    }

    /// Replaces what was planned and not begun.
    pub(super) fn plan(&self, tasks: impl IntoIterator<Item = Task>) {
        let mut state = self.shared.lock();
        state.queue = tasks.into_iter().collect();
        let State { queue, runs, .. } = &mut *state;
        queue.retain(|task| !runs.contains_key(&task.turn));
        self.shared.filled.notify_all();
    }

    /// How many runs wait to be begun.
    pub(super) fn planned(&self) -> usize {
        self.shared.lock().queue.len()
    }

    pub(super) fn is_begun(&self, turn: &Turn) -> bool {
        self.shared.lock().runs.contains_key(turn)
    }

    pub(super) fn is_done(&self, turn: &Turn) -> bool {
        matches!(self.shared.lock().runs.get(turn), Some(Some(_)))
    }

    /// The outcome of a run that has ended and was not taken yet.
    pub(super) fn outcome(&self, turn: &Turn) -> Option<Outcome> {
        match self.shared.lock().runs.get(turn) {
            Some(Some((Ok(Ok(run)), _))) => Some(run.outcome),
            _ => None,
        }
    }

    /// Waits for a run that was asked for.
    pub(super) fn take(&self, turn: &Turn) -> Finished {
        let mut state = self.shared.lock();
        loop {
            if let Some(finished) = state.runs.get_mut(turn).and_then(Option::take) {
                state.runs.remove(turn);
                state.awaited = None;
                return finished;
            }
            state = self.shared.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many runs were begun and not taken.
    pub(super) fn wasted(&self) -> u64 {
        self.shared.lock().runs.len() as u64
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.filled.notify_all();
    }
}

impl Shared {
    /// No code of others runs while the lock is held, so what a panic leaves is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, oracle: &dyn Oracle) {
        let mut grace = Duration::ZERO;
        while let Some(task) = self.next(grace) {
            let started = Instant::now();
            let mut run = catch_unwind(AssertUnwindSafe(|| oracle.run(&task.input)));
            // What it printed is large, it may never be asked for, and only of last words it is.
            if let (Ok(Ok(run)), true) = (&mut run, task.turn.1 < LAST_WORDS) {
                run.process = None;
            }
            let finished = (run, started.elapsed());
            grace = (finished.1 / 4).min(GRACE);
            self.lock().runs.insert(task.turn, Some(finished));
            self.ended.notify_all();
        }
    }

    /// The next task. If the search is just looking at an outcome, it may come to another plan: that is waited for, but not long.
    fn next(&self, grace: Duration) -> Option<Task> {
        let begin = Instant::now();
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            let left = grace.saturating_sub(begin.elapsed());
            if !state.queue.is_empty() && !state.is_settled() && !left.is_zero() {
                state = self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            if let Some(task) = state.queue.pop_front() {
                state.runs.insert(task.turn, None);
                return Some(task);
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
