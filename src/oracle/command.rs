//! The process oracle: one program, run on one candidate after another.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use super::environment::Environment;
use super::process::{self, Bounds, Problem};
use super::scratch::Scratch;
use super::spec::Verdicts;
use super::{CommandSpec, GUARD, Invocation, Oracle, OracleError, Run, Sandbox, TIMEOUT};
use super::{guard, limits, orphans, sandbox, watchdog};

/// What stands for the candidate's path in an argument.
const PLACES: [&str; 2] = ["{}", "@@"];

/// How many times longer a run may take than the slowest that is known.
const SLACK: u32 = 10;

/// The least time that a run may take: below, what else the machine does matters more than the program.
const SHORTEST: Duration = Duration::from_secs(1);

/// How many times longer a run may take that is tried again.
const LONGER: u32 = 4;

/// Runs a program or script on each candidate, as a [`CommandSpec`] says.
///
/// Each run has a fresh folder as its working folder, which holds the candidate under the input's name, if it is given as a file, and
/// nothing else. The environment is that of this process, with what [`environment`](super::environment) puts right. The process
/// group is killed when time is up, and also when the program ends by itself: nothing
/// that runs in the background survives. On Linux that holds for daemons too, to which end this process becomes a child subreaper
/// (see `prctl(2)`, `PR_SET_CHILD_SUBREAPER`); what a host program starts
/// itself, in its own process group or before the run, is left alone.
///
/// Of each output 1 MiB is kept: the first half and the last half. Runs may overlap.
///
/// ```
/// use ddset::oracle::{CommandOracle, CommandSpec, Oracle, Outcome};
/// let mut spec = CommandSpec::program(["grep", "-q", "bug"]);
/// spec.fail.exit = vec![0];
/// let oracle = CommandOracle::new(spec)?;
/// assert_eq!(oracle.run(b"a bug")?.outcome, Outcome::Fail);
/// assert_eq!(oracle.run(b"fine")?.outcome, Outcome::Pass);
/// # Ok::<(), ddset::oracle::OracleError>(())
/// ```
pub struct CommandOracle {
    spec: CommandSpec,
    verdicts: Verdicts,
    program: PathBuf,
    arguments: Vec<String>,
    by_file: bool,
    by_stdin: bool,
    identity: String,
    scratch: Scratch,
    stop: Option<Arc<AtomicBool>>,
    environment: Environment,
    guard: Option<PathBuf>,
    /// What is run, as it was found: each file with what tells whether it is still the same.
    files: Vec<(PathBuf, Stamp)>,
    /// The longest run that was decided, in microseconds.
    slowest: AtomicU64,
    /// Whether that tells how long runs may take.
    settled: AtomicBool,
}

impl CommandOracle {
    /// Finds the program, reads it once for the [identity](Oracle::identity), and makes a folder for the runs where the
    /// system keeps temporary files (`TMPDIR`).
    ///
    /// A program's name without `/` is looked for in `PATH`. Other paths start from [`CommandSpec::base`]; so does an argument
    /// that holds a `/` or a `.` and names a file there, since the program's working folder is a different one.
    ///
    /// # Errors
    /// What [`CommandSpec::check`] finds; a program that is missing or cannot be executed; no room for temporary files.
    pub fn new(spec: CommandSpec) -> Result<Self, OracleError> {
        let verdicts = spec.verdicts()?;
        let base = std::path::absolute(&spec.base)
            .map_err(|error| OracleError::new(format!("the folder {} cannot be used: {error}", spec.base.display())))?;
        let (program, arguments) = match &spec.invocation {
            Invocation::Script { path } => (script(&base, path)?, vec![PLACES[0].to_owned()]),
            Invocation::Program { argv } => {
                let name = argv.first().map_or("", String::as_str);
                (find_program(&base, name)?, argv.iter().skip(1).map(|argument| rooted(&base, argument)).collect())
            }
        };
        let files = files(&program, &arguments);
        let identity = identity(&spec, &program, &files)?;
        let files = files.into_iter().map(|path| (path.clone(), Stamp::of(&path))).collect();
        let parent = std::env::temp_dir();
        let scratch = Scratch::new(&parent).map_err(|error| {
            OracleError::new(format!(
                "no folder for the runs can be made in {}: {error}; set TMPDIR to a folder with room",
                parent.display()
            ))
        })?;
        // Before: what watches must not become our child.
        watchdog::mark();
        orphans::adopt();
        let by_file = arguments.iter().any(|argument| PLACES.iter().any(|place| argument.contains(place)));
        let by_stdin = !by_file || matches!(spec.invocation, Invocation::Script { .. });
        let environment = Environment::new(&spec.env);
        Ok(Self {
            verdicts,
            program,
            arguments,
            by_file,
            by_stdin,
            identity,
            scratch,
            stop: None,
            environment,
            guard: None,
            files,
            slowest: AtomicU64::new(0),
            settled: AtomicBool::new(false),
            spec,
        })
    }

