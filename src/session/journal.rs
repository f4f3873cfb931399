//! The journal: one line for each run, written before the search goes on.
//!
//! `KEY ORDINAL OUTCOME PHASE LEN MICROS`, after a first line that names the form. A line reaches the system whole before the
//! next run starts, so that a killed process loses nothing; a crash of the machine may cost the last lines, which are run again.
//! What cannot be read at the end is therefore cut off. Before lines that can be read, it is damage of another kind, and said.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::{SessionError, advice, fails};
use crate::oracle::Outcome;
use crate::search::{Key, Memory};

const HEADER: &str = "ddset-journal 1\n";
/// How the header begins in all versions.
const KIND: &str = "ddset-journal ";

/// A step of a reduction: a run that came to a smaller failing input.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// The number of the run, from 1.
    pub run: u64,
    /// What was done: the phase of the search.
    pub operation: String,
    /// The input's size after it.
    pub bytes: usize,
}

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
    /// machine, while it was written. Nothing is changed if the journal is damaged.
    pub(super) fn open(path: &Path) -> Result<Self, SessionError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let file = options.open(path).map_err(fails(path, "opened"))?;
        let text = fs::read(path).map_err(fails(path, "read"))?;
        let mut journal = Self { path: path.to_owned(), file, len: 0, outcomes: FxHashMap::default() };
        let damaged = |what: String| SessionError::Damaged {
            path: path.to_owned(),
            what,
            folder: path.parent().unwrap_or(path).to_owned(),
        };
        if !HEADER.as_bytes().starts_with(&text[..text.len().min(HEADER.len())]) {
            let what = if text.starts_with(KIND.as_bytes()) {
                "another version of ddset wrote it"
            } else {
                "it is no journal"
            };
            return Err(damaged(what.to_owned()));
        }
        if text.len() >= HEADER.len() {
            journal.len = HEADER.len() as u64;
            journal.load(&text[HEADER.len()..]).map_err(|line| damaged(format!("line {line} records no run")))?;
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

    /// The runs that came to a smaller failing input, up to the first of the pattern's search.
    pub(super) fn steps(&self) -> io::Result<Vec<Step>> {
        let text = fs::read(&self.path)?;
        let mut steps: Vec<Step> = Vec::new();
        // The very first run, of the input itself, is never remembered.
        for (run, line) in text.split(|byte| *byte == b'\n').enumerate().skip(1) {
            let Some(Line { outcome, phase, len, .. }) = line_of(line) else { continue };
            if ["readable", "leaves"].contains(&phase) {
                break;
            }
            if outcome == Outcome::Fail && steps.last().is_none_or(|last| len <= last.bytes) {
                steps.push(Step { run: run as u64 + 1, operation: phase.replace('-', " "), bytes: len });
            }
        }
        Ok(steps)
    }

    /// Whether it knows of no run.
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Takes the lines after the header; an error is the number of a line that cannot be read, though a later one can.
    fn load(&mut self, text: &[u8]) -> Result<(), usize> {
        let mut unread = None;
        let mut at = HEADER.len() as u64;
        for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            at += line.len() as u64;
            match (line.strip_suffix(b"\n").and_then(entry), unread) {
                (Some(_), Some(line)) => return Err(line),
                (Some((key, ordinal, outcome)), None) => {
                    self.len = at;
                    self.outcomes.insert((key, ordinal), outcome);
                }
                // The header is line 1.
                (None, _) => unread = unread.or(Some(index + 2)),
            }
        }
        Ok(())
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
            let message = format!("{} cannot be written: {error}; {}", self.path.display(), advice(&error));
            io::Error::new(error.kind(), message)
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

/// A line as it is written.
struct Line<'l> {
    key: Key,
    ordinal: u32,
    outcome: Outcome,
    phase: &'l str,
    len: usize,
}

fn line_of(line: &[u8]) -> Option<Line<'_>> {
    let fields: Vec<&str> = std::str::from_utf8(line).ok()?.split(' ').collect();
    let [key, ordinal, outcome, phase, len, micros] = fields[..] else { return None };
    micros.parse::<u64>().ok()?;
    let outcomes = [Outcome::Fail, Outcome::Pass, Outcome::Unresolved];
    let outcome = outcomes.into_iter().find(|known| name(*known) == outcome)?;
    Some(Line { key: Key::from_hex(key)?, ordinal: ordinal.parse().ok()?, outcome, phase, len: len.parse().ok()? })
}

fn entry(line: &[u8]) -> Option<(Key, u32, Outcome)> {
    line_of(line).map(|Line { key, ordinal, outcome, .. }| (key, ordinal, outcome))
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
    fn what_a_crash_of_the_machine_leaves_at_the_end_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        write(&path, &[(b"a", 0, Outcome::Pass)]);
        let good = fs::read(&path).unwrap();
        for tail in [&[0; 5000][..], b"\0\0\n\0", b"0123 0 pass\n", b"\n", b"\xff\n\n"] {
            fs::write(&path, [&good, tail].concat()).unwrap();
            assert_eq!(Journal::open(&path).unwrap().len(), 1);
            assert_eq!(fs::read(&path).unwrap(), good);
        }
    }

    #[test]
    fn damage_before_good_lines_is_said_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        write(&path, &[(b"a", 0, Outcome::Pass), (b"b", 0, Outcome::Pass), (b"c", 0, Outcome::Fail)]);
        let good = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = good.split_inclusive('\n').collect();
        for garbage in ["garbage\n", "\0\0\0\n\n", &lines[2][5..], &lines[2].replace("pass", "PASS")] {
            let bad = [lines[0], lines[1], garbage, lines[3]].concat();
            fs::write(&path, &bad).unwrap();
            let message = Journal::open(&path).unwrap_err().to_string();
            let expected =
                [path.display().to_string(), "line 3".to_owned(), format!("remove {}", folder.path().display())];
            assert!(expected.iter().all(|part| message.contains(part)), "{message}");
            assert_eq!(fs::read_to_string(&path).unwrap(), bad);
        }
    }

    #[test]
    fn any_phase_makes_one_line_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let phases = ["", " ", "a b", "a\nb", "\r\n\t", "\u{2028}", "proof: joint"];
        let mut journal = Journal::open(&path).unwrap();
        for (ordinal, phase) in phases.iter().enumerate() {
            journal.record(&Key::of(b""), ordinal as u32, Outcome::Pass, phase, usize::MAX, u64::MAX).unwrap();
        }
        assert_eq!(Journal::open(&path).unwrap().len(), phases.len());
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1 + phases.len());
    }

    #[test]
    fn a_full_disk_is_said_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        // It takes no byte, as a full disk.
        let Ok(full) = OpenOptions::new().append(true).open("/dev/full") else { return };
        journal.file = full;
        let error = journal.record(&Key::of(b"a"), 0, Outcome::Fail, "reduce", 1, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("make room"), "{error}");
        assert_eq!(journal.lookup(&Key::of(b"a"), 0), None);
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
