//! The environment of a run: the caller's, with what would make it depend on where and when it runs put right.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// What has the same value in all runs, whatever it is outside. See also [`FOLDERS`].
pub const FIXED: [(&str, &str); 7] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("TERM", "dumb"),
    ("COLUMNS", "80"),
    ("LINES", "24"),
    ("PYTHONHASHSEED", "0"),
];

/// What names the run's folder.
pub const FOLDERS: [&str; 4] = ["TMPDIR", "TMP", "TEMP", "PWD"];

/// What is taken away: it belongs to the shell that `ddset` was started from.
const REMOVED: [&str; 5] = ["LANGUAGE", "OLDPWD", "SHLVL", "WINDOWID", "_"];

/// What each process of a run carries, by which it is found when everything else about it is lost.
pub(super) const MARK: &str = "DDSET_RUN";

/// A variable that the user wants otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value; `None` for the one that it has outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl std::str::FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        if name.is_empty() || text.contains('\0') {
            return Err("write NAME=VALUE, or NAME for the value that it has outside".to_owned());
        }
        Ok(Variable { name: name.to_owned(), value })
    }
}

/// The environment of all runs of an oracle, without what names the run's folder.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    changes: Vec<(OsString, Option<OsString>)>,
    folders: Vec<&'static str>,
}

impl Environment {
    pub(super) fn new(wanted: &[Variable]) -> Self {
        let is_wanted = |name: &str| wanted.iter().any(|variable| variable.name == name);
        let mut changes: Vec<(OsString, Option<OsString>)> = Vec::new();
        for (name, value) in FIXED.iter().filter(|(name, _)| !is_wanted(name)) {
            changes.push((name.into(), Some(value.into())));
        }
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            let other_locale = shown.starts_with("LC_") && shown != "LC_ALL";
            if (other_locale || REMOVED.contains(&&*shown)) && !is_wanted(&shown) {
                changes.push((name, None));
            }
        }
        let given = wanted.iter().filter_map(|variable| Some((variable.name.clone(), variable.value.clone()?)));
        changes.extend(given.map(|(name, value)| (name.into(), Some(value.into()))));
        Self { changes, folders: FOLDERS.into_iter().filter(|name| !is_wanted(name)).collect() }
    }

    pub(super) fn apply(&self, command: &mut Command, folder: &Path, mark: &str) {
        for (name, value) in &self.changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(self.folders.iter().map(|name| (name, folder))).env(MARK, mark);
    }
}

/// The variables outside that runs inherit, each with a short hash of its value: enough to see that one has changed, and not
/// enough to tell a secret.
pub fn inherited() -> BTreeMap<String, String> {
    let own = |name: &str| {
        FIXED.iter().any(|(fixed, _)| *fixed == name)
            || FOLDERS.contains(&name)
            || REMOVED.contains(&name)
            || name.starts_with("LC_")
    };
    let hash = |value: &OsString| blake3::hash(value.as_encoded_bytes()).to_hex()[..8].to_owned();
    let all = std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), hash(&value)));
    all.filter(|(name, _)| !own(name)).collect()
}

impl std::fmt::Display for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("that of ddset, with")?;
        for (name, value) in self.changes.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            write!(f, " {}={}", name.to_string_lossy(), value.to_string_lossy())?;
        }
        write!(f, "; {} are the folder", self.folders.join(", "))
    }
}
