//! Every run, one line each, written at once: what a killed run goes on from.
//!
//! A line is `KEY ORDINAL OUTCOME PHASE LENGTH MICROSECONDS`. The key is the input's BLAKE3 hash. A kill can tear the last
//! line only; it is cut off when the journal is opened again.

use super::{SessionError, io};
use crate::oracle::Outcome;
use crate::search::{Key, Memory, Record};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

const HEADER: &str = "ddset journal 1\n";

/// The journal of a request.
#[derive(Debug)]
pub struct Journal {
    known: FxHashMap<(Key, u32), Outcome>,
    file: File,
}

impl Journal {
    pub(super) fn open(path: &Path) -> Result<Journal, SessionError> {
        let file = File::options().create(true).truncate(false).read(true).write(true).open(path);
        let mut file = file.map_err(io("open", path))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io("read", path))?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut known = FxHashMap::default();
        let mut lines = text[..whole].split_inclusive(|byte| *byte == b'\n');
        let damaged = |line: usize| SessionError::Damaged { path: path.to_owned(), what: format!("line {line}") };
        if lines.next().is_some_and(|header| header != HEADER.as_bytes()) {
            return Err(damaged(1));
        }
        for (number, line) in lines.enumerate() {
            let entry = std::str::from_utf8(line).ok().and_then(parse).ok_or_else(|| damaged(number + 2))?;
            known.insert((entry.0, entry.1), entry.2);
        }
        file.set_len(whole as u64).map_err(io("write", path))?;
        file.seek(SeekFrom::End(0)).map_err(io("write", path))?;
        if whole == 0 {
            file.write_all(HEADER.as_bytes()).map_err(io("write", path))?;
        }
        Ok(Journal { known, file })
    }
}

fn parse(line: &str) -> Option<(Key, u32, Outcome)> {
    let mut words = line.split_whitespace();
    let key = Key::from_hex(words.next()?).ok()?;
    let ordinal = words.next()?.parse().ok()?;
    let outcome = match words.next()? {
        "fail" => Outcome::Fail,
        "pass" => Outcome::Pass,
        "unresolved" => Outcome::Unresolved,
        _ => return None,
    };
    (words.count() == 3).then_some((key, ordinal, outcome))
}

impl Memory for Journal {
    fn lookup(&self, key: &Key, ordinal: u32) -> Option<Outcome> {
        self.known.get(&(*key, ordinal)).copied()
    }

    fn record(&mut self, key: &Key, ordinal: u32, run: &Record<'_>) -> std::io::Result<()> {
        let outcome = match run.outcome {
            Outcome::Fail => "fail",
            Outcome::Pass => "pass",
            Outcome::Unresolved => "unresolved",
        };
        let phase = run.phase.replace(' ', "-");
        let line = format!("{} {ordinal} {outcome} {phase} {} {}\n", key.to_hex(), run.len, run.micros);
        self.file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_cut_off_and_the_others_count() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("journal");
        let run = |outcome| Record { outcome, phase: "inner nodes", len: 3, micros: 5 };
        let (a, b) = (blake3::hash(b"a"), blake3::hash(b"b"));
        let mut journal = Journal::open(&path).expect("opens");
        journal.record(&a, 0, &run(Outcome::Fail)).expect("writes");
        journal.record(&b, 0, &run(Outcome::Pass)).expect("writes");
        drop(journal);
        let whole = std::fs::read(&path).expect("there");
        let second = HEADER.len() + (whole.len() - HEADER.len()).div_ceil(2);
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).expect("writes");
            let mut journal = Journal::open(&path).expect("a torn journal opens");
            let first_kept = end >= second - 1 && whole[..end].iter().filter(|byte| **byte == b'\n').count() >= 2;
            assert_eq!(journal.lookup(&a, 0), first_kept.then_some(Outcome::Fail), "cut at {end}");
            assert_eq!(journal.lookup(&b, 0), None);
            journal.record(&b, 0, &run(Outcome::Unresolved)).expect("writes");
            drop(journal);
            assert_eq!(Journal::open(&path).expect("opens").lookup(&b, 0), Some(Outcome::Unresolved));
        }
    }

    #[test]
    fn garbage_in_the_middle_is_named() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("journal");
        std::fs::write(&path, format!("{HEADER}nonsense\n")).expect("writes");
        let message = Journal::open(&path).expect_err("damaged").to_string();
        assert!(message.contains("line 2"), "{message}");
    }
}
