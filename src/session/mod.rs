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
pub use journal::{Journal, Step};

/// The form of the files in a run's folder.
const VERSION: u32 = 1;

const REQUEST: &str = "request.json";
const LATEST: &str = "latest";
const JOURNAL: &str = "journal";
const REDUCED: &str = "reduced.json";
const REPORT: &str = "report.json";

/// Where inputs that fail in another way are kept.
const OTHERS: &str = "others";

/// What such an input fails with.
const FAILURE: &str = "failure.txt";
const PATTERN: &str = "pattern.json";
const LOCK: &str = "lock";

/// How the name of a file begins that is to replace another, until it does.
const UNFINISHED: &str = ".new-";

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
    /// Whatever else changes the result. Fractions belong in here as text: as numbers, JSON may give back another last digit.
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
    /// The input's name would lead out of the folder.
    #[error("the input's name `{name}` is not a plain file name: rename it")]
    Name {
        /// The name.
        name: String,
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
    earlier_hints: BTreeMap<String, serde_json::Value>,
    lock: File,
}

impl Session {
    /// Opens the folder of this request below `root` and makes it the latest; makes it if the request is new.
    ///
    /// # Errors
    /// When another process holds it, or files cannot be read or written.
    pub fn open(root: &Path, request: Request) -> Result<Self, SessionError> {
        check_name(request.file_name())?;
        make_root(root)?;
        let hash = request.hash().map_err(|error| fails(root, "written")(error.into()))?;
        let name = &hash[..NAME_DIGITS];
        let folder = root.join(name);
        fs::create_dir_all(&folder).map_err(fails(&folder, "made"))?;
        let lock = hold(&folder)?;
        // The request is written last: a folder without it was not finished, and is new.
        let mut earlier_hints = BTreeMap::new();
        let resumed = match read(&folder.join(REQUEST))? {
            Some(text) => {
                check_version(&folder, &text)?;
                let stored: Stored<serde_json::Value> = parse(&folder, REQUEST, &text)?;
                if stored.hash != hash {
                    let what = "it is another request, whose name happens to be the same".to_owned();
                    return Err(SessionError::Damaged { path: folder.join(REQUEST), what, folder });
                }
                let hints = stored.request.get("hints").cloned().unwrap_or_default();
                earlier_hints = serde_json::from_value(hints).unwrap_or_default();
                true
            }
            None => false,
        };
        let session = Self { folder, request, resumed, earlier_hints, lock };
        session.sweep();
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
        check_version(&folder, &text)?;
        let stored: Stored<Request> = parse(&folder, REQUEST, &text)?;
        let mut request = stored.request;
        check_name(request.file_name())?;
        let input = folder.join("input").join(request.file_name());
        let damaged =
            |what: &str| SessionError::Damaged { path: input.clone(), what: what.to_owned(), folder: folder.clone() };
        request.input = read(&input)?.ok_or_else(|| damaged("the input is missing"))?;
        if request.hash().ok().as_ref() != Some(&stored.hash) {
            return Err(damaged("it and request.json do not belong together"));
        }
        Self::open(root, request)
    }

    /// Whether the folder was there before, so that the run goes on.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// The [hints](Request::hints) of the process that worked here before; empty for a new request.
    pub fn earlier_hints(&self) -> &BTreeMap<String, serde_json::Value> {
        &self.earlier_hints
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

    /// The steps of the reduction so far, in their order.
    ///
    /// # Errors
    /// When the journal cannot be read, or is of another version.
    pub fn steps(&self) -> Result<Vec<Step>, SessionError> {
        self.journal()?.steps().map_err(fails(&self.folder.join(JOURNAL), "read"))
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

    /// Keeps an input that fails in another way, beside what it fails with, if none as small is known to do so.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_other(&self, failure: &str, input: &[u8]) -> Result<(), SessionError> {
        let folder = self.folder.join(OTHERS).join(slug(failure));
        let path = folder.join(self.request.file_name());
        if fs::metadata(&path).is_ok_and(|known| known.len() <= input.len() as u64) {
            return Ok(());
        }
        fs::create_dir_all(&folder).map_err(fails(&folder, "made"))?;
        replace(&folder.join(FAILURE), failure.as_bytes())?;
        replace(&path, input)
    }

    /// The other failures that were met: what each is, and the smallest input that showed it.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn others(&self) -> Result<Vec<(String, PathBuf)>, SessionError> {
        let folder = self.folder.join(OTHERS);
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            if let Some(failure) = read(&entry.path().join(FAILURE))? {
                let failure = String::from_utf8_lossy(&failure).into_owned();
                found.push((failure, entry.path().join(self.request.file_name())));
            }
        }
        found.sort_unstable();
        Ok(found)
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

