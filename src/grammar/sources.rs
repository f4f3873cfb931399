//! The files that a grammar comes in. Spans count bytes through all of them, one after the other.

use super::bundled;
use super::notation::Format;
use std::io;
use std::path::{Path, PathBuf};

/// Why a grammar's file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is neither such a file nor such a bundled grammar.
    #[error("the grammar `{name}` cannot be read: no such file, and no bundled grammar ({names})", names = bundled_names())]
    Missing {
        /// What was asked for.
        name: String,
    },
    /// It cannot be read.
    #[error("the grammar `{name}` cannot be read: {error}")]
    Unreadable {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is no text.
    #[error("the grammar `{name}` is not UTF-8 (byte {at})")]
    NoText {
        /// The file.
        name: String,
        /// Where the text ends.
        at: usize,
    },
    /// A folder without a grammar file.
    #[error("the folder `{name}` holds no grammar file: give one by its name")]
    EmptyFolder {
        /// The folder.
        name: String,
    },
}

fn bundled_names() -> String {
    bundled::ALL.iter().map(|bundled| bundled.name).collect::<Vec<_>>().join(", ")
}

/// A file of a grammar.
#[derive(Clone, Debug)]
pub struct Source {
    /// How it is called in messages: a path, or the name of a bundled grammar.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where its first byte counts.
    pub start: usize,
}

/// All files of a grammar.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
    /// Files that were referred to and are not there.
    missing: Vec<String>,
}

impl Sources {
    /// One text.
    pub fn of(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut sources = Sources::default();
        sources.add(name, text);
        sources
    }

    /// The files of these names, and those that they refer to. A name is that of a file, of a folder, whose grammar files
    /// are meant, or of a bundled grammar.
    ///
    /// # Errors
    /// The first file that cannot be read.
    pub fn open<N: AsRef<str>>(names: &[N]) -> Result<Sources, SourceError> {
        let mut sources = Sources::default();
        for name in names.iter().map(AsRef::as_ref) {
            let path = Path::new(name);
            match bundled::find(name) {
                Some(bundled) if !path.exists() => sources.add(name, bundled.source),
                _ if path.is_dir() => {
                    let files = grammar_files(path).map_err(|error| unreadable(path, error))?;
                    if files.is_empty() {
                        return Err(SourceError::EmptyFolder { name: name.to_owned() });
                    }
                    files.iter().try_for_each(|file| sources.open_file(file))?;
                }
                _ => sources.open_file(path)?,
            }
        }
        Ok(sources)
    }

    /// Adds a file and, after it, what it refers to; nothing is added twice.
    fn open_file(&mut self, path: &Path) -> Result<(), SourceError> {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            let name = path.display().to_string();
            if self.files.iter().any(|file| file.name == name) {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
            let text = String::from_utf8(bytes)
                .map_err(|error| SourceError::NoText { name: name.clone(), at: error.utf8_error().valid_up_to() })?;
            self.add(name, text);
            if let Some(file) = self.files.last() {
                for referred in Format::of(file).references(&file.text) {
                    let beside = path.with_file_name(referred);
                    if beside.is_file() {
                        open.push(beside);
                    } else {
                        self.missing.push(beside.display().to_string());
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a file. A byte-order mark at its beginning is no part of the grammar.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        // Between two files a byte belongs to none, so that the end of one is not the beginning of the next.
        let start = self.files.last().map_or(0, |last| last.start + last.text.len() + 1);
        let text: String = text.into();
        let text = text.strip_prefix('\u{FEFF}').map_or(text.clone(), str::to_owned);
        self.files.push(Source { name: name.into(), text, start });
    }

    /// The files in their order.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// A name that is not defined may well be in a file that is not there.
    pub(super) fn blame_missing(&self, findings: &mut [super::Diagnostic]) {
        let given = |missing: &&String| {
            let name = Path::new(missing.as_str()).file_name();
            !self.files.iter().any(|file| Path::new(&file.name).file_name() == name)
        };
        let missing: Vec<&str> = self.missing.iter().filter(given).map(String::as_str).collect();
        if missing.is_empty() {
            return;
        }
        let help = format!(
            "the grammar refers to {}, which is not there: name it with one more --grammar",
            missing.join(", ")
        );
        for finding in findings.iter_mut().filter(|finding| finding.code == "undefined-name") {
            finding.help = Some(help.clone());
        }
    }

    /// The file that holds the byte, and its place there.
    pub fn locate(&self, offset: usize) -> Option<(&Source, usize)> {
        let after = self.files.partition_point(|file| file.start <= offset);
        let file = self.files.get(after.checked_sub(1)?)?;
        Some((file, offset - file.start))
    }
}

fn unreadable(path: &Path, error: io::Error) -> SourceError {
    let name = path.display().to_string();
    match error.kind() {
        io::ErrorKind::NotFound => SourceError::Missing { name },
        _ => SourceError::Unreadable { name, error },
    }
}

/// The files of a folder that look like grammars, by name.
fn grammar_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.is_file() && Format::by_extension(path).is_some());
    files.sort_unstable();
    Ok(files)
}
