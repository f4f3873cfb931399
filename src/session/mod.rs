//! A run's folder: what was asked, each outcome, the best input so far, the results. Whatever ends the process, the next one goes
//! on from there.
//!
//! ```text
//! .ddset/            the root: one folder for each request
//!   latest           the name of the one last used
//!   3f2a90c1d07e/    named by a hash of the request
//!     request.json   what was asked, enough to go on without arguments
//!     input/NAME     the input
//!     journal        each run's outcome; appended to
//!     best/NAME      the smallest failing input so far
//!     reduced/NAME   the end of a reduction; reduced.json says how far it is proven
//!     pattern.json   the pattern
//!     report.json    the figures
//!     lock           held by the process that works here
//! ```
//!
//! Files are replaced whole: written beside, synced, renamed. It knows bytes and text: no grammar, no tree.

pub mod config;
mod journal;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::oracle::CommandSpec;
pub use journal::Journal;

/// The form of the files in a run's folder.
const VERSION: u32 = 1;

const REQUEST: &str = "request.json";
const LATEST: &str = "latest";
const JOURNAL: &str = "journal";
const REDUCED: &str = "reduced.json";
const REPORT: &str = "report.json";
const PATTERN: &str = "pattern.json";
const LOCK: &str = "lock";

/// How many hexadecimal digits of the request's hash name its folder.
const NAME_DIGITS: usize = 12;

/// What was asked: enough to ask it again without arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The grammar's name or file, as the user gave it.
    pub grammar: String,
    /// The grammar's text.
    pub grammar_text: String,
    /// The start symbol; `None` for the grammar's own.
    #[serde(default)]
    pub start: Option<String>,
    /// The oracle.
    pub oracle: CommandSpec,
    /// The oracle's [identity](crate::oracle::Oracle::identity): it covers the content of its program.
    pub oracle_identity: String,
    /// Where the input came from.
    pub input_path: PathBuf,
    /// The input; kept in a file of its own.
    #[serde(skip)]
    pub input: Vec<u8>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whatever else changes the result.
    #[serde(default)]
    pub options: BTreeMap<String, serde_json::Value>,
    /// What does not change the result, and is kept nonetheless: the number of jobs, for instance. Two requests that differ
    /// only here are one.
    #[serde(default)]
    pub hints: BTreeMap<String, serde_json::Value>,
}

impl Request {
    /// The file name under which the input and its reductions are kept.
    pub fn file_name(&self) -> &str {
        &self.oracle.file_name
    }

    /// The request's hash, in hexadecimal digits. Paths are not part of it: what they lead to is.
    fn hash(&self) -> Result<String, serde_json::Error> {
        let asked = (&self.grammar_text, &self.start, &self.oracle_identity, self.seed, &self.options);
        let asked = serde_json::to_vec(&(VERSION, asked, self.file_name()))?;
        let mut hash = blake3::Hasher::new();
        hash.update(&(asked.len() as u64).to_le_bytes()).update(&asked).update(&self.input);
        Ok(hash.finalize().to_hex().to_string())
    }
}

/// `request.json`.
#[derive(Serialize, Deserialize)]
struct Stored<R> {
    version: u32,
    hash: String,
    request: R,
}

/// The end of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The reduced input.
    pub input: Vec<u8>,
    /// Whether a last pass proved that no single step makes it smaller.
    pub proven: bool,
}

/// `reduced.json`: written after the input, and tells whether the two belong together.
#[derive(Serialize, Deserialize)]
struct ReducedMark {
    proven: bool,
    hash: String,
}

/// What is wrong with a run's folder, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The file system refused something.
    #[error("{path} cannot be {what}: {source}; {advice}", path = path.display(), advice = advice(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was to be done with it ("read", "written").
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Another process works in the folder.
    #[error("another ddset{owner} works in {path}: wait for it, or stop it first", path = path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
        /// " (process 123)", or nothing if that is not known.
        owner: String,
    },
    /// A file does not hold what it should.
    #[error("{path} is damaged: {what}; remove {folder} to start afresh", path = path.display(), folder = folder.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// The run's folder.
        folder: PathBuf,
    },
    /// The folder is of another version of ddset.
    #[error("{path} is in form {found}, and this ddset knows form {VERSION}: use the ddset that wrote it, or another folder", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its form.
        found: u32,
    },
    /// There is nothing to go on with.
    #[error("there is no earlier run in {path}: say what to reduce, or which folder the run is in", path = root.display())]
    NoLatest {
        /// Where it was looked for.
        root: PathBuf,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, then run again: it goes on from here",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "use a folder that you may write to",
        _ => "check the folder, or use another",
    }
}