    /// The pattern's JSON, if there is one.
    ///
    /// # Errors
    /// When it is there and cannot be read, or is no text.
    pub fn load_pattern(&self) -> Result<Option<String>, SessionError> {
        let Some(json) = read(&self.pattern_path())? else { return Ok(None) };
        String::from_utf8(json).map(Some).map_err(|error| SessionError::Damaged {
            path: self.pattern_path(),
            what: format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()),
            folder: self.folder.clone(),
        })
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

    /// The report, if one was kept.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn load_report(&self) -> Result<Option<serde_json::Value>, SessionError> {
        let Some(text) = read(&self.report_path())? else { return Ok(None) };
        parse(&self.folder, REPORT, &text).map(Some)
    }

    /// Where the report is kept.
    pub fn report_path(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// Removes replacements that a killed process did not finish. Only what holds the folder may do so.
    fn sweep(&self) {
        let folders = ["", "input", "best", "reduced"].map(|kind| self.folder.join(kind));
        let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        for file in files {
            let name = file.file_name();
            // An input may be named so, too.
            let unfinished = name.to_string_lossy().starts_with(UNFINISHED) && name != *self.request.file_name();
            if unfinished && file.file_type().is_ok_and(|kind| kind.is_file()) {
                // It only takes room: that it stays is no reason to stop.
                let _ = fs::remove_file(file.path());
            }
        }
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

/// Of another version, nothing but the version itself need be there.
fn check_version(folder: &Path, text: &[u8]) -> Result<(), SessionError> {
    match parse::<Version>(folder, REQUEST, text)?.version {
        VERSION => Ok(()),
        found => Err(SessionError::Version { path: folder.join(REQUEST), found }),
    }
}

/// The name becomes part of paths in the folder.
fn check_name(name: &str) -> Result<(), SessionError> {
    let plain = Path::new(name).file_name().is_some_and(|last| last == name) && !name.contains('\0');
    if plain { Ok(()) } else { Err(SessionError::Name { name: name.to_owned() }) }
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
/// A folder's name for a failure: its beginning for a person, its hash to tell it from others.
fn slug(failure: &str) -> String {
    let words: String = failure.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let hash = blake3::hash(failure.as_bytes()).to_hex();
    format!("{}-{}", words.trim_matches('-'), &hash[..8])
}

fn replace(path: &Path, content: &[u8]) -> Result<(), SessionError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        // With the rights of any new file of the user; temporary files are for their owner alone otherwise.
        let rights = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).permissions(rights).tempfile_in(folder)?;
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
        let unfinished = ["best/.new-x", ".new-y"].map(|name| session.folder().join(name));
        unfinished.iter().for_each(|path| fs::write(path, "torn").unwrap());
        drop(session);
        let session = Session::open(root.path(), request()).unwrap();
        assert!(unfinished.iter().all(|path| !path.exists()));
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
        assert_eq!(session.load_pattern().unwrap(), None);
        session.save_pattern("{}").unwrap();
        session.save_report(&serde_json::json!({"runs": 3})).unwrap();
        assert_eq!(session.load_pattern().unwrap().as_deref(), Some("{}"));
        fs::write(session.pattern_path(), b"{\xff").unwrap();
        let message = session.load_pattern().unwrap_err().to_string();
        assert!(message.contains("pattern.json") && message.contains("byte 1"), "{message}");
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
        fs::write(folder.join(REQUEST), r#"{"version": 9}"#).unwrap();
        assert!(matches!(Session::latest(root.path()), Err(SessionError::Version { found: 9, .. })));
        assert!(matches!(Session::open(root.path(), request()), Err(SessionError::Version { found: 9, .. })));
    }

    #[test]
    fn what_changes_results_makes_another_folder_and_nothing_else_does() {
        let root = tempfile::tempdir().unwrap();
        let folder = |change: fn(&mut Request)| {
            let mut request = request();
            change(&mut request);
            Session::open(root.path(), request).unwrap().folder().to_owned()
        };
        let first = folder(|_| {});
        let others = [
            folder(|request| request.grammar_text.push(' ')),
            folder(|request| request.start = Some(String::new())),
            folder(|request| request.oracle_identity.push('2')),
            folder(|request| request.oracle.file_name.push('2')),
            folder(|request| request.input.push(b' ')),
            folder(|request| request.seed = 2),
            folder(|request| request.options.clear()),
            // A byte that moves from one part to the next.
            folder(|request| {
                request.oracle.file_name.push('a');
                request.input.remove(0);
            }),
            first.clone(),
        ];
        let distinct: std::collections::BTreeSet<_> = others.iter().collect();
        assert_eq!(distinct.len(), others.len());
        assert_eq!(folder(|request| request.grammar = "./text".to_owned()), first);
        assert_eq!(folder(|request| request.oracle.base = "/elsewhere".into()), first);
        assert_eq!(folder(|request| request.input_path = "elsewhere/a.txt".into()), first);
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let root = tempfile::tempdir().unwrap();
        for name in ["", ".", "..", "../a", "a/b", "a/", "/a", "a\0"] {
            let mut request = request();
            request.oracle.file_name = name.to_owned();
            assert!(matches!(Session::open(root.path(), request), Err(SessionError::Name { .. })), "{name}");
        }
        // Nothing was made, and these are files like others.
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        for name in [".new-x", "request.json", "a b\n", "-", "…"] {
            let mut request = request();
            request.oracle.file_name = name.to_owned();
            Session::open(root.path(), request.clone()).unwrap().save_best(b"b").unwrap();
            let session = Session::latest(root.path()).unwrap();
            assert_eq!((session.request(), session.best().unwrap().as_deref()), (&request, Some(&b"b"[..])));
        }
    }

    #[test]
    fn the_best_is_whole_whenever_it_is_read() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::open(root.path(), request()).unwrap();
        let contents = |size: usize| vec![size as u8; size * 1000];
        session.save_best(&contents(1)).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (1..200).rev().try_for_each(|size| session.save_best(&contents(size))));
            while !writer.is_finished() {
                let best = fs::read(session.best_path()).unwrap();
                assert_eq!(best, contents(best[0].into()));
            }
            writer.join().unwrap().unwrap();
        });
    }

    #[test]
    fn many_at_once_share_a_root_and_one_has_a_folder() {
        let top = tempfile::tempdir().unwrap();
        // Not there yet: each of them may be the one that makes it.
        let root = top.path().join("deep/root");
        let opened: Vec<_> = std::thread::scope(|scope| {
            let open = |seed: u64| {
                let root = &root;
                scope.spawn(move || Session::open(root, Request { seed, ..request() }))
            };
            let threads: Vec<_> = (0..16).map(|index| open(index % 8)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let locked = |result: &&Result<Session, SessionError>| matches!(result, Err(SessionError::Locked { .. }));
        assert_eq!(
            (opened.iter().filter(|result| result.is_ok()).count(), opened.iter().filter(locked).count()),
            (8, 8)
        );
        drop(opened);
        assert!(Session::latest(&root).unwrap().request().seed < 8);
    }

    /// The process that the test below kills: it works in a session without end.
    #[test]
    #[ignore = "run by the test that kills it"]
    fn victim() {
        let Some(root) = std::env::var_os("DDSET_TEST_ROOT") else { return };
        let session = Session::open(Path::new(&root), request()).unwrap();
        let mut journal = session.journal().unwrap();
        for ordinal in journal.len() as u32.. {
            journal.record(&Key::of(b"x"), ordinal, Outcome::Fail, "reduce", 1, 10).unwrap();
            session.save_best(&ordinal.to_le_bytes().repeat(10_000)).unwrap();
        }
    }

    #[test]
    fn killed_at_any_moment_the_next_goes_on() {
        let root = tempfile::tempdir().unwrap();
        let mut known = 0;
        for round in 0..6 {
            let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "session::tests::victim", "--ignored"])
                .env("DDSET_TEST_ROOT", root.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let best = |root: &Path| {
                let folder = fs::read_dir(root).ok()?.flatten().find(|entry| entry.path().is_dir())?.path();
                fs::read(folder.join("best/a.txt")).ok()
            };
            let before = best(root.path());
            while best(root.path()) == before {
                assert!(victim.try_wait().unwrap().is_none(), "it ended by itself");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            let held = Session::open(root.path(), request()).unwrap_err().to_string();
            assert!(held.contains(&format!("process {}", victim.id())), "{held}");
            std::thread::sleep(std::time::Duration::from_micros(700 * round));
            victim.kill().unwrap();
            victim.wait().unwrap();

            let session = Session::open(root.path(), request()).unwrap();
            assert!(session.resumed());
            let journal = session.journal().unwrap();
            assert!(journal.len() > known);
            known = journal.len();
            assert!((0..known as u32).all(|ordinal| journal.lookup(&Key::of(b"x"), ordinal) == Some(Outcome::Fail)));
            let best = session.best().unwrap().unwrap();
            let ordinal = u32::from_le_bytes(best[..4].try_into().unwrap());
            assert_eq!(best, ordinal.to_le_bytes().repeat(10_000));
            // A gain is kept after the run that it comes from.
            assert!(ordinal + 2 >= known as u32 && ordinal < known as u32, "{ordinal} of {known}");
        }
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
