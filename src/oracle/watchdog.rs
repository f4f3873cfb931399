//! What ends runs when this process cannot: when it is killed.
//!
//! A small process waits until this one is gone, and then kills whatever carries the mark of its runs. It is a shell, since it must
//! be another program, and does nothing until then. It is no child of ours, so that it is never taken for something that a run
//! has left behind.

use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::environment::MARK;

/// The process that starts it ends at once; the wait is for the end of its standard input, which only we hold open.
const SCRIPT: &str = r#"exec 3<&0
{
    exec 0<&3 3<&-
    trap '' HUP INT TERM
    cat
    for round in 1 2 3; do
        left=$(grep -lsFe "$1" /proc/[0-9]*/environ | tr -dc '0-9\n')
        [ "$left" ] || break
        kill -9 $left
    done
} &"#;

/// The mark that runs of this process carry. The first call starts what watches.
pub(super) fn mark() -> &'static str {
    static WATCHED: OnceLock<(String, Option<ChildStdin>)> = OnceLock::new();
    &WATCHED
        .get_or_init(|| {
            // Numbers of processes come again; with the moment it is the only one.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let mark = format!("{}-{:x}", std::process::id(), now.as_nanos());
            let line = watch(&mark);
            (mark, line)
        })
        .0
}

/// What was there when the process whose line this is ended; without a shell or `/proc`, nothing is watched.
fn watch(mark: &str) -> Option<ChildStdin> {
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "sh", &format!("{MARK}={mark}")]).env_remove(MARK).current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut starter = command.spawn().ok()?;
    let line = starter.stdin.take();
    starter.wait().ok()?;
    line
}
