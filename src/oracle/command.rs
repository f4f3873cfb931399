//! A program or script as the oracle.

use super::process::{self, Watchdog};
use super::rules::{Judge, Rules};
use super::{Oracle, OracleError, Outcome, Process, Run};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Exit status by which a script says that an input tells nothing, as in `git bisect run`.
const SCRIPT_UNRESOLVED: i32 = 125;

/// What to run, and how to judge it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSpec {
    /// What to run.
    pub invocation: Invocation,
    /// How to judge it; of a script's, only `unresolved_exit` counts.
    pub rules: Rules,
    /// Time for one run.
    pub timeout: Duration,
    /// Whether a run that takes longer is the failure; otherwise it says nothing.
    pub timeout_is_fail: bool,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Invocation {
    /// A script, called with the candidate's file name as its only argument, and with the candidate on standard input.
    Script(PathBuf),
    /// A program with its arguments. `{}` and `@@` in an argument stand for the candidate's file; where none does, the
    /// candidate is on standard input.
    Program(Vec<String>),
}

/// Runs a command on each candidate, in a fresh folder that holds the candidate under the input's own name.
#[derive(Debug)]
pub struct CommandOracle {
    spec: CommandSpec,
    judge: Judge,
    program: PathBuf,
    file_name: OsString,
    folder: tempfile::TempDir,
    watchdog: Watchdog,
    runs: AtomicU64,
    /// One run at a time: the watchdog guards one group.
    busy: Mutex<()>,
}

impl CommandOracle {
    /// Prepares the command. Paths in it are relative to `base`; `file_name` is what the candidate's file is called.
    ///
    /// # Errors
    /// When the program is not there or cannot be executed, a rule makes no sense, or there is no room for temporary files.
    pub fn new(spec: CommandSpec, base: &Path, file_name: &OsStr) -> Result<Self, OracleError> {
        let program = match &spec.invocation {
            Invocation::Script(path) => executable(&base.join(path), "script")?,
            Invocation::Program(argv) => match argv.first() {
                Some(name) if name.contains('/') => executable(&base.join(name), "program")?,
                Some(name) => on_path(name)?,
                None => return Err(problem("no program was given: write it after `--`, or use --test SCRIPT")),
            },
        };
        if matches!(spec.invocation, Invocation::Script(_)) && has_program_rules(&spec.rules) {
            return Err(problem(
                "a script says by its exit status whether the input fails; rules such as --fail-exit go with a program \
                 (`-- PROGRAM`), only --unresolved-exit goes with --test",
            ));
        }
        remove_stale_folders();
        let folder = tempfile::Builder::new()
            .prefix(&format!("ddset-{}-", std::process::id()))
            .tempdir()
            .map_err(|error| problem(format!("no temporary folder can be made: {error}")))?;
        let watchdog = Watchdog::new().map_err(|error| problem(format!("no thread can be started: {error}")))?;
        Ok(CommandOracle {
            judge: Judge::new(spec.rules.clone())?,
            spec,
            program,
            file_name: file_name.to_owned(),
            folder,
            watchdog,
            runs: AtomicU64::new(0),
            busy: Mutex::new(()),
        })
    }

    /// How a candidate is run and judged, for people: one fact a line.
    pub fn describe(&self) -> String {
        let file = Path::new("FOLDER").join(&self.file_name);
        let (command, input) = self.command(Path::new("FOLDER"), &file);
        let mut words = vec![self.program.display().to_string()];
        words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
        let passed = match (&self.spec.invocation, input) {
            (Invocation::Script(_), _) => "as the file that is its argument, and on standard input",
            (_, true) => "on standard input",
            (_, false) => "as a file",
        };
        let rules = match &self.spec.invocation {
            Invocation::Script(_) => {
                let more: Vec<String> = self.spec.rules.unresolved_exit.iter().map(i32::to_string).collect();
                let more = if more.is_empty() { String::new() } else { format!(" or {}", more.join(" or ")) };
                format!("fails:      exit status 0\nunresolved: exit status {SCRIPT_UNRESOLVED}{more}")
            }
            Invocation::Program(_) => self.spec.rules.in_words(),
        };
        let timeout = humantime::format_duration(self.spec.timeout);
        let late = if self.spec.timeout_is_fail { "fails" } else { "unresolved" };
        format!(
            "command:    {}\nfolder:     a fresh one for each run (FOLDER above)\ncandidate:  {passed}\n{rules}\n\
             timeout:    {timeout}, then {late}",
            words.join(" ")
        )
    }

    /// The command for a candidate in `file`, and whether the candidate goes to its standard input.
    fn command(&self, folder: &Path, file: &Path) -> (Command, bool) {
        let mut command = Command::new(&self.program);
        command.current_dir(folder);
        let mut named = false;
        match &self.spec.invocation {
            Invocation::Script(_) => {
                command.arg(file);
            }
            Invocation::Program(argv) => {
                for argument in &argv[1..] {
                    let (argument, found) = with_file(argument, file);
                    named |= found;
                    command.arg(argument);
                }
            }
        }
        (command, !named)
    }

