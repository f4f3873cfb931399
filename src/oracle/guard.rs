//! The process between Bubblewrap and the program: it tells how the program ended, which Bubblewrap does not (it reports a signal as
//! an exit status), and it reaps what the program leaves behind.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, wait};

/// The first argument by which a program that serves as guard knows that it is meant.
pub const GUARD: &str = "__guard";

/// How the guard says that the program could not be started.
const NOT_STARTED: &str = "start";

/// Serves as guard: runs the program that the arguments name (after the one that is [`GUARD`]) and tells on the descriptor that the
/// first of them names how it ended. Returns the exit status to end with.
///
/// To be called first in a program whose path is given to [`CommandOracle::with_guard`](super::CommandOracle::with_guard).
pub fn guard(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments = arguments.into_iter();
    let (Some(report), Some(program)) = (arguments.next(), arguments.next()) else { return 2 };
    // Opened anew, so that the program does not inherit it.
    let own = format!("/proc/self/fd/{}", report.to_string_lossy());
    let Ok(mut report) = std::fs::OpenOptions::new().write(true).open(own) else { return 2 };
    let mut command = Command::new(program);
    command.args(arguments);
    let told = match command.spawn() {
        Ok(child) => match end_of(Pid::from_child(&child)) {
            Some(status) => writeln!(report, "end {}", status.into_raw()),
            None => return 2,
        },
        Err(error) => writeln!(report, "{NOT_STARTED} {}", error.raw_os_error().unwrap_or(0)),
    };
    u8::from(told.is_err())
}

/// The end of our child; others that come to us, since we are the first process here, are reaped meanwhile.
fn end_of(child: Pid) -> Option<ExitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => return Some(ExitStatus::from_raw(status.as_raw())),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// What the guard has told: how the program ended. `None` if it told nothing: it was killed, or never came to life.
pub(super) fn read(told: &str) -> Option<io::Result<ExitStatus>> {
    let (word, number) = told.trim().split_once(' ')?;
    let number: i32 = number.parse().ok()?;
    Some(if word == NOT_STARTED { Err(io::Error::from_raw_os_error(number)) } else { Ok(ExitStatus::from_raw(number)) })
}
