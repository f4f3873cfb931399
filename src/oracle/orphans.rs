//! Processes that a run leaves behind outside its process group (daemons): found, killed and reaped on Linux.
//!
//! This process becomes a "child subreaper": whatever a run leaves behind becomes our child. Our children are then either
//! leaders of runs in flight, members of those runs' groups, children of the program that uses this library, or orphans.
//! Which of several runs in flight an orphan belongs to is told by its working folder, else by its age: one that is older than
//! each other run in flight cannot be theirs. One that cannot be told waits for the end of the last run that could own it.
//!
//! Never killed: a process of our own group, and one that was started before the run. A host program that starts children in
//! process groups of their own while runs are in flight is the one case that cannot be told apart.

use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use rustix::process::Pid;

use super::sandbox;

/// Held shared from before a leader starts until it is in [`RUNS`], and alone by who looks for orphans: a leader not yet
/// listed looks like one.
static GATE: RwLock<()> = RwLock::new(());

/// The runs in flight.
static RUNS: Mutex<Vec<Flight>> = Mutex::new(Vec::new());

struct Flight {
    pid: Pid,
    /// In the system's ticks; `None` where the system does not tell.
    start: Option<u64>,
}

fn runs() -> MutexGuard<'static, Vec<Flight>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first process of a run. Listed as in flight until it is swept or dropped.
pub(super) struct Leader {
    pub(super) child: Child,
    pub(super) pid: Pid,
    start: Option<u64>,
    listed: bool,
}

/// Starts a run's first process; with a folder, it may write nowhere else.
pub(super) fn start(command: &mut Command, only: Option<&Path>) -> io::Result<Leader> {
    let _gate = GATE.read().unwrap_or_else(PoisonError::into_inner);
    let child = match only {
        Some(folder) => sandbox::start_with_landlock(command, folder)?,
        None => command.spawn()?,
    };
    let pid = Pid::from_child(&child);
    let start = system::start_of(pid);
    runs().push(Flight { pid, start });
    Ok(Leader { child, pid, start, listed: true })
}

impl Leader {
    /// Kills and reaps what the run has left behind. The leader must have been reaped.
    pub(super) fn sweep(mut self, folder: &Path) {
        self.unlist();
        if let Some(start) = self.start {
            system::sweep(start, folder);
        }
    }

    fn unlist(&mut self) {
        if std::mem::take(&mut self.listed) {
            runs().retain(|flight| flight.pid != self.pid);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.unlist();
    }
}

/// Makes this process the one that orphans come to. Holds for the whole process, and is asked for once.
pub(super) fn adopt() {
    system::adopt();
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::{Once, PoisonError};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, kill_process_group, set_child_subreaper,
        waitid,
    };

    use super::{GATE, runs};

    /// How long is swept. Matters for orphans that multiply, or hang in the kernel.
    const SWEEP: Duration = Duration::from_secs(5);

    pub(super) fn adopt() {
        static ADOPT: Once = Once::new();
        // Where it is refused, daemons go to init as they do everywhere else.
        ADOPT.call_once(|| {
            let _ = set_child_subreaper(Some(getpid()));
        });
    }

    /// Kills what a run that began at `start` has left behind, and what that leaves behind, until there is nothing.
    pub(super) fn sweep(start: u64, folder: &Path) {
        let deadline = Instant::now() + SWEEP;
        while has_children() && Instant::now() < deadline {
            let killed = kill_orphans(start, folder);
            if killed.is_empty() {
                return;
            }
            for pid in killed {
                reap(pid, deadline);
            }
        }
    }

    /// One cheap question that spares nearly every run the look into `/proc`.
    fn has_children() -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
    }

    fn kill_orphans(start: u64, folder: &Path) -> Vec<Pid> {
        let _gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
        let runs = runs();
        let own = getpgrp();
        let mut killed = Vec::new();
        for pid in children() {
            let Some(stat) = Stat::of(pid) else { continue };
            let in_flight = runs.iter().any(|run| run.pid == pid || run.pid == stat.group);
            if in_flight || stat.group == own || stat.start < start {
                continue;
            }
            if runs.iter().any(|run| run.start.is_none_or(|start| start <= stat.start)) && !works_in(pid, folder) {
                continue;
            }
            let _ = kill_process(pid, Signal::KILL);
            if stat.group == pid {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            killed.push(pid);
        }
        killed
    }

    fn reap(pid: Pid, deadline: Instant) {
        while Instant::now() < deadline {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                Ok(None) => sleep(Duration::from_micros(200)),
                Err(Errno::INTR) => {}
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }

    /// Our children. Each thread has a list of those it started.
    fn children() -> Vec<Pid> {
        let mut found = Vec::new();
        let Ok(threads) = fs::read_dir("/proc/self/task") else { return found };
        for thread in threads.flatten() {
            let Ok(list) = fs::read_to_string(thread.path().join("children")) else { continue };
            found.extend(list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
        }
        found
    }

    /// Whether it works in the folder, which may have been removed by now.
    fn works_in(pid: Pid, folder: &Path) -> bool {
        let Ok(cwd) = fs::read_link(format!("/proc/{}/cwd", pid.as_raw_nonzero())) else { return false };
        let rest = cwd.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || rest == b" (deleted)")
    }

    struct Stat {
        group: Pid,
        start: u64,
    }

    impl Stat {
        fn of(pid: Pid) -> Option<Self> {
            let text = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
            // The second field is the program's name in parentheses: it may hold anything, blanks and parentheses too.
            let after = &text[text.iter().rposition(|&byte| byte == b')')? + 1..];
            let fields: Vec<&str> = std::str::from_utf8(after).ok()?.split_whitespace().collect();
            // A process that another run is just reaping is in group -1.
            let group = fields.get(2)?.parse().ok().filter(|group| *group > 0)?;
            Some(Self { group: Pid::from_raw(group)?, start: fields.get(19)?.parse().ok()? })
        }
    }

    /// When a process was started, in the system's ticks.
    pub(super) fn start_of(pid: Pid) -> Option<u64> {
        Stat::of(pid).map(|stat| stat.start)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    use rustix::process::Pid;

    pub(super) fn adopt() {}

    pub(super) fn sweep(_: u64, _: &Path) {}

    pub(super) fn start_of(_: Pid) -> Option<u64> {
        None
    }
}