    /// A program that calls [`guard`] when its first argument is [`GUARD`]: without one, Bubblewrap cannot be used.
    #[must_use]
    pub fn with_guard(mut self, guard: PathBuf) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Chooses how runs are kept from doing harm.
    pub fn set_sandbox(&mut self, sandbox: Sandbox) {
        self.spec.sandbox = sandbox;
    }

    /// A run that was decided may take so long; its own runs are known to it already.
    pub fn learn_time(&self, elapsed: Duration) {
        self.slowest.fetch_max(micros(elapsed), Ordering::Relaxed);
    }

    /// From now on runs may take ten times as long as the slowest that was decided, and a second at least. Until then, or if
    /// none was decided or a timeout is the failure, it is [`TIMEOUT`]. Nothing changes if the spec says a time.
    pub fn settle_time(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    /// How long a run may take.
    pub fn time_limit(&self) -> Duration {
        let slowest = Duration::from_micros(self.slowest.load(Ordering::Relaxed));
        match self.spec.timeout {
            Some(timeout) => timeout,
            None if self.spec.timeout_is_fail || slowest.is_zero() || !self.settled.load(Ordering::Relaxed) => TIMEOUT,
            None => slowest.saturating_mul(SLACK).max(SHORTEST),
        }
    }

    /// How much memory a run may use, in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.spec.max_memory.unwrap_or_else(limits::default_memory)
    }

    /// Kills the run in flight as soon as the flag is set; the run is then an error, not an outcome.
    #[must_use]
    pub fn with_stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// What was asked for.
    pub fn spec(&self) -> &CommandSpec {
        &self.spec
    }

    /// How the oracle is asked, in words: for a person who wonders why it says what it says.
    pub fn describe(&self) -> Description {
        let folder = self.scratch.path().join("N");
        let file = folder.join(&self.spec.file_name);
        let mut command = quote(&self.program.to_string_lossy());
        for argument in &self.arguments {
            command.push(' ');
            command.push_str(&quote(&fill(argument, &file.to_string_lossy())));
        }
        let passed = match (self.by_file, self.by_stdin) {
            (true, true) => "as a file and on standard input",
            (true, false) => "as a file; standard input is empty",
            (false, _) => "on standard input",
        };
        let time = match (self.spec.timeout, self.spec.timeout_is_fail) {
            (None, false) => ", which follows from the runs and grows with them",
            _ => "",
        };
        let limits = format!(
            "{}{time}; {} MiB of memory; {} MiB for a file; no core dumps",
            humantime::format_duration(Duration::from_millis(self.time_limit().as_millis() as u64)),
            self.memory_limit() >> 20,
            limits::FILE_SIZE >> 20
        );
        let environment = self.environment.to_string();
        let sandbox = self.spec.sandbox;
        Description { command, folder, file, passed, limits, environment, sandbox, rules: self.spec.rules_in_words() }
    }

