//! `ddset.toml`: what to reduce, and how to tell that it fails, written down once beside the files it speaks of.
//!
//! ```toml
//! grammar = "expr"                  # a shipped grammar, or a file
//! start = "expr"                    # the start symbol
//! input = "input.expr"
//! seed = 1
//! jobs = 4                          # runs at a time; does not change the result
//! prepare = ["cargo", "build"]      # run once, in this file's folder
//!
//! [oracle]
//! command = ["target/debug/calc", "{}"]   # or: test = "run.sh"
//! fail-exit = [101]                 # also fail-signal, fail-output
//! unresolved-output = "syntax error"      # also unresolved-exit, unresolved-signal
//! timeout = "10s"
//! timeout-is = "unresolved"         # or "fail"
//! max-memory = "2G"
//! sandbox = "auto"                  # or "on", "off"
//! env = ["MODE=strict"]
//! need = "3/10"                     # for failures that come and go
//! ```

use std::fs;
use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::oracle::environment::Variable;
use crate::oracle::{CommandSpec, Need, Rules, Signal, parse_bytes, parse_duration};

/// The file's name.
pub const NAME: &str = "ddset.toml";

/// How much of a failed preparation's output goes into the error, in lines.
const LINES: usize = 20;

/// What a `ddset.toml` says. Nothing in it is required: the command line may say it instead.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// The grammar's name or files. See [`Config::path_of`] for a file.
    #[serde(default, deserialize_with = "one_or_more")]
    pub grammar: Vec<String>,
    /// The start symbol.
    pub start: Option<String>,
    /// The input file, relative to this file's folder. See [`Config::input_path`].
    pub input: Option<PathBuf>,
    /// The seed of all random choices.
    pub seed: Option<u64>,
    /// How many oracle runs at a time.
    pub jobs: Option<std::num::NonZero<u16>>,
    /// A command to run once before the first run of the oracle. See [`Config::prepare`].
    #[serde(default)]
    pub prepare: Vec<String>,
    /// How to tell that an input fails.
    #[serde(default, deserialize_with = "checked")]
    pub oracle: Option<OracleConfig>,
    /// The file itself, absolute.
    #[serde(skip)]
    pub path: PathBuf,
}

/// The `[oracle]` table. Lists may be written as a single value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OracleConfig {
    /// A script that says by exit status 0 that the input fails.
    pub test: Option<PathBuf>,
    /// A program and its arguments; `{}` or `@@` stands for the candidate's path.
    pub command: Option<Vec<String>>,
    /// Exit statuses that are the failure.
    #[serde(default, deserialize_with = "one_or_more")]
    pub fail_exit: Vec<i32>,
    /// Signals that are the failure.
    #[serde(default, deserialize_with = "one_or_more")]
    pub fail_signal: Vec<Signal>,
    /// Regular expressions that match the failure's output.
    #[serde(default, deserialize_with = "expressions")]
    pub fail_output: Vec<String>,
    /// Exit statuses that say nothing.
    #[serde(default, deserialize_with = "one_or_more")]
    pub unresolved_exit: Vec<i32>,
    /// Signals that say nothing.
    #[serde(default, deserialize_with = "one_or_more")]
    pub unresolved_signal: Vec<Signal>,
    /// Regular expressions that match output that says nothing.
    #[serde(default, deserialize_with = "expressions")]
    pub unresolved_output: Vec<String>,
    /// The time one run may take.
    #[serde(default, deserialize_with = "time_span")]
    pub timeout: Option<Duration>,
    /// How much memory one run may use, in bytes.
    #[serde(default, deserialize_with = "size")]
    pub max_memory: Option<u64>,
    /// How runs are kept from doing harm.
    pub sandbox: Option<SandboxIs>,
    /// Environment variables that differ in runs, as `NAME=VALUE`, or `NAME` for the value outside.
    #[serde(default, deserialize_with = "variables")]
    pub env: Vec<Variable>,
    /// How many runs of how many must fail, as `3/10`.
    #[serde(default, deserialize_with = "need")]
    pub need: Option<Need>,
    /// What a run is that takes longer.
    pub timeout_is: Option<TimeoutIs>,
}

/// When runs are kept from doing harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxIs {
    /// If the original fails inside as it does outside.
    #[default]
    Auto,
    /// Always, else it is an error.
    On,
    /// Never.
    Off,
}

/// What a run is that is killed for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeoutIs {
    /// The failure: it is a hang.
    Fail,
    /// Nothing is said.
    Unresolved,
}

