//! One process, from its start until nothing of it is left.
//!
//! One thread watches both outputs, the end of the process and the clock; so a run costs no thread, and no reader can hang on
//! a grandchild that keeps a pipe open.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::limits::{self, Usage};
use super::{Process, Sandbox, orphans};

/// How much of each output is kept, in bytes.
pub(super) const KEPT: usize = 1 << 20;

/// How often the stop flag is looked at while a process runs.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// How long a killed process may take to go. Only one that hangs in the kernel takes noticeable time.
const DEATH: Duration = Duration::from_secs(5);

/// How long what is left in the pipes is read after the end. Matters only if a writer could not be killed.
const DRAIN: Duration = Duration::from_millis(500);

/// Why there is no [`Process`].
pub(super) enum Problem {
    /// It did not start.
    Start(io::Error),
    /// It was started, and could not be watched.
    Watch(io::Error),
    /// It was killed, since the stop flag was set.
    Stopped,
}

/// Starts the command in a process group of its own and waits until it ends, or its time is up, or `stop` is set.
/// Whatever it started is killed then, as far as the system lets us find it.
pub(super) fn run(command: &mut Command, bounds: &Bounds<'_>) -> Result<Process, Problem> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let started = Instant::now();
    let only = (bounds.sandbox == Sandbox::Landlock).then_some(bounds.folder);
    let mut leader = orphans::start(command, only).map_err(Problem::Start)?;
    limits::restrict(leader.pid);
    let mut outputs = [
        Output::new(leader.child.stdout.take().map(OwnedFd::from)),
        Output::new(leader.child.stderr.take().map(OwnedFd::from)),
    ];
    let watched = watch(&leader.child, &mut outputs, started, bounds);
    // Before the leader is reaped: until then nothing else can get its number.
    let _ = kill_process_group(leader.pid, Signal::KILL);
    let elapsed = started.elapsed();
    let status = reap(&mut leader.child);
    reap_group(leader.pid);
    leader.sweep(bounds.folder);
    let end = watched.map_err(Problem::Watch)?;
    if matches!(end, End::Stopped) {
        return Err(Problem::Stopped);
    }
    for output in &mut outputs {
        output.drain();
    }
    let status = status.map_err(Problem::Watch)?;
    let cpu = if let End::Late(cpu) = end { cpu } else { Duration::ZERO };
    let [stdout, stderr] = outputs;
    Ok(Process {
        exit: status.code(),
        signal: status.signal(),
        timed_out: matches!(end, End::Late(_)),
        out_of_memory: matches!(end, End::Large),
        cpu,
        elapsed,
        truncated: stdout.lost > 0 || stderr.lost > 0,
        stdout: stdout.into_bytes(),
        stderr: stderr.into_bytes(),
    })
}

/// What holds for a run.
pub(super) struct Bounds<'b> {
    pub(super) folder: &'b Path,
    pub(super) sandbox: Sandbox,
    pub(super) timeout: Duration,
    /// In bytes.
    pub(super) memory: u64,
    pub(super) stop: Option<&'b AtomicBool>,
}

enum End {
    Exited,
    /// After how much time on processors.
    Late(Duration),
    /// It used too much memory.
    Large,
    Stopped,
}

/// Reads the outputs until the process ends; it stays unreaped.
fn watch(child: &Child, outputs: &mut [Output; 2], started: Instant, bounds: &Bounds<'_>) -> io::Result<End> {
    let deadline = started.checked_add(bounds.timeout);
    let mut next_look = started + limits::FIRST_LOOK;
    for output in outputs.iter() {
        if let Some(pipe) = &output.pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
    }
    let pid = Pid::from_child(child);
    let handle = exit_handle(pid);
    let mut nap = Duration::from_millis(1);
    loop {
        let mut wait = Duration::from_secs(3600);
        if bounds.stop.is_some() {
            wait = STOP_CHECK;
        }
        let now = Instant::now();
        if now >= next_look {
            if Usage::of(pid).memory > bounds.memory {
                return Ok(End::Large);
            }
            next_look = now + limits::LOOK;
        }
        wait = wait.min(next_look.saturating_duration_since(now));
        if handle.is_none() {
            // Nothing wakes us when the process ends.
            wait = wait.min(nap);
            nap = (nap * 2).min(Duration::from_millis(20));
        }
        if let Some(deadline) = deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(if has_ended(pid)? { End::Exited } else { End::Late(Usage::of(pid).cpu) });
            }
            wait = wait.min(left);
        }
        if bounds.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(End::Stopped);
        }
        wait_for_any(outputs, handle.as_ref(), wait)?;
        for output in outputs.iter_mut() {
            output.read_some();
        }
        if has_ended(pid)? {
            return Ok(End::Exited);
        }
    }
}