    fn start(&self, command: &mut Command, folder: &Path, timeout: Duration) -> Result<super::Process, OracleError> {
        let bounds = Bounds {
            folder,
            sandbox: self.spec.sandbox,
            timeout,
            memory: self.memory_limit(),
            stop: self.stop.as_deref(),
        };
        // A program that is being written right now ("text file busy") can be run a moment later.
        let mut patience = 50;
        loop {
            match process::run(command, &bounds) {
                Ok(process) => return Ok(process),
                Err(Problem::Start(error)) if error.kind() == ErrorKind::ExecutableFileBusy && patience > 0 => {
                    patience -= 1;
                    sleep(Duration::from_millis(10));
                }
                Err(Problem::Start(error)) if error.kind() == ErrorKind::Unsupported => {
                    return Err(OracleError::new(error.to_string()));
                }
                Err(Problem::Start(error)) => return Err(self.cannot_start(&error)),
                Err(Problem::Watch(error)) => {
                    return Err(OracleError::new(format!("{} cannot be watched: {error}", self.program.display())));
                }
                Err(Problem::Stopped) => return Err(OracleError::new("the run was stopped")),
            }
        }
    }

    fn cannot_start(&self, error: &io::Error) -> OracleError {
        let program = self.program.display();
        // ENOEXEC has no kind of its own.
        let no_format = error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error());
        let message = match error.kind() {
            _ if no_format => format!(
                "{program} is neither a program of this system nor a script with an interpreter: \
                 let its first line name one, such as #!/bin/sh"
            ),
            ErrorKind::NotFound if !self.program.exists() => format!("{program} is gone: it was there before"),
            ErrorKind::NotFound => format!(
                "{program} cannot be run: the interpreter that its first line (#!) names, or the loader that it needs, is missing"
            ),
            ErrorKind::PermissionDenied => not_executable(&self.program),
            ErrorKind::ArgumentListTooLong => format!("{program} cannot be run: its arguments are too long"),
            _ => format!("{program} cannot be run: {error}"),
        };
        OracleError::new(message)
    }
}

