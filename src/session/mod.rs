//! A run's folder: what was asked, every outcome, the best input so far, the pattern.
//!
//! Each request has a folder of its own under the root (`.ddset/`), named by a hash of what was asked. The same request finds
//! the same folder, and goes on from what is there; another one disturbs nothing. `latest` names the one used last.

pub mod config;
mod journal;
mod request;

pub use journal::Journal;
pub use request::{GrammarSource, Request};

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Something about the folder that cannot be read, written or made sense of.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file system refused.
    #[error("cannot {doing} {}: {error}{}", path.display(), hint(error))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file of the folder does not hold what it should.
    #[error("{} is damaged ({what}); move the folder away and run again to begin anew", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A `ddset.toml` that does not say what it must.
    #[error("{}: {what}", path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it, with the place.
        what: String,
    },
    /// Another process works in the folder.
    #[error("another ddset works in {} (process {owner}); wait for it, or choose another folder with --run", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// The process, as it called itself.
        owner: String,
    },
    /// There is no run to go on from.
    #[error("there is no run in {} to go on from; name an input: ddset abstract --grammar G --test SCRIPT INPUT", root.display())]
    NoRun {
        /// Where it was looked for.
        root: PathBuf,
    },
}

fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "; free some space and run the same command again: it goes on from here"
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that can be written with --run DIR"
        }
        _ => "",
    }
}

pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> SessionError {
    let path = path.to_owned();
    move |error| SessionError::Io { doing, path, error }
}

/// A request and its folder. No other process works in it while this value lives.
#[derive(Debug)]
pub struct Session {
    request: Request,
    folder: PathBuf,
    resumed: bool,
    /// Locked as long as it is open; the system lets go of it when the process dies, however it dies.
    _lock: File,
}

impl Session {
    /// The session of a request, new or as it was left.
    ///
    /// # Errors
    /// When the folder cannot be used, or another process works in it.
    pub fn open(root: &Path, request: Request) -> Result<Session, SessionError> {
        let name = request.hash();
        let folder = root.join(&name);
        fs::create_dir_all(folder.join("input")).map_err(io("make the folder", &folder))?;
        let lock = lock(&folder)?;
        let file = folder.join("request.json");
        let resumed = file.exists();
        if !resumed {
            let input = folder.join("input").join(&request.input_name);
            write_whole(&input, &request.input)?;
            write_whole(&file, request.to_json().as_bytes())?;
        }
        write_whole(&root.join("latest"), name.as_bytes())?;
        Ok(Session { request, folder, resumed, _lock: lock })
    }

    /// The request that was used last under this root.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn latest(root: &Path) -> Result<Request, SessionError> {
        let name = match fs::read_to_string(root.join("latest")) {
            Ok(name) => name,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(SessionError::NoRun { root: root.to_owned() });
            }
            Err(error) => return Err(io("read", &root.join("latest"))(error)),
        };
        Request::load(&root.join(name.trim()))
    }

    /// The pattern of the run that was used last under this root, with its request; `None` if it has none yet.
    ///
    /// # Errors
    /// When there is no run, or it cannot be read.
    pub fn latest_pattern(root: &Path) -> Result<(Request, Option<String>), SessionError> {
        let request = Session::latest(root)?;
        let file = root.join(request.hash()).join("pattern.json");
        match fs::read_to_string(&file) {
            Ok(pattern) => Ok((request, Some(pattern))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((request, None)),
            Err(error) => Err(io("read", &file)(error)),
        }
    }

    /// What was asked.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The request's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder was there before.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// The outcomes so far, and where new ones go.
    ///
    /// # Errors
    /// When the journal cannot be opened, or is damaged.
    pub fn journal(&self) -> Result<Journal, SessionError> {
        Journal::open(&self.folder.join("journal"))
    }

    /// Where the smallest failing input is kept.
    pub fn best_path(&self) -> PathBuf {
        self.folder.join("best").join(&self.request.input_name)
    }

    /// Keeps the smallest failing input, whole at every moment.
    ///
    /// # Errors
    /// When it cannot be written; what was kept before is still there then.
    pub fn save_best(&self, best: &[u8]) -> Result<(), SessionError> {
        let path = self.best_path();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(io("make the folder", folder))?;
        }
        write_whole(&path, best)
    }

    /// Where the pattern is kept.
    pub fn pattern_path(&self) -> PathBuf {
        self.folder.join("pattern.json")
    }

    /// Keeps the pattern.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_pattern(&self, json: &str) -> Result<(), SessionError> {
        write_whole(&self.pattern_path(), json.as_bytes())
    }

    /// Keeps what a command reported, under its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_report(&self, command: &str, report: &serde_json::Value) -> Result<(), SessionError> {
        write_whole(&self.folder.join(format!("{command}.json")), report.to_string().as_bytes())
    }
}

fn lock(folder: &Path) -> Result<File, SessionError> {
    let path = folder.join("lock");
    let file = File::options().create(true).truncate(false).read(true).write(true).open(&path);
    let mut file = file.map_err(io("open", &path))?;
    match file.try_lock() {
        Ok(()) => {
            let owner = std::process::id().to_string();
            let noted = file.set_len(0).and_then(|()| file.write_all(owner.as_bytes()));
            noted.map_err(io("write", &path))?;
            Ok(file)
        }
        Err(fs::TryLockError::WouldBlock) => {
            let owner = fs::read_to_string(&path).unwrap_or_default();
            Err(SessionError::Busy { folder: folder.to_owned(), owner })
        }
        Err(fs::TryLockError::Error(error)) => Err(io("lock", &path)(error)),
    }
}

/// Writes a file so that at every moment, also after a power cut, it is there as it was or as it shall be.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io("write in", folder))?;
    file.write_all(bytes).map_err(io("write", path))?;
    file.as_file().sync_all().map_err(io("write", path))?;
    file.persist(path).map_err(|error| io("write", path)(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn request(input: &[u8]) -> Request {
        Request {
            grammar: GrammarSource { name: "g".into(), text: "s ::= 'x'".into(), start: None },
            oracle: serde_json::Value::Null,
            oracle_identity: "o".into(),
            base: PathBuf::from("/"),
            input_name: "in.x".into(),
            input: input.to_vec(),
            seed: 1,
            options: BTreeMap::new(),
        }
    }

    #[test]
    fn the_same_request_finds_its_folder_and_another_does_not() {
        let root = tempfile::tempdir().expect("temporary folder");
        let first = Session::open(root.path(), request(b"\xFFx")).expect("opens");
        assert!(!first.resumed());
        first.save_best(b"best").expect("writes");
        let folder = first.folder().to_owned();
        assert!(matches!(Session::open(root.path(), request(b"\xFFx")), Err(SessionError::Busy { .. })));
        drop(first);
        let again = Session::open(root.path(), request(b"\xFFx")).expect("opens");
        assert!(again.resumed() && again.folder() == folder);
        assert_eq!(fs::read(again.best_path()).expect("kept"), b"best");
        drop(again);
        let other = Session::open(root.path(), request(b"y")).expect("opens");
        assert_ne!(other.folder(), folder);
        assert_eq!(Session::latest(root.path()).expect("there").input, b"y");
    }

    #[test]
    fn without_a_run_there_is_nothing_to_go_on_from() {
        let root = tempfile::tempdir().expect("temporary folder");
        assert!(matches!(Session::latest(root.path()), Err(SessionError::NoRun { .. })));
    }
}
