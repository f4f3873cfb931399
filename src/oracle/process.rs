//! One process: started in a group of its own, watched, and gone with all that it started when its run is over.

use super::signal::signal_name;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};
use std::io::{Read, Result};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much of each output stream is kept; the rest is read and thrown away.
const KEPT: usize = 1 << 20;

/// How long the readers may take once the group is dead. Only a process that left the group can hold a pipe open then.
const READERS_GRACE: Duration = Duration::from_millis(200);

/// The variable by which processes that left the group are known as this run's.
const MARK: &str = "DDSET_RUN";

/// How a process ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub elapsed: Duration,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub truncated: bool,
}

impl Ended {
    pub(super) fn in_words(&self) -> String {
        match (self.timed_out, self.signal, self.exit) {
            (true, ..) => format!("timed out after {:.1} s", self.elapsed.as_secs_f64()),
            (_, Some(signal), _) => format!("killed by {}", signal_name(signal)),
            (_, _, exit) => format!("exit status {}", exit.unwrap_or(-1)),
        }
    }
}

/// Kills process groups whose time is up. One thread serves all runs of an oracle.
#[derive(Debug)]
pub(super) struct Watchdog {
    state: Arc<(Mutex<Watched>, Condvar)>,
}

#[derive(Debug, Default)]
struct Watched {
    /// The group to kill, and when.
    armed: Option<(Pid, Instant)>,
    /// Whether it was killed.
    fired: bool,
    closed: bool,
}

impl Watchdog {
    pub(super) fn new() -> Result<Self> {
        let state = Arc::new((Mutex::new(Watched::default()), Condvar::new()));
        let shared = state.clone();
        std::thread::Builder::new().name("ddset-watchdog".into()).spawn(move || watch(&shared))?;
        // Processes that leave their group come to us when their parent dies, so that they can be found.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Ok(Watchdog { state })
    }

    fn arm(&self, group: Pid, deadline: Instant) {
        let mut watched = lock(&self.state.0);
        watched.armed = Some((group, deadline));
        watched.fired = false;
        self.state.1.notify_all();
    }

    /// Whether the group was killed.
    fn disarm(&self) -> bool {
        let mut watched = lock(&self.state.0);
        watched.armed = None;
        watched.fired
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        lock(&self.state.0).closed = true;
        self.state.1.notify_all();
    }
}

fn lock(mutex: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch((mutex, changed): &(Mutex<Watched>, Condvar)) {
    let mut watched = lock(mutex);
    while !watched.closed {
        watched = match watched.armed {
            None => changed.wait(watched).unwrap_or_else(PoisonError::into_inner),
            Some((group, deadline)) => {
                let now = Instant::now();
                if now >= deadline {
                    let _ = rustix::process::kill_process_group(group, Signal::KILL);
                    watched.armed = None;
                    watched.fired = true;
                    continue;
                }
                changed.wait_timeout(watched, deadline - now).unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// Runs a command to its end, or to the end of its time. `mark` is unlike that of any other run.
pub(super) fn run(command: &mut Command, watchdog: &Watchdog, timeout: Duration, mark: &str) -> Result<Ended> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).env(MARK, mark);
    let begin = Instant::now();
    let mut child = spawn(command)?;
    let group = pid(&child);
    watchdog.arm(group, begin + timeout);
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    // Learn that it ended without reaping it: until it is reaped, its number, and so the group's, is no one else's.
    while let Err(rustix::io::Errno::INTR) =
        rustix::process::waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
    {}
    let elapsed = begin.elapsed();
    let timed_out = watchdog.disarm();
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    let status = child.wait()?;
    while let Ok(Some(_)) = rustix::process::waitpgid(group, WaitOptions::NOHANG) {}
    kill_strays(mark);
    let (stdout, more) = collect(stdout);
    let (stderr, more_error) = collect(stderr);
    Ok(Ended {
        exit: status.code(),
        signal: status.signal(),
        timed_out,
        elapsed,
        stdout,
        stderr,
        truncated: more || more_error,
    })
}

/// A file that was just written may still be open in a process that is about to start (ETXTBSY); and a busy machine may be
/// out of processes for a moment.
fn spawn(command: &mut Command) -> Result<Child> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if tries < 20 && matches!(error.raw_os_error(), Some(26 | 11)) => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10 * tries));
            }
            other => return other,
        }
    }
}

fn pid(child: &Child) -> Pid {
    // A child's number is never 0, which is all that `from_raw` refuses.
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap_or(Pid::INIT)
}

type Drained = (Arc<Mutex<(Vec<u8>, bool)>>, Receiver<()>);

/// Reads a stream to its end in a thread of its own, and keeps the beginning.
fn drain(stream: Option<impl Read + Send + 'static>) -> Drained {
    let kept = Arc::new(Mutex::new((Vec::new(), false)));
    let (done, ended) = mpsc::channel();
    let shared = kept.clone();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        let mut stream = stream;
        while let Some(Ok(count @ 1..)) = stream.as_mut().map(|stream| stream.read(&mut buffer)) {
            let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let room = KEPT - kept.0.len();
            kept.0.extend_from_slice(&buffer[..count.min(room)]);
            kept.1 |= count > room;
        }
        let _ = done.send(());
    });
    (kept, ended)
}

fn collect((kept, ended): Drained) -> (Vec<u8>, bool) {
    let _ = ended.recv_timeout(READERS_GRACE);
    std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Kills what left the group (daemons): our adopted children that carry the mark, and theirs in turn.
#[cfg(target_os = "linux")]
fn kill_strays(mark: &str) {
    for _ in 0..64 {
        let strays: Vec<Pid> = children().into_iter().filter(|pid| carries(*pid, mark)).collect();
        if strays.is_empty() {
            return;
        }
        for stray in strays {
            let _ = rustix::process::kill_process(stray, Signal::KILL);
            let _ = rustix::process::waitpid(Some(stray), WaitOptions::empty());
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_strays(_: &str) {}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let numbers = lists.flat_map(|list| list.split_whitespace().filter_map(|n| n.parse().ok()).collect::<Vec<i32>>());
    numbers.filter_map(Pid::from_raw).collect()
}

#[cfg(target_os = "linux")]
fn carries(pid: Pid, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
    environment.is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
}