fn fails(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> SessionError {
    move |source| SessionError::Io { path: path.to_owned(), what, source }
}

/// A run's folder, held by this process until dropped.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    request: Request,
    resumed: bool,
    lock: File,
}

impl Session {
    /// Opens the folder of this request below `root` and makes it the latest; makes it if the request is new.
    ///
    /// # Errors
    /// When another process holds it, or files cannot be read or written.
    pub fn open(root: &Path, request: Request) -> Result<Self, SessionError> {
        make_root(root)?;
        let hash = request.hash().map_err(|error| fails(root, "written")(error.into()))?;
        let name = &hash[..NAME_DIGITS];
        let folder = root.join(name);
        fs::create_dir_all(&folder).map_err(fails(&folder, "made"))?;
        let lock = hold(&folder)?;
        // The request is written last: a folder without it was not finished, and is new.
        let resumed = match read(&folder.join(REQUEST))? {
            Some(text) => {
                let stored: Stored<serde_json::Value> = parse(&folder, REQUEST, &text)?;
                check_version(&folder, stored.version)?;
                if stored.hash != hash {
                    let what = "it is another request, whose name happens to be the same".to_owned();
                    return Err(SessionError::Damaged { path: folder.join(REQUEST), what, folder });
                }
                true
            }
            None => false,
        };
        let session = Self { folder, request, resumed, lock };
        session.keep("input", &session.request.input)?;
        session.replace_json(REQUEST, &Stored { version: VERSION, hash: hash.clone(), request: &session.request })?;
        replace(&root.join(LATEST), format!("{name}\n").as_bytes())?;
        Ok(session)
    }

    /// Opens the folder below `root` that was last used.
    ///
    /// The oracle's program may have changed since: who goes on compares the identity in the request with the oracle's, and opens a
    /// new request if they differ.
    ///
    /// # Errors
    /// When there is none, or as [`Session::open`].
    pub fn latest(root: &Path) -> Result<Self, SessionError> {
        let none = || SessionError::NoLatest { root: root.to_owned() };
        let name = read(&root.join(LATEST))?.ok_or_else(none)?;
        let name = String::from_utf8_lossy(&name);
        let name = name.trim();
        // It becomes part of a path.
        if name.is_empty() || !name.chars().all(|char| char.is_ascii_hexdigit()) {
            return Err(none());
        }
        let folder = root.join(name);
        let text = read(&folder.join(REQUEST))?.ok_or_else(none)?;
        let version: Version = parse(&folder, REQUEST, &text)?;
        check_version(&folder, version.version)?;
        let stored: Stored<Request> = parse(&folder, REQUEST, &text)?;
        let mut request = stored.request;
        let input = folder.join("input").join(request.file_name());
        let damaged =
            |what: &str| SessionError::Damaged { path: input.clone(), what: what.to_owned(), folder: folder.clone() };
        request.input = read(&input)?.ok_or_else(|| damaged("the input is missing"))?;
        if request.hash().ok().as_ref() != Some(&stored.hash) {
            return Err(damaged("it is not the input that was asked about"));
        }
        Self::open(root, request)
    }

    /// Whether the folder was there before, so that the run goes on.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// What was asked.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The outcomes so far, and where new ones go. To be used no longer than the session, which holds the folder.
    ///
    /// # Errors
    /// When it cannot be read or written, or is of another version.
    pub fn journal(&self) -> Result<Journal, SessionError> {
        Journal::open(&self.folder.join(JOURNAL))
    }

    /// Keeps the best input so far.
    ///
    /// # Errors
    /// When it cannot be written; the one before it is still whole then.
    pub fn save_best(&self, input: &[u8]) -> Result<(), SessionError> {
        self.keep("best", input)
    }

    /// Where the best input is kept.
    pub fn best_path(&self) -> PathBuf {
        self.folder.join("best").join(self.request.file_name())
    }

