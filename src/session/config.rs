//! `ddset.toml`: grammar, oracle and options beside the inputs.

use super::{SessionError, io};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A `ddset.toml`. Paths in it start from its folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// A bundled grammar's name, or a grammar file.
    pub grammar: Option<String>,
    /// The rule to start at.
    pub start: Option<String>,
    /// The input, if none is named on the command line.
    pub input: Option<PathBuf>,
    /// Seed of everything random.
    pub seed: Option<u64>,
    /// A command that is run once, in this folder, before the first run of the oracle; it must exit 0.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// How to tell whether an input fails.
    #[serde(default)]
    pub oracle: OracleConfig,
    /// The folder of the file.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// The `[oracle]` table; the keys are the options of the command line.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct OracleConfig {
    /// A script.
    pub test: Option<PathBuf>,
    /// A program with its arguments.
    pub command: Vec<String>,
    /// Exit statuses that are the failure.
    #[serde(deserialize_with = "one_or_more")]
    pub fail_exit: Vec<i32>,
    /// Signals that are the failure.
    #[serde(deserialize_with = "one_or_more")]
    pub fail_signal: Vec<String>,
    /// Regular expressions over the output that are the failure.
    #[serde(deserialize_with = "one_or_more")]
    pub fail_output: Vec<String>,
    /// Exit statuses that say nothing.
    #[serde(deserialize_with = "one_or_more")]
    pub unresolved_exit: Vec<i32>,
    /// Signals that say nothing.
    #[serde(deserialize_with = "one_or_more")]
    pub unresolved_signal: Vec<String>,
    /// Regular expressions over the output that say nothing.
    #[serde(deserialize_with = "one_or_more")]
    pub unresolved_output: Vec<String>,
    /// Time for one run.
    #[serde(deserialize_with = "duration")]
    pub timeout: Option<Duration>,
    /// What a run that takes longer is.
    pub timeout_is: Option<TimeoutIs>,
}

/// What a run that takes too long is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeoutIs {
    /// It says nothing.
    Unresolved,
    /// It is the failure.
    Fail,
}

fn one_or_more<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore<T> {
        One(T),
        More(Vec<T>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}

fn duration<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let written = String::deserialize(deserializer)?;
    humantime::parse_duration(&written).map(Some).map_err(serde::de::Error::custom)
}

impl Config {
    /// Reads a `ddset.toml`.
    ///
    /// # Errors
    /// When it cannot be read, or holds what is not known here.
    pub fn load(path: &Path) -> Result<Config, SessionError> {
        let text = std::fs::read_to_string(path).map_err(io("read", path))?;
        let mut config: Config = toml::from_str(&text)
            .map_err(|error| SessionError::Config { path: path.to_owned(), what: error.to_string() })?;
        config.folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(config)
    }

    /// The `ddset.toml` in a folder, or beside a file, if there is one.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn beside(input: &Path) -> Result<Option<Config>, SessionError> {
        let folder = if input.is_dir() { input } else { input.parent().unwrap_or(Path::new("")) };
        let path = folder.join("ddset.toml");
        if path.is_file() { Config::load(&path).map(Some) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_serves_where_a_list_may_stand() {
        let config: Config = toml::from_str("[oracle]\ncommand = ['p', '{}']\nfail-exit = 3\ntimeout = '2s'").expect("valid");
        assert_eq!(config.oracle.fail_exit, [3]);
        assert_eq!(config.oracle.timeout, Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_misspelt_key_is_named() {
        let error = toml::from_str::<Config>("[oracle]\nfail-exits = 3").expect_err("unknown key").to_string();
        assert!(error.contains("fail-exits"), "{error}");
    }
}