    fn attempt(&self, input: &[u8]) -> Result<Run, OracleError> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        let file = folder.join(&self.file_name);
        let io = |doing: &str, error: std::io::Error| problem(format!("{doing} {}: {error}", file.display()));
        std::fs::create_dir_all(&folder).map_err(|error| io("cannot make the folder of", error))?;
        std::fs::write(&file, input).map_err(|error| io("cannot write", error))?;
        let (mut command, on_stdin) = self.command(&folder, &file);
        // A file serves as standard input, too: no thread to feed a pipe, and nothing breaks if the program does not read it.
        let stdin = if on_stdin {
            Stdio::from(File::open(&file).map_err(|error| io("cannot read", error))?)
        } else {
            Stdio::null()
        };
        command.stdin(stdin);
        let mark = format!("{}-{number}", self.folder.path().display());
        let ended = process::run(&mut command, &self.watchdog, self.spec.timeout, &mark)
            .map_err(|error| self.not_started(&error))?;
        remove_folder(&folder);
        let (outcome, reason) = self.outcome(&ended);
        let process = Process {
            exit: ended.exit,
            signal: ended.signal,
            timed_out: ended.timed_out,
            elapsed: ended.elapsed,
            stdout: ended.stdout,
            stderr: ended.stderr,
            truncated: ended.truncated,
        };
        Ok(Run { outcome, reason, process: Some(process) })
    }

    fn outcome(&self, ended: &process::Ended) -> (Outcome, String) {
        if ended.timed_out {
            let outcome = if self.spec.timeout_is_fail { Outcome::Fail } else { Outcome::Unresolved };
            return (outcome, ended.in_words());
        }
        match &self.spec.invocation {
            Invocation::Program(_) => self.judge.judge(ended),
            Invocation::Script(_) => {
                let unresolved = |exit: i32| exit == SCRIPT_UNRESOLVED || self.spec.rules.unresolved_exit.contains(&exit);
                match ended.exit {
                    Some(0) => (Outcome::Fail, ended.in_words()),
                    Some(exit) if unresolved(exit) => (Outcome::Unresolved, ended.in_words()),
                    _ => (Outcome::Pass, ended.in_words()),
                }
            }
        }
    }

    fn not_started(&self, error: &std::io::Error) -> OracleError {
        let program = self.program.display();
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound if self.program.exists() => {
                "; the interpreter that its first line names is not there"
            }
            _ if error.raw_os_error() == Some(8) => "; a script needs a first line such as `#!/bin/sh`",
            _ => "",
        };
        problem(format!("{program} cannot be started: {error}{hint}"))
    }
}

impl Oracle for CommandOracle {
    fn run(&self, input: &[u8]) -> Result<Run, OracleError> {
        let _one = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        self.attempt(input)
    }

    fn identity(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let spec = serde_json::to_vec(&self.spec).unwrap_or_default();
        hasher.update(&spec).update(self.program.as_os_str().as_bytes());
        hasher.update(&std::fs::read(&self.program).unwrap_or_default());
        hasher.finalize().to_hex().to_string()
    }
}

fn problem(message: impl Into<String>) -> OracleError {
    OracleError { message: message.into() }
}

fn has_program_rules(rules: &Rules) -> bool {
    *rules != Rules { unresolved_exit: rules.unresolved_exit.clone(), ..Rules::default() }
}

/// The argument with the file's path for `{}` and `@@`, and whether it had one.
fn with_file(argument: &str, file: &Path) -> (OsString, bool) {
    let mut out = Vec::new();
    let mut rest = argument.as_bytes();
    let mut found = false;
    while let Some(first) = rest.first() {
        if rest.starts_with(b"{}") || rest.starts_with(b"@@") {
            out.extend_from_slice(file.as_os_str().as_bytes());
            rest = &rest[2..];
            found = true;
        } else {
            out.push(*first);
            rest = &rest[1..];
        }
    }
    (OsString::from_vec(out), found)
}

fn executable(path: &Path, what: &str) -> Result<PathBuf, OracleError> {
    let shown = path.display();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(problem(format!("there is no {what} {shown}")));
        }
        Err(error) => return Err(problem(format!("the {what} {shown} cannot be looked at: {error}"))),
    };
    if metadata.is_dir() {
        return Err(problem(format!("{shown} is a folder, not a {what}")));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(problem(format!("the {what} {shown} is not executable: run `chmod +x {shown}`")));
    }
    std::path::absolute(path).map_err(|error| problem(format!("{shown}: {error}")))
}

fn on_path(name: &str) -> Result<PathBuf, OracleError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| {
        std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    });
    found.ok_or_else(|| {
        problem(format!("there is no program `{name}` on PATH; if it is in this folder, write `./{name}`, else its full path"))
    })
}

/// A program may take away its own right to its folder; give it back, and do not fail the run over what cannot be removed.
fn remove_folder(folder: &Path) {
    if std::fs::remove_dir_all(folder).is_err() && folder.exists() {
        let mut open = vec![folder.to_owned()];
        while let Some(inner) = open.pop() {
            let _ = std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o700));
            let entries = std::fs::read_dir(&inner).into_iter().flatten().flatten();
            open.extend(entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()));
        }
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// What a killed ddset could not remove.
fn remove_stale_folders() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix("ddset-")?.split_once('-')?.0.parse::<i32>().ok());
        let owner = owner.and_then(rustix::process::Pid::from_raw);
        let dead = |pid| matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH));
        if owner.is_some_and(dead) {
            remove_folder(&entry.path());
        }
    }
}