    /// The best input so far.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn best(&self) -> Result<Option<Vec<u8>>, SessionError> {
        read(&self.best_path())
    }

    /// Keeps the end of a reduction; it is the best input too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark_reduced(&self, input: &[u8], proven: bool) -> Result<(), SessionError> {
        self.save_best(input)?;
        self.keep("reduced", input)?;
        self.replace_json(REDUCED, &ReducedMark { proven, hash: blake3::hash(input).to_hex().to_string() })
    }

    /// The end of the reduction, if it came to one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn reduced(&self) -> Result<Option<Reduced>, SessionError> {
        let Some(text) = read(&self.folder.join(REDUCED))? else { return Ok(None) };
        let mark: ReducedMark = parse(&self.folder, REDUCED, &text)?;
        let input = read(&self.folder.join("reduced").join(self.request.file_name()))?;
        // A process that ended between the two writes leaves a mark that is not this input's.
        let input = input.filter(|input| blake3::hash(input).to_hex().as_str() == mark.hash);
        Ok(input.map(|input| Reduced { input, proven: mark.proven }))
    }

    /// Keeps the pattern.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_pattern(&self, json: &str) -> Result<(), SessionError> {
        replace(&self.pattern_path(), json.as_bytes())
    }

    /// Where the pattern is kept.
    pub fn pattern_path(&self) -> PathBuf {
        self.folder.join(PATTERN)
    }

    /// Keeps the report.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_report(&self, report: &serde_json::Value) -> Result<(), SessionError> {
        self.replace_json(REPORT, report)
    }

    /// Where the report is kept.
    pub fn report_path(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    fn keep(&self, kind: &str, input: &[u8]) -> Result<(), SessionError> {
        let folder = self.folder.join(kind);
        fs::create_dir_all(&folder).map_err(fails(&folder, "made"))?;
        replace(&folder.join(self.request.file_name()), input)
    }

    fn replace_json(&self, name: &str, value: &impl Serialize) -> Result<(), SessionError> {
        let path = self.folder.join(name);
        let mut text = serde_json::to_vec_pretty(value).map_err(|error| fails(&path, "written")(error.into()))?;
        text.push(b'\n');
        replace(&path, &text)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Closing alone would not do: a process that is being started at this moment has a copy of the file for an instant.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn check_version(folder: &Path, found: u32) -> Result<(), SessionError> {
    if found == VERSION {
        return Ok(());
    }
    Err(SessionError::Version { path: folder.join(REQUEST), found })
}

fn make_root(root: &Path) -> Result<(), SessionError> {
    if root.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(root).map_err(fails(root, "made"))?;
    // It lies beside the user's files, and is nothing to check in.
    let ignore = root.join(".gitignore");
    fs::write(&ignore, "*\n").map_err(fails(&ignore, "written"))
}

/// Takes the folder's lock. The system frees it when its holder ends, however that happens; the number in it is for people.
fn hold(folder: &Path) -> Result<File, SessionError> {
    let path = folder.join(LOCK);
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
    let mut lock = options.open(&path).map_err(fails(&path, "opened"))?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut owner = String::new();
            let _ = lock.read_to_string(&mut owner);
            let owner = owner.trim().parse::<u32>().map_or(String::new(), |pid| format!(" (process {pid})"));
            return Err(SessionError::Locked { path: folder.to_owned(), owner });
        }
        Err(error) => return Err(fails(&path, "locked")(error.into())),
    }
    lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id())).map_err(fails(&path, "written"))?;
    Ok(lock)
}

/// The file's content; `None` if there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, SessionError> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fails(path, "read")(error)),
    }
}

/// Replaces a file as a whole: at any moment there is the old content or the new.
fn replace(path: &Path, content: &[u8]) -> Result<(), SessionError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        // With the rights of any new file of the user; temporary files are for their owner alone otherwise.
        let rights = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let mut file = tempfile::Builder::new().prefix(".new-").permissions(rights).tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(fails(path, "written"))
}

