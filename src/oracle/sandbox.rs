//! What keeps a program under test from doing harm: it may read all, and write nothing but its own folder.
//!
//! There are two ways. Bubblewrap (`bwrap`) starts it in namespaces of its own: no network, no other processes, an empty `/tmp`.
//! Landlock, a part of Linux, is put on the thread that starts it and goes over to it: nothing else is between, so that it is
//! cheap; it forbids TCP, and signals to processes outside, and leaves `/tmp` to be read.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde::{Deserialize, Serialize};

/// How a program is kept from doing harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// Not at all.
    #[default]
    Off,
    /// By Bubblewrap. It needs a [guard](super::CommandOracle::with_guard).
    Bubblewrap,
    /// By Landlock.
    Landlock,
}

impl Sandbox {
    /// Those that there are, the stronger first.
    pub const ALL: [Sandbox; 2] = [Sandbox::Bubblewrap, Sandbox::Landlock];

    pub(super) fn is_off(&self) -> bool {
        *self == Sandbox::Off
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sandbox::Off => "off",
            Sandbox::Bubblewrap => {
                "bubblewrap: writes only its own folder and a private /tmp; no network, no other processes"
            }
            Sandbox::Landlock => "landlock: writes only its own folder; no TCP, no signals to other processes",
        })
    }
}

/// Devices that a program may write to.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Bubblewrap's program in `PATH`.
pub(super) fn bubblewrap() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("bwrap")).find(|path| path.is_file())
}

/// The arguments of `bwrap` up to the program's own. What lies below `/tmp` and is `needed` stays to be read there.
pub(super) fn bubblewrap_arguments(folder: &Path, needed: &[PathBuf]) -> Vec<OsString> {
    let fixed = "--unshare-all --die-with-parent --as-pid-1 --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp";
    let mut arguments: Vec<OsString> = fixed.split(' ').map(OsString::from).collect();
    for path in needed.iter().filter(|path| path.starts_with("/tmp") && *path != Path::new("/tmp")) {
        arguments.extend(["--ro-bind-try".into(), path.into(), path.into()]);
    }
    arguments.extend(["--bind".into(), folder.into(), folder.into(), "--chdir".into(), folder.into(), "--".into()]);
    arguments
}

/// Starts a command that may write to the folder only.
pub(super) fn start_with_landlock(command: &mut Command, folder: &Path) -> io::Result<Child> {
    std::thread::scope(|scope| {
        // What a thread forbids itself holds for what it starts, and ends with it.
        let started = scope.spawn(|| {
            system::forbid_all_but(folder)?;
            command.spawn()
        });
        started.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts the program failed")))
    })
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
        path_beneath_rules,
    };

    use super::DEVICES;

    /// The newest form of Landlock whose rights are meant; of an older one, those that it knows.
    const FORM: ABI = ABI::V6;

    pub(super) fn forbid_all_but(folder: &Path) -> io::Result<()> {
        let write = AccessFs::from_write(FORM);
        let asked = Ruleset::default()
            .handle_access(write)
            .and_then(|rules| rules.handle_access(AccessNet::from_all(FORM)))
            .and_then(|rules| rules.scope(Scope::from_all(FORM)))
            .and_then(|rules| rules.create())
            .and_then(|rules| rules.add_rules(path_beneath_rules([folder], write)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, AccessFs::from_file(FORM) & write)))
            .and_then(|rules| rules.restrict_self());
        match asked {
            Ok(status) if status.ruleset != RulesetStatus::NotEnforced => Ok(()),
            Ok(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Landlock")),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn forbid_all_but(_: &std::path::Path) -> std::io::Result<()> {
        Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "this system has no Landlock"))
    }
}