/// Sleeps until an output has something, the process ends, or the time is over.
fn wait_for_any(outputs: &[Output; 2], handle: Option<&OwnedFd>, wait: Duration) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(3);
    for pipe in outputs.iter().filter_map(|output| output.pipe.as_ref()).chain(handle) {
        fds.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    }
    // Rounded up, so that the last stretch before the deadline is slept and not spun.
    let wait =
        Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX), tv_nsec: wait.subsec_nanos().into() };
    match poll(&mut fds, Some(&wait)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What becomes readable when the process ends, where the system has such a thing.
#[cfg(target_os = "linux")]
fn exit_handle(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_handle(_: Pid) -> Option<OwnedFd> {
    None
}

/// Whether the process has ended; it can still be reaped.
fn has_ended(pid: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Ok(status) => return Ok(status.is_some()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reaps a process that has ended or was killed.
fn reap(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    let deadline = Instant::now() + DEATH;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            let id = child.id();
            return Err(io::Error::other(format!("process {id} was killed and does not end: it hangs in the kernel")));
        }
        sleep(Duration::from_micros(200));
    }
}

/// Reaps members of a killed group that have become our children. Waiting for them is what makes the next look at our
/// children complete: what they started becomes our child when they end.
fn reap_group(group: Pid) {
    let deadline = Instant::now() + DEATH;
    while Instant::now() < deadline {
        match waitid(WaitId::Pgid(Some(group)), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => sleep(Duration::from_micros(200)),
            Err(_) => return,
        }
    }
}

/// One output pipe and what is kept of it: the first and the last part, since a failure's message often comes last.
struct Output {
    pipe: Option<OwnedFd>,
    head: Vec<u8>,
    tail: Vec<u8>,
    lost: u64,
}

impl Output {
    fn new(pipe: Option<OwnedFd>) -> Self {
        Self { pipe, head: Vec::new(), tail: Vec::new(), lost: 0 }
    }

    /// Reads once; returns whether there may be more at once.
    fn read_some(&mut self) -> bool {
        let Some(pipe) = self.pipe.take() else { return false };
        let mut file = std::fs::File::from(pipe);
        let mut buffer = [0; 1 << 16];
        let read = file.read(&mut buffer);
        match read {
            Ok(0) => return false,
            Ok(count) => self.keep(&buffer[..count]),
            Err(ref error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return false,
        }
        self.pipe = Some(file.into());
        read.is_ok()
    }

    fn keep(&mut self, bytes: &[u8]) {
        let half = KEPT / 2;
        let (first, rest) = bytes.split_at(bytes.len().min(half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        // Cut only when it has doubled, so that each byte is moved once.
        if self.tail.len() > 2 * half {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.tail.len().saturating_sub(KEPT / 2);
        self.tail.drain(..excess);
        self.lost += excess as u64;
    }

    /// Reads what is left, which ends soon even if somebody goes on writing.
    fn drain(&mut self) {
        let deadline = Instant::now() + DRAIN;
        while self.read_some() && Instant::now() < deadline {}
        self.pipe = None;
        self.cut();
    }

    fn into_bytes(mut self) -> Vec<u8> {
        if self.lost > 0 {
            // Also keeps a pattern from matching across the seam.
            self.head.extend_from_slice(format!("\n[{} bytes left out]\n", self.lost).as_bytes());
        }
        self.head.append(&mut self.tail);
        self.head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_long_output_are_kept() {
        let mut output = Output::new(None);
        let text: Vec<u8> = (0..5 * KEPT).map(|at| b'a' + (at % 23) as u8).collect();
        for part in text.chunks(10_007) {
            output.keep(part);
        }
        output.drain();
        assert_eq!(output.lost, 4 * KEPT as u64);
        let kept = output.into_bytes();
        assert!(kept.starts_with(&text[..KEPT / 2]) && kept.ends_with(&text[text.len() - KEPT / 2..]));
        assert!(kept.len() < KEPT + 100);
    }

    #[test]
    fn output_within_the_bound_is_whole() {
        let mut output = Output::new(None);
        let text: Vec<u8> = (0..KEPT).map(|at| (at % 251) as u8).collect();
        output.keep(&text);
        output.drain();
        assert!(output.lost == 0 && output.into_bytes() == text);
    }
}
