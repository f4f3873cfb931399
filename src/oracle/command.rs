//! The process oracle: one program, run on one candidate after another.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use super::process::{self, Problem};
use super::scratch::Scratch;
use super::spec::Verdicts;
use super::{CommandSpec, Invocation, Oracle, OracleError, Run, orphans};

/// What stands for the candidate's path in an argument.
const PLACES: [&str; 2] = ["{}", "@@"];

/// Runs a program or script on each candidate, as a [`CommandSpec`] says.
///
/// Each run has a fresh folder as its working folder, which holds the candidate under the input's name and nothing else. The
/// environment is inherited. The process group is killed when time is up, and also when the program ends by itself: nothing
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
        let identity = identity(&spec, &program)?;
        let parent = std::env::temp_dir();
        let scratch = Scratch::new(&parent).map_err(|error| {
            OracleError::new(format!(
                "no folder for the runs can be made in {}: {error}; set TMPDIR to a folder with room",
                parent.display()
            ))
        })?;
        orphans::adopt();
        let by_file = arguments.iter().any(|argument| PLACES.iter().any(|place| argument.contains(place)));
        let by_stdin = !by_file || matches!(spec.invocation, Invocation::Script { .. });
        Ok(Self { verdicts, program, arguments, by_file, by_stdin, identity, scratch, stop: None, spec })
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
        Description { command, folder, file, passed, rules: self.spec.rules_in_words() }
    }

    fn start(&self, command: &mut Command, folder: &Path) -> Result<super::Process, OracleError> {
        // A program that is being written right now ("text file busy") can be run a moment later.
        let mut patience = 50;
        loop {
            match process::run(command, folder, self.spec.timeout, self.stop.as_deref()) {
                Ok(process) => return Ok(process),
                Err(Problem::Start(error)) if error.kind() == ErrorKind::ExecutableFileBusy && patience > 0 => {
                    patience -= 1;
                    sleep(Duration::from_millis(10));
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

impl Oracle for CommandOracle {
    fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
        let trouble = |path: &Path, error: &io::Error| {
            OracleError::new(format!(
                "the candidate cannot be put into {}: {error}; make room there, or set TMPDIR to another folder",
                path.display()
            ))
        };
        let folder = self.scratch.folder().map_err(|error| trouble(self.scratch.path(), &error))?;
        let file = folder.path().join(&self.spec.file_name);
        fs::write(&file, input).map_err(|error| trouble(&file, &error))?;
        let mut command = Command::new(&self.program);
        let path = file.to_string_lossy();
        command.args(self.arguments.iter().map(|argument| fill(argument, &path))).current_dir(folder.path());
        // The file itself is standard input: no pipe that must be fed, and none that can break.
        let stdin = if self.by_stdin {
            File::open(&file).map_err(|error| trouble(&file, &error))?.into()
        } else {
            Stdio::null()
        };
        command.stdin(stdin);
        let process = self.start(&mut command, folder.path())?;
        let (outcome, reason, other) = self.verdicts.judge(&process);
        Ok(Run { outcome, reason, other, process: Some(process) })
    }

    /// Covers what is run, the content of the program's or script's file, the rules, the timeout and the file name. It does not
    /// cover what the program reads or runs in turn, nor the environment.
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
    /// The rules, in the order in which they are tried.
    pub rules: Vec<String>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "command:   {}", self.command)?;
        writeln!(f, "folder:    {} (fresh for each run)", self.folder.display())?;
        writeln!(f, "candidate: {}, {}", self.file.display(), self.passed)?;
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

fn identity(spec: &CommandSpec, program: &Path) -> Result<String, OracleError> {
    let unreadable =
        |error: &dyn fmt::Display| OracleError::new(format!("{} cannot be read: {error}", program.display()));
    // Where it lies does not matter to what it says.
    let portable = CommandSpec { base: PathBuf::new(), ..spec.clone() };
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
    Ok(hash.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests;
