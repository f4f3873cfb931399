//! The journal: one line for each run, written before the search goes on.
//!
//! `KEY ORDINAL OUTCOME PHASE LEN MICROS`, after a first line that names the form. A line reaches the system whole before the
//! next run starts, so that a killed process loses nothing; a crash of the machine may cost the last lines, which are run again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::{SessionError, fails};
use crate::oracle::Outcome;
use crate::search::{Key, Memory};

const HEADER: &str = "ddset-journal 1\n";

/// The outcomes of a run's folder: those of earlier processes, and those being added.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// How much of the file is whole lines, in bytes.
    len: u64,
    outcomes: FxHashMap<(Key, u32), Outcome>,
}

impl Journal {
    /// Reads the journal, or begins one. What follows the last line that can be read is cut off: a process was killed, or the
    /// machine, while it was written.
    pub(super) fn open(path: &Path) -> Result<Self, SessionError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let file = options.open(path).map_err(fails(path, "opened"))?;
        let text = fs::read(path).map_err(fails(path, "read"))?;
        let mut journal = Self { path: path.to_owned(), file, len: 0, outcomes: FxHashMap::default() };
        if !HEADER.as_bytes().starts_with(&text[..text.len().min(HEADER.len())]) {
            return Err(SessionError::Damaged {
                path: path.to_owned(),
                what: "it is no journal, or one of another version".to_owned(),
                folder: path.parent().unwrap_or(path).to_owned(),
            });
        }
        if text.len() >= HEADER.len() {
            journal.len = HEADER.len() as u64;
            journal.load(&text[HEADER.len()..]);
        }
        journal.cut().map_err(fails(path, "cut"))?;
        if journal.len == 0 {
            journal.append(HEADER).map_err(fails(path, "written"))?;
        }
        Ok(journal)
    }

    /// The number of runs it knows of.
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether it knows of no run.
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    fn load(&mut self, text: &[u8]) {
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let Some((key, ordinal, outcome)) = line.strip_suffix(b"\n").and_then(entry) else { return };
            self.len += line.len() as u64;
            self.outcomes.insert((key, ordinal), outcome);
        }
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk may have taken a part of it, which must not be joined with the next line.
            let _ = self.cut();
            return Err(error);
        }
        self.len += line.len() as u64;
        Ok(())
    }

    fn cut(&self) -> io::Result<()> {
        self.file.set_len(self.len)
    }
}

impl Memory for Journal {
    fn lookup(&self, key: &Key, ordinal: u32) -> Option<Outcome> {
        self.outcomes.get(&(*key, ordinal)).copied()
    }

    fn record(
        &mut self,
        key: &Key,
        ordinal: u32,
        outcome: Outcome,
        phase: &str,
        len: usize,
        micros: u64,
    ) -> io::Result<()> {
        let phase = phase.replace(char::is_whitespace, "-");
        let line = format!("{key} {ordinal} {} {phase} {len} {micros}\n", name(outcome));
        self.append(&line).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be written: {error}", self.path.display()))
        })?;
        self.outcomes.insert((*key, ordinal), outcome);
        Ok(())
    }
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "fail",
        Outcome::Pass => "pass",
        Outcome::Unresolved => "unresolved",
    }
}

fn entry(line: &[u8]) -> Option<(Key, u32, Outcome)> {
    let fields: Vec<&str> = std::str::from_utf8(line).ok()?.split(' ').collect();
    let [key, ordinal, outcome, _phase, len, micros] = fields[..] else { return None };
    len.parse::<usize>().ok()?;
    micros.parse::<u64>().ok()?;
    let outcomes = [Outcome::Fail, Outcome::Pass, Outcome::Unresolved];
    let outcome = outcomes.into_iter().find(|known| name(*known) == outcome)?;
    Some((Key::from_hex(key)?, ordinal.parse().ok()?, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, runs: &[(&[u8], u32, Outcome)]) {
        let mut journal = Journal::open(path).unwrap();
        for (input, ordinal, outcome) in runs {
            journal.record(&Key::of(input), *ordinal, *outcome, "a phase", input.len(), 7).unwrap();
        }
    }

    #[test]
    fn what_is_recorded_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        write(&path, &[(b"a", 0, Outcome::Pass), (b"a", 1, Outcome::Fail)]);
        write(&path, &[(b"b", 0, Outcome::Unresolved)]);
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.len(), 3);
        let found = [(b"a", 0), (b"a", 1), (b"b", 0), (b"b", 1)].map(|(input, at)| journal.lookup(&Key::of(input), at));
        assert_eq!(found, [Some(Outcome::Pass), Some(Outcome::Fail), Some(Outcome::Unresolved), None]);
    }

    #[test]
    fn torn_anywhere_the_whole_lines_stay_and_it_can_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        write(&path, &[(b"a", 0, Outcome::Pass), (b"b", 0, Outcome::Fail)]);
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let lines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(Journal::open(&path).unwrap().len(), lines.saturating_sub(1), "cut at {cut}");
            write(&path, &[(b"c", 0, Outcome::Fail)]);
            assert_eq!(Journal::open(&path).unwrap().lookup(&Key::of(b"c"), 0), Some(Outcome::Fail), "cut at {cut}");
        }
    }

    #[test]
    fn what_follows_damage_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        write(&path, &[(b"a", 0, Outcome::Pass)]);
        let good = fs::read(&path).unwrap();
        let mut bad = good.clone();
        bad.extend_from_slice(&[0; 50]);
        bad.extend_from_slice(b"\n");
        bad.extend_from_slice(&good[HEADER.len()..]);
        fs::write(&path, &bad).unwrap();
        assert_eq!(Journal::open(&path).unwrap().len(), 1);
        assert_eq!(fs::read(&path).unwrap(), good);
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        for text in ["something else", "ddset-journal 2\n"] {
            fs::write(&path, text).unwrap();
            assert!(Journal::open(&path).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