/// What is wrong with a `ddset.toml`, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is none.
    #[error("there is no {path}: write one, or give the grammar, the oracle and the input as arguments", path = path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("{path} cannot be read: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It does not say what it should; the message shows the place.
    #[error("{path}: {message}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// The preparation did not succeed.
    #[error("`prepare` in {path} did not succeed: {message}", path = path.display())]
    Prepare {
        /// The file.
        path: PathBuf,
        /// How it ended, and the last of what it printed.
        message: String,
    },
}

impl Config {
    /// Reads the file, or the `ddset.toml` in the folder.
    ///
    /// # Errors
    /// When there is none, or it cannot be read, or says something that it should not.
    pub fn find(path: &Path) -> Result<Self, ConfigError> {
        let path = if path.is_dir() { path.join(NAME) } else { path.to_owned() };
        let read = |source: io::Error| match source.kind() {
            ErrorKind::NotFound => ConfigError::Missing { path: path.clone() },
            _ => ConfigError::Read { path: path.clone(), source },
        };
        let text = fs::read_to_string(&path).map_err(read)?;
        Self::parse(&text, &std::path::absolute(&path).map_err(read)?)
    }

    /// Reads the `ddset.toml` that belongs to an input: the one in the folder, if it is a folder, else the one beside it. `None`
    /// if there is none.
    ///
    /// # Errors
    /// When it cannot be read, or says something that it should not.
    pub fn beside(input: &Path) -> Result<Option<Self>, ConfigError> {
        let folder = if input.is_dir() { input } else { input.parent().unwrap_or(input) };
        // The parent of a mere name is empty, and means the current folder.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match Self::find(&folder.join(NAME)) {
            Err(ConfigError::Missing { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Reads the text of a file at `path`, which is absolute.
    ///
    /// # Errors
    /// When it says something that it should not.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let content = |message: String| ConfigError::Content { path: path.to_owned(), message };
        let mut config: Self = toml::from_str(text).map_err(|error| content(error.to_string()))?;
        config.path = path.to_owned();
        Ok(config)
    }

    /// The folder that its paths start from.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// A path as this file means it.
    pub fn path_of(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder().join(path)
    }

    /// The input file.
    pub fn input_path(&self) -> Option<PathBuf> {
        self.input.as_ref().map(|input| self.path_of(input))
    }

    /// The oracle, if it says one. Its file name is that of the input, if it says one.
    pub fn command_spec(&self) -> Option<CommandSpec> {
        let mut spec = self.oracle.as_ref()?.command_spec()?;
        spec.base = self.folder().to_owned();
        if let Some(name) = self.input.as_deref().and_then(Path::file_name) {
            spec.file_name = name.to_string_lossy().into_owned();
        }
        Some(spec)
    }

    /// Runs the preparation, if there is one, in the file's folder and without input. The last of what it prints is shown if it
    /// fails, and nothing otherwise.
    ///
    /// # Errors
    /// When it cannot be run or does not exit with status 0.
    pub fn prepare(&self) -> Result<(), ConfigError> {
        let [program, arguments @ ..] = self.prepare.as_slice() else { return Ok(()) };
        let failed = |message: String| ConfigError::Prepare { path: self.path.clone(), message };
        // A relative program path would start from wherever we are, not from the folder it runs in.
        let program = if program.contains('/') { self.path_of(program) } else { PathBuf::from(program) };
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(self.folder()).stdin(Stdio::null());
        // Into a file: a pipe would stay open as long as a server that a build tool leaves behind.
        let printed = tempfile::tempfile().and_then(|file| Ok((file.try_clone()?, file.try_clone()?, file)));
        let (out, err, printed) = printed.map_err(|error| failed(format!("no temporary file: {error}")))?;
        let status = command.stdout(out).stderr(err).status();
        let status = status.map_err(|error| failed(format!("{} cannot be run: {error}", program.display())))?;
        if status.success() {
            return Ok(());
        }
        Err(failed(format!("{status}\n{}", last_lines(printed))))
    }
}

/// The last lines of a file. That it failed is worth saying even if they cannot be read.
fn last_lines(mut file: fs::File) -> String {
    let mut text = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

impl OracleConfig {
    /// The oracle, for now without folder and file name; `None` if it says rules only.
    fn command_spec(&self) -> Option<CommandSpec> {
        let mut spec = match (&self.test, &self.command) {
            (Some(test), _) => CommandSpec::script(test),
            (None, Some(argv)) => CommandSpec::program(argv.iter().cloned()),
            (None, None) => return None,
        };
        spec.fail = Rules {
            exit: self.fail_exit.clone(),
            signal: self.fail_signal.clone(),
            output: self.fail_output.clone(),
            signature: None,
        };
        spec.unresolved = Rules {
            exit: self.unresolved_exit.clone(),
            signal: self.unresolved_signal.clone(),
            output: self.unresolved_output.clone(),
            signature: None,
        };
        spec.timeout = self.timeout;
        spec.max_memory = self.max_memory;
        spec.env.clone_from(&self.env);
        spec.timeout_is_fail = self.timeout_is == Some(TimeoutIs::Fail);
        Some(spec)
    }
}

// What does not fit together is found while the text is read, so that the message shows the place.

fn checked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OracleConfig>, D::Error> {
    let oracle = OracleConfig::deserialize(deserializer)?;
    if oracle.test.is_some() && oracle.command.is_some() {
        return Err(serde::de::Error::custom("the oracle is either a `test` or a `command`, not both"));
    }
    if let Some(exit) = oracle.fail_exit.iter().chain(&oracle.unresolved_exit).find(|exit| !(0..=255).contains(*exit)) {
        return Err(serde::de::Error::custom(format!("no program exits with {exit}: exit statuses are 0 to 255")));
    }
    if let Some(spec) = oracle.command_spec() {
        spec.check().map_err(|error| serde::de::Error::custom(error.message))?;
    }
    Ok(Some(oracle))
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_bytes(&text).map(Some).map_err(serde::de::Error::custom)
}

fn variables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Variable>, D::Error> {
    let texts: Vec<String> = one_or_more(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

fn need<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Need>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(serde::de::Error::custom)
}

fn expressions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let output: Vec<String> = one_or_more(deserializer)?;
    let mut spec = CommandSpec::program(["any"]);
    spec.fail.output.clone_from(&output);
    spec.check().map_err(|error| serde::de::Error::custom(error.message))?;
    Ok(output)
}

fn one_or_more<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct OneOrMore<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for OneOrMore<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a value or a list of values")
        }

        fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Vec<T>, E> {
            T::deserialize(serde::de::value::I64Deserializer::new(value)).map(|value| vec![value])
        }

        fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Vec<T>, E> {
            T::deserialize(serde::de::value::StrDeserializer::new(value)).map(|value| vec![value])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(OneOrMore(std::marker::PhantomData))
}

fn time_span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a time span, such as \"10s\"")]
    enum Either {
        Seconds(f64),
        Text(String),
    }
    let text = match Either::deserialize(deserializer)? {
        Either::Seconds(seconds) => seconds.to_string(),
        Either::Text(text) => text,
    };
    parse_duration(&text).map(Some).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Invocation;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("/some/where/ddset.toml"))
    }

    fn message(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_whole_file() {
        let text = r#"
            grammar = "expr"
            start = "expr"
            input = "in/input.expr"
            seed = 7
            prepare = ["true"]
            [oracle]
            command = ["./calc", "{}"]
            fail-exit = [101, 2]
            fail-signal = "SEGV"
            fail-output = ["a", "b"]
            unresolved-exit = 3
            unresolved-signal = [9, "TERM"]
            timeout = "1m 30s"
            timeout-is = "fail"
        "#;
        let config = parse(text).unwrap();
        assert_eq!((config.seed, config.input_path()), (Some(7), Some(PathBuf::from("/some/where/in/input.expr"))));
        let spec = config.command_spec().unwrap();
        assert_eq!(spec.invocation, Invocation::Program { argv: vec!["./calc".to_owned(), "{}".to_owned()] });
        assert_eq!((spec.base.to_str(), spec.file_name.as_str()), (Some("/some/where"), "input.expr"));
        assert_eq!((spec.fail.exit, spec.fail.signal, spec.fail.output.len()), (vec![101, 2], vec![Signal(11)], 2));
        assert_eq!((spec.unresolved.exit, spec.unresolved.signal), (vec![3], vec![Signal(9), Signal(15)]));
        assert_eq!((spec.timeout, spec.timeout_is_fail), (Some(Duration::from_secs(90)), true));
    }

    #[test]
    fn nothing_is_required() {
        let config = parse("").unwrap();
        assert_eq!((config.command_spec(), config.input_path()), (None, None));
        let spec = parse("[oracle]\ntest = \"run.sh\"\ntimeout = 3").unwrap().command_spec().unwrap();
        assert_eq!((spec.timeout, spec.file_name.as_str()), (Some(Duration::from_secs(3)), "input"));
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        for (line, text, expected) in [
            (2, "\ngramar = \"x\"", "`gramar`, expected one of `grammar`, `start`"),
            (1, "seed = -1", "u64"),
            (1, "prepare = \"make\"", "a sequence"),
            (2, "[oracle]\nfail-exti = 1", "`fail-exti`, expected one of `test`, `command`"),
            (2, "[oracle]\nfail-exit = \"one\"", "i32"),
            (2, "[oracle]\nfail-exit = 9999999999", "i32"),
            (2, "[oracle]\nfail-exit = true", "a value or a list of values"),
            (2, "[oracle]\nfail-signal = \"FOO\"", "SEGV"),
            (2, "[oracle]\ntimeout = \"soon\"", "10s"),
            (2, "[oracle]\ntimeout = -1", "10s"),
            (2, "[oracle]\ntimeout = inf", "10s"),
            (2, "[oracle]\ntimeout-is = \"pass\"", "expected `fail` or `unresolved`"),
            (1, "[oracle]\ntest = \"a\"\ntimeout = 0", "zero"),
            (1, "[oracle]\ntest = \"a\"\ncommand = [\"b\"]", "not both"),
            (1, "[oracle]\ncommand = []", "no program"),
            (1, "[oracle]\ntest = \"a\"\nfail-exit = 1", "exit status 0"),
            (3, "[oracle]\ncommand = [\"a\"]\nfail-output = \"(\"", "regular expression"),
            (2, "[oracle]\nunresolved-output = [\"a\", \"(\"]", "regular expression"),
        ] {
            let message = message(text);
            let parts = ["/some/where/ddset.toml", &format!("line {line},"), expected];
            assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
        }
        assert!(message("seed = 1\nseed = 2").contains("line 2"));
    }

    #[test]
    fn it_is_found_by_folder_or_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Config::find(folder.path()), Err(ConfigError::Missing { .. })));
        fs::write(folder.path().join(NAME), "seed = 3").unwrap();
        for path in [folder.path().to_owned(), folder.path().join(NAME)] {
            let config = Config::find(&path).unwrap();
            assert_eq!((config.seed, config.folder()), (Some(3), folder.path()));
        }
    }

    #[test]
    fn it_belongs_to_the_inputs_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = [folder.path().to_owned(), folder.path().join("a.txt"), folder.path().join("not/there")];
        fs::write(&inputs[1], "").unwrap();
        assert!(inputs.iter().all(|input| Config::beside(input).unwrap().is_none()));
        fs::write(folder.path().join(NAME), "\u{feff}seed = 3\r\n").unwrap();
        let seeds = inputs.each_ref().map(|input| Config::beside(input).unwrap().map(|config| config.seed));
        assert_eq!(seeds, [Some(Some(3)), Some(Some(3)), None]);
        fs::write(folder.path().join(NAME), "sed = 3").unwrap();
        assert!(Config::beside(&inputs[1]).is_err());
        fs::write(folder.path().join(NAME), b"start = \"\xff\"").unwrap();
        let message = Config::beside(&inputs[1]).unwrap_err().to_string();
        assert!(message.contains("ddset.toml") && message.contains("UTF-8"), "{message}");
        assert!(Config::beside(Path::new("input")).is_ok());
    }

    #[test]
    fn a_preparation_may_leave_a_server_behind() {
        let folder = tempfile::tempdir().unwrap();
        let text = "prepare = [\"sh\", \"-c\", \"sleep 5 & echo lost; echo reason >&2; exit 3\"]";
        let begin = std::time::Instant::now();
        let message = Config::parse(text, &folder.path().join(NAME)).unwrap().prepare().unwrap_err().to_string();
        assert!(message.contains("lost\nreason") && begin.elapsed() < Duration::from_secs(4), "{message}");
    }

    #[test]
    fn the_preparation_runs_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let config = |command: &str| {
            Config::parse(&format!("prepare = [\"sh\", \"-c\", \"{command}\"]"), &folder.path().join(NAME)).unwrap()
        };
        config("echo built >product").prepare().unwrap();
        assert!(folder.path().join("product").exists());
        let message = config("echo reason >&2; exit 3").prepare().unwrap_err().to_string();
        assert!(message.contains("reason") && message.contains('3'), "{message}");
        parse("").unwrap().prepare().unwrap();
    }
}