fn parse<T: serde::de::DeserializeOwned>(folder: &Path, name: &str, text: &[u8]) -> Result<T, SessionError> {
    serde_json::from_slice(text).map_err(|error| SessionError::Damaged {
        path: folder.join(name),
        what: error.to_string(),
        folder: folder.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Outcome;
    use crate::search::{Key, Memory};

    fn request() -> Request {
        let mut oracle = CommandSpec::program(["grep", "bug"]);
        oracle.file_name = "a.txt".to_owned();
        Request {
            grammar: "text".to_owned(),
            grammar_text: "text = .*".to_owned(),
            start: None,
            oracle,
            oracle_identity: "1".to_owned(),
            input_path: PathBuf::from("in/a.txt"),
            input: b"a \xff bug".to_vec(),
            seed: 1,
            options: BTreeMap::from([("samples".to_owned(), 100.into())]),
            hints: BTreeMap::new(),
        }
    }

    #[test]
    fn a_request_is_found_again() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::open(root.path(), request()).unwrap();
        assert!(!session.resumed());
        let folder = session.folder().to_owned();
        drop(session);
        let again = Session::open(root.path(), request()).unwrap();
        assert!(again.resumed() && again.folder() == folder);
        drop(again);
        let mut other = request();
        other.seed = 2;
        let other = Session::open(root.path(), other).unwrap();
        assert!(!other.resumed() && other.folder() != folder);
    }

    #[test]
    fn hints_do_not_make_another_request() {
        let root = tempfile::tempdir().unwrap();
        drop(Session::open(root.path(), request()).unwrap());
        let mut hinted = request();
        hinted.hints.insert("jobs".to_owned(), 4.into());
        assert!(Session::open(root.path(), hinted.clone()).unwrap().resumed());
        assert_eq!(Session::latest(root.path()).unwrap().request(), &hinted);
    }

    #[test]
    fn the_latest_needs_no_arguments() {
        let root = tempfile::tempdir().unwrap();
        assert!(matches!(Session::latest(root.path()), Err(SessionError::NoLatest { .. })));
        drop(Session::open(root.path(), request()).unwrap());
        let latest = Session::latest(root.path()).unwrap();
        assert!(latest.resumed());
        assert_eq!(latest.request(), &request());
    }

    #[test]
    fn a_folder_is_held_by_one() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::open(root.path(), request()).unwrap();
        let message = Session::open(root.path(), request()).unwrap_err().to_string();
        assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
        drop(session);
        Session::open(root.path(), request()).unwrap();
    }

    #[test]
    fn the_lock_of_the_dead_is_taken_over() {
        let root = tempfile::tempdir().unwrap();
        let folder = Session::open(root.path(), request()).unwrap().folder().to_owned();
        fs::write(folder.join(LOCK), "2000000000\n").unwrap();
        drop(Session::open(root.path(), request()).unwrap());
        assert_eq!(fs::read_to_string(folder.join(LOCK)).unwrap(), format!("{}\n", std::process::id()));
    }

    #[test]
    fn what_was_kept_is_there_after_a_kill() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::open(root.path(), request()).unwrap();
        assert_eq!((session.best().unwrap(), session.reduced().unwrap()), (None, None));
        session.journal().unwrap().record(&Key::of(b"x"), 0, Outcome::Fail, "reduce", 1, 10).unwrap();
        session.save_best(b"abc").unwrap();
        session.save_best(b"\xff").unwrap();
        // What a killed process may leave: a replacement that was not finished.
        fs::write(session.folder().join("best/.new-x"), "torn").unwrap();
        drop(session);
        let session = Session::open(root.path(), request()).unwrap();
        assert_eq!(session.best().unwrap().as_deref(), Some(&b"\xff"[..]));
        assert_eq!(session.journal().unwrap().lookup(&Key::of(b"x"), 0), Some(Outcome::Fail));
    }

    #[test]
    fn a_reduction_is_whole_or_not_there() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::open(root.path(), request()).unwrap();
        session.mark_reduced(b"x", true).unwrap();
        assert_eq!(session.reduced().unwrap(), Some(Reduced { input: b"x".to_vec(), proven: true }));
        assert_eq!(session.best().unwrap().as_deref(), Some(&b"x"[..]));
        session.keep("reduced", b"y").unwrap();
        assert_eq!(session.reduced().unwrap(), None);
    }

    #[test]
    fn results_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::open(root.path(), request()).unwrap();
        session.save_pattern("{}").unwrap();
        session.save_report(&serde_json::json!({"runs": 3})).unwrap();
        assert_eq!(fs::read_to_string(session.pattern_path()).unwrap(), "{}");
        assert!(fs::read_to_string(session.report_path()).unwrap().contains("\"runs\": 3"));
        assert_eq!(fs::read_to_string(root.path().join(LATEST)).unwrap().len(), NAME_DIGITS + 1);
    }

    #[test]
    fn damage_and_other_versions_are_said() {
        let root = tempfile::tempdir().unwrap();
        let folder = Session::open(root.path(), request()).unwrap().folder().to_owned();
        fs::write(folder.join("input/a.txt"), "other").unwrap();
        assert!(matches!(Session::latest(root.path()), Err(SessionError::Damaged { .. })));
        fs::write(folder.join(REQUEST), "{").unwrap();
        let message = Session::open(root.path(), request()).unwrap_err().to_string();
        assert!(message.contains("remove"), "{message}");
        fs::write(folder.join(REQUEST), r#"{"version": 9, "hash": "", "request": {}}"#).unwrap();
        assert!(matches!(Session::latest(root.path()), Err(SessionError::Version { found: 9, .. })));
    }

    #[test]
    fn a_root_that_cannot_be_is_named() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let message = Session::open(&file, request()).unwrap_err().to_string();
        assert!(message.contains(&file.display().to_string()), "{message}");
    }
}
