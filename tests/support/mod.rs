//! A folder of its own for each test, and `ddset` run in it.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A subject's folder in `corpora`.
pub(crate) fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora").join(name)
}

/// A temporary folder that `ddset` is run in. It goes away with the value.
#[derive(Debug)]
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("ddset-test-").tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, in a folder that is made if need be.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes a shell script that can be executed.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.write(name, format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.path(name);
        let content = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        String::from_utf8_lossy(&content).into_owned()
    }

    /// `ddset`, ready to be started here. Its temporary files stay here, too.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let scratch = self.path("tmp");
        fs::create_dir_all(&scratch).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ddset"));
        command.args(arguments).current_dir(self.folder.path()).env("TMPDIR", scratch);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `ddset` here to its end.
    pub(crate) fn ddset<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran::new(self.command(arguments).output().unwrap())
    }

    /// The same, with the arguments in one line: none of them holds a blank.
    pub(crate) fn line(&self, arguments: &str) -> Ran {
        self.ddset(arguments.split(' '))
    }

    /// The only run's folder below `.ddset`.
    pub(crate) fn run_folder(&self) -> PathBuf {
        let folders = self.run_folders();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].clone()
    }

    /// All runs' folders below `.ddset`.
    pub(crate) fn run_folders(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path(".ddset")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
    }
}

/// How a run of `ddset` ended.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { exit: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// It ended with this exit status.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(self.exit, Some(status), "{self}");
        self
    }

    /// Standard error holds each of these.
    #[track_caller]
    pub(crate) fn says<S: AsRef<str> + Debug>(self, words: impl IntoIterator<Item = S>) -> Self {
        for word in words {
            assert!(self.stderr.contains(word.as_ref()), "not said: {word:?}\n{self}");
        }
        self
    }

    /// Standard output holds each of these.
    #[track_caller]
    pub(crate) fn outputs<S: AsRef<str> + Debug>(self, words: impl IntoIterator<Item = S>) -> Self {
        for word in words {
            assert!(self.stdout.contains(word.as_ref()), "not in the output: {word:?}\n{self}");
        }
        self
    }

    /// Standard output is exactly this.
    #[track_caller]
    pub(crate) fn prints(self, expected: &str) -> Self {
        assert_eq!(self.stdout, expected, "{self}");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// The inputs that `ddset generate -0` printed.
    pub(crate) fn inputs(&self) -> Vec<&str> {
        self.stdout.split_terminator('\0').collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { exit, stdout, stderr } = self;
        write!(f, "exit status {exit:?}\n--- standard output\n{stdout}\n--- standard error\n{stderr}")
    }
}

/// Text without its white space.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The evidence in a pattern's JSON: at least 100 inputs failed, none passed.
#[track_caller]
pub(crate) fn assert_evidence(summary: &serde_json::Value) {
    let evidence = &summary["evidence"];
    assert!(evidence["failed"].as_u64() >= Some(100) && evidence["passed"] == 0, "{evidence}");
}

/// `ddset generate --verify` said that so many of so many inputs fail, and none pass.
#[track_caller]
pub(crate) fn assert_verified(ran: &Ran, fail: std::ops::RangeInclusive<usize>, of: usize) {
    let line = ran.stderr.lines().find_map(|line| line.strip_prefix("verified: ")).unwrap_or_else(|| panic!("{ran}"));
    let numbers: Vec<usize> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [failed, made, passed, _] = numbers[..] else { panic!("{line}") };
    assert!(fail.contains(&failed) && made == of && passed == 0, "{line}");
}