impl CommandOracle {
    /// One run that may take so long.
    fn attempt(&self, input: &[u8], timeout: Duration) -> Result<super::Process, OracleError> {
        let trouble = |path: &Path, error: &io::Error| {
            OracleError::new(format!(
                "the candidate cannot be put into {}: {error}; make room there, or set TMPDIR to another folder",
                path.display()
            ))
        };
        let folder = self.scratch.folder().map_err(|error| trouble(self.scratch.path(), &error))?;
        let file = folder.path().join(&self.spec.file_name);
        // Standard input needs no file; and it is no pipe that must be fed, and could break.
        let content = if self.by_file || !system::HAS_MEMORY_FILES {
            fs::write(&file, input).and_then(|()| File::open(&file))
        } else {
            system::memory_file(input)
        };
        let content = content.map_err(|error| trouble(&file, &error))?;
        let path = file.to_string_lossy();
        let arguments = self.arguments.iter().map(|argument| fill(argument, &path));
        let report = if self.spec.sandbox == Sandbox::Bubblewrap {
            Some(std::io::pipe().map_err(|error| OracleError::new(format!("no pipe can be made: {error}")))?)
        } else {
            None
        };
        let mut command = match &report {
            Some((_, told)) => {
                let mut command = self.bubblewrapped(folder.path(), told)?;
                command.arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        command.args(arguments).current_dir(folder.path());
        self.environment.apply(&mut command, folder.path(), watchdog::mark());
        command.stdin(if self.by_stdin { content.into() } else { Stdio::null() });
        let mut process = self.start(&mut command, folder.path(), timeout)?;
        if let Some((report, told)) = report {
            drop(told);
            self.read_report(report, &mut process)?;
        }
        Ok(process)
    }

    fn bubblewrapped(&self, folder: &Path, told: &std::io::PipeWriter) -> Result<Command, OracleError> {
        use std::os::fd::{AsFd, AsRawFd};
        let missing = || OracleError::new("bubblewrap (`bwrap`) is not in PATH: install the package bubblewrap");
        let mut command = Command::new(sandbox::bubblewrap().ok_or_else(missing)?);
        let guard =
            self.guard.as_ref().ok_or_else(|| OracleError::new("bubblewrap needs a guard: see `with_guard`"))?;
        let mut needed: Vec<PathBuf> = self.files.iter().map(|(path, _)| path.clone()).collect();
        needed.extend([self.program.parent().unwrap_or(&self.program).to_owned(), guard.clone()]);
        needed.extend(std::path::absolute(&self.spec.base).ok());
        command.args(sandbox::bubblewrap_arguments(folder, &needed)).arg(guard).arg(GUARD);
        // Another process that is started at this moment may inherit it, too, and does no harm with it.
        rustix::io::fcntl_setfd(told.as_fd(), rustix::io::FdFlags::empty())
            .map_err(|error| OracleError::new(format!("the guard's pipe: {error}")))?;
        command.arg(told.as_raw_fd().to_string());
        Ok(command)
    }

    /// Puts the program's end in the place of that of Bubblewrap.
    fn read_report(&self, mut report: std::io::PipeReader, process: &mut super::Process) -> Result<(), OracleError> {
        use std::io::Read;
        use std::os::unix::process::ExitStatusExt;
        let mut told = [0; 64];
        let _ = rustix::io::ioctl_fionbio(&report, true);
        let count = report.read(&mut told).unwrap_or(0);
        match guard::read(&String::from_utf8_lossy(&told[..count])) {
            Some(Ok(status)) => (process.exit, process.signal) = (status.code(), status.signal()),
            Some(Err(error)) => return Err(self.cannot_start(&error)),
            None if process.timed_out || process.out_of_memory => {}
            None => {
                let said = String::from_utf8_lossy(&process.stderr).trim().to_owned();
                return Err(OracleError::new(format!("bubblewrap does not work here: {said}; use --sandbox off")));
            }
        }
        Ok(())
    }

    /// That what is run is what it was.
    fn unchanged(&self) -> Result<(), OracleError> {
        let Some((path, _)) = self.files.iter().find(|(path, stamp)| Stamp::of(path) != *stamp) else { return Ok(()) };
        let what = if path.exists() { "was changed meanwhile" } else { "is gone: it was there before" };
        Err(OracleError::new(format!(
            "{} {what}. All that was found is kept; put it in order, then run again",
            path.display()
        )))
    }
}

impl Oracle for CommandOracle {
    fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
        self.unchanged()?;
        let mut limit = self.time_limit();
        let mut process = self.attempt(input, limit)?;
        // It was waiting rather than computing: for the processor, on a machine with much to do, or forever.
        if process.timed_out && self.spec.timeout.is_none() && process.cpu < limit / 2 {
            limit = limit.saturating_mul(LONGER);
            process = self.attempt(input, limit)?;
        }
        let (outcome, reason, other) = self.verdicts.judge(&process, limit);
        if !process.timed_out && outcome != super::Outcome::Unresolved {
            self.learn_time(process.elapsed);
        }
        Ok(Run { outcome, reason, other, process: Some(process) })
    }

    /// Covers what is run, the content of the program's or script's file, the rules, the timeout and the file name. It covers
    /// files that arguments name, too; not what the program reads or runs in turn, nor the environment outside, nor the sandbox.
    fn identity(&self) -> String {
        self.identity.clone()
    }
}

/// How an oracle is asked; prints as a few lines.
#[derive(Clone, Debug)]
pub struct Description {
    /// The command line as run, quoted for a shell. `N` in a path stands for the run's number.
    pub command: String,
    /// The working folder.
    pub folder: PathBuf,
    /// The candidate's path.
    pub file: PathBuf,
    /// How the candidate gets to the program.
    pub passed: &'static str,
    /// What a run may take.
    pub limits: String,
    /// How the environment differs from the caller's.
    pub environment: String,
    /// How a run is kept from doing harm.
    pub sandbox: Sandbox,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<String>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "command:   {}", self.command)?;
        writeln!(f, "folder:    {} (fresh for each run)", self.folder.display())?;
        writeln!(f, "candidate: {}, {}", self.file.display(), self.passed)?;
        writeln!(f, "sandbox:   {}", self.sandbox)?;
        writeln!(f, "limits:    {}", self.limits)?;
        writeln!(f, "environment: {}", self.environment)?;
        for rule in &self.rules {
            writeln!(f, "{rule}")?;
        }
        Ok(())
    }
}

/// In one pass: the path may itself hold what stands for it.
fn fill(argument: &str, path: &str) -> String {
    let [first, second] = PLACES;
    let filled: Vec<String> = argument.split(first).map(|part| part.replace(second, path)).collect();
    filled.join(path)
}

