//! The folders that runs happen in: one for each run, all in one that vanishes with the oracle.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, getpid, test_kill_process};
use tempfile::TempDir;

const PREFIX: &str = "ddset-";

/// Held locked by the owner. Its number alone could mislead: two containers may share the folder and not the numbers.
const LOCK: &str = "lock";

/// A folder without a lock that is younger may still be in the making.
const YOUNG: Duration = Duration::from_secs(60);

/// The folder of one oracle, `ddset-PID-*`.
pub(super) struct Scratch {
    base: TempDir,
    next: AtomicU64,
    _lock: Option<File>,
}

impl Scratch {
    /// Makes the folder in `parent`, after those that killed processes left there are removed.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        remove_stale(&parent);
        let prefix = format!("{PREFIX}{}-", getpid().as_raw_nonzero());
        let base = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?;
        // Without the lock (a file system that has none) a folder is merely never taken for stale before its time.
        let lock = File::create(base.path().join(LOCK)).ok();
        let lock = lock.filter(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok());
        Ok(Self { base, next: AtomicU64::new(0), _lock: lock })
    }

    /// Where the runs' folders are.
    pub(super) fn path(&self) -> &Path {
        self.base.path()
    }

    /// A new, empty folder for one run.
    pub(super) fn folder(&self) -> io::Result<Folder> {
        let path = self.base.path().join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        match fs::create_dir(&path) {
            // Something cleaned up around us: a program under test, or a system that clears old temporary files.
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&path)?,
            other => other?,
        }
        Ok(Folder(path))
    }
}

/// One run's folder; removed when dropped.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.0).is_err() {
            // A program may have left a folder that nothing can be removed from.
            open_up(&self.0);
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Gives the owner all rights on the folders below.
fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        open.extend(
            entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()),
        );
    }
}

/// Removes the folders of processes that are no more.
fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(owner) else { continue };
        let dead = test_kill_process(owner) == Err(rustix::io::Errno::SRCH);
        if dead && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_abandoned(&entry.path()) {
            drop(Folder(entry.path()));
        }
    }
}

fn owner(name: &str) -> Option<Pid> {
    let (pid, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Pid::from_raw(pid.parse().ok().filter(|pid| *pid > 0)?)
}

fn is_abandoned(folder: &Path) -> bool {
    if let Ok(lock) = File::open(folder.join(LOCK)) {
        return flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    }
    let age = fs::metadata(folder).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > YOUNG)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of processes end far below this on every system we know.
    const NOBODY: i32 = 2_000_000_000;

    #[test]
    fn folders_of_the_dead_are_removed_and_others_stay() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let dead = format!("ddset-{NOBODY}-a");
        let held = format!("ddset-{NOBODY}-b");
        let young = format!("ddset-{NOBODY}-c");
        let alive = format!("ddset-{}-d", std::process::id());
        for name in [&dead, &held, &young, &alive, &"ddset-other".to_owned()] {
            fs::create_dir_all(at(name).join("0")).unwrap();
        }
        File::create(at(&dead).join(LOCK)).unwrap();
        let lock = File::create(at(&held).join(LOCK)).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        assert!(!at(&dead).exists());
        assert!([&held, &young, &alive].iter().all(|name| at(name).exists()) && at("ddset-other").exists());
        let own = scratch.path().to_owned();
        drop(scratch);
        assert!(!own.exists());
    }

    #[test]
    fn a_folder_that_resists_is_removed() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let folder = scratch.folder().unwrap();
        let inner = folder.path().join("a");
        fs::create_dir_all(inner.join("b")).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o000)).unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn the_base_may_vanish() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        fs::remove_dir_all(scratch.path()).unwrap();
        assert!(scratch.folder().unwrap().path().is_dir());
    }
}