fn quote(argument: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_-./=:,+@%".contains(char);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// An argument that names a file in `base`, as an absolute path; any other as it is.
fn rooted(base: &Path, argument: &str) -> String {
    let path = base.join(argument);
    let looks_like_one = argument.contains(['/', '.']) && Path::new(argument).is_relative();
    match path.to_str() {
        Some(absolute) if looks_like_one && path.is_file() => absolute.to_owned(),
        _ => argument.to_owned(),
    }
}

fn script(base: &Path, path: &Path) -> Result<PathBuf, OracleError> {
    let path = tidy(&base.join(path));
    executable(&path).map(|()| path)
}

fn find_program(base: &Path, name: &str) -> Result<PathBuf, OracleError> {
    if name.contains('/') {
        let path = tidy(&base.join(name));
        return executable(&path).map(|()| path);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut refused = None;
    for folder in std::env::split_paths(&folders) {
        let path = base.join(folder).join(name);
        if executable(&path).is_ok() {
            return Ok(path);
        }
        if path.is_file() {
            refused = Some(path);
        }
    }
    Err(OracleError::new(match refused {
        Some(path) => not_executable(&path),
        None if base.join(name).is_file() => {
            format!("there is no program `{name}` in PATH; for the file in {}, write `./{name}`", base.display())
        }
        None => format!("there is no program `{name}` in PATH: install it, or give its path"),
    }))
}

/// Without the `.` parts, which would only make messages harder to read. `..` stays: before it may stand a link.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn executable(path: &Path) -> Result<(), OracleError> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => OracleError::new(format!("there is no {}: check the path", path.display())),
        _ => OracleError::new(format!("{} cannot be used: {error}", path.display())),
    })?;
    if metadata.is_dir() {
        return Err(OracleError::new(format!("{} is a folder, not a program", path.display())));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(OracleError::new(not_executable(path)));
    }
    Ok(())
}

fn not_executable(path: &Path) -> String {
    format!("{0} is not executable: run `chmod +x {1}`", path.display(), quote(&path.to_string_lossy()))
}

/// The program, and the files that its arguments name.
fn files(program: &Path, arguments: &[String]) -> Vec<PathBuf> {
    let named = arguments.iter().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file());
    std::iter::once(program.to_owned()).chain(named).collect()
}

/// What tells one state of a file from another, without reading it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp(Option<(u64, u64, u64, i64, i64)>);

impl Stamp {
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let data = fs::metadata(path).ok();
        Self(data.map(|data| (data.dev(), data.ino(), data.size(), data.mtime(), data.mtime_nsec())))
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn identity(spec: &CommandSpec, program: &Path, files: &[PathBuf]) -> Result<String, OracleError> {
    let unreadable =
        |error: &dyn fmt::Display| OracleError::new(format!("{} cannot be read: {error}", program.display()));
    // Where it lies does not matter to what it says.
    let portable = CommandSpec { base: PathBuf::new(), sandbox: Sandbox::Off, ..spec.clone() };
    let asked = serde_json::to_vec(&portable).map_err(|error| unreadable(&error))?;
    let mut hash = blake3::Hasher::new();
    hash.update(&(asked.len() as u64).to_le_bytes()).update(&asked);
    match File::open(program) {
        Ok(file) => drop(hash.update_reader(file).map_err(|error| unreadable(&error))?),
        // A program may be executable and not readable; then its path must do.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            hash.update(program.as_os_str().as_encoded_bytes());
        }
        Err(error) => return Err(unreadable(&error)),
    }
    for path in &files[1..] {
        // One that cannot be read cannot be read by the program either.
        if let Ok(file) = File::open(path) {
            hash.update_reader(file).map_err(|error| unreadable(&error))?;
        }
    }
    Ok(hash.finalize().to_hex().to_string())
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io::{self, Seek, Write};

    use rustix::fs::{MemfdFlags, memfd_create};

    pub(super) const HAS_MEMORY_FILES: bool = true;

    /// A file without a place on the disk.
    pub(super) fn memory_file(content: &[u8]) -> io::Result<File> {
        let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
        file.write_all(content)?;
        file.rewind()?;
        Ok(file)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) const HAS_MEMORY_FILES: bool = false;

    pub(super) fn memory_file(_: &[u8]) -> std::io::Result<std::fs::File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests;
