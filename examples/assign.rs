//! A little language of assignments, whose optimiser has a bug, to try `ddset` on.
//!
//! `assign FILE` (or the standard input, when there is no FILE) runs a program such as `a = 1; b = a + 2` and prints each
//! variable with its last value. An assignment's right side is a sum of whole numbers and names; numbers wrap around at
//! 2⁶⁴. It exits with 0, or with 2 and a message when the input is no program or reads a name (`undefined`) that no
//! assignment before it has set.
//!
//! The bug: it panics (exit 101, `internal error: … is read after its last use`) on a valid program if, and only if, some
//! assignment reads the variable that it sets. As a variable must be set before it is read, the shortest such program is
//! `v = 0; v = v`, with one and the same name in all three places. [`resolve_reads`] shows how it came about.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, not part of the library")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    match read_input().map_err(|error| error.to_string()).and_then(|text| run(&text)) {
        Ok(lines) => {
            print!("{lines}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("assign: {message}");
            ExitCode::from(2)
        }
    }
}

fn read_input() -> std::io::Result<Vec<u8>> {
    match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path),
        None => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text)?;
            Ok(text)
        }
    }
}

fn run(text: &[u8]) -> Result<String, String> {
    let program = Parser { text, at: 0 }.program()?;
    check_names(&program)?;
    let values = evaluate(&resolve_reads(&program));
    let last: BTreeMap<&str, u64> = program.iter().map(|assignment| assignment.target.as_str()).zip(values).collect();
    Ok(last.iter().map(|(name, value)| format!("{name} = {value}\n")).collect())
}

struct Assignment {
    target: String,
    summands: Vec<Summand>,
}

enum Summand {
    Number(u64),
    Name(String),
}

/// A summand whose name has been resolved to the assignment that it reads.
enum Operand {
    Number(u64),
    Store(usize),
}

fn check_names(program: &[Assignment]) -> Result<(), String> {
    let mut set = BTreeSet::new();
    for assignment in program {
        for summand in &assignment.summands {
            if let Summand::Name(name) = summand
                && !set.contains(name)
            {
                return Err(format!("undefined: {name}"));
            }
        }
        set.insert(&assignment.target);
    }
    Ok(())
}

/// Replaces each name that is read by the assignment that set it, so that no variable has to be looked up at run time.
fn resolve_reads(program: &[Assignment]) -> Vec<Vec<Operand>> {
    let mut live = BTreeMap::new();
    let mut resolved = Vec::new();
    for (index, assignment) in program.iter().enumerate() {
        // A new value: what the variable held until now is dead.
        live.remove(&assignment.target);
        let operands = assignment.summands.iter().map(|summand| match summand {
            Summand::Number(number) => Operand::Number(*number),
            Summand::Name(name) => match live.get(name) {
                Some(store) => Operand::Store(*store),
                None => panic!("internal error: {name} is read after its last use"),
            },
        });
        resolved.push(operands.collect());
        live.insert(&assignment.target, index);
    }
    resolved
}

fn evaluate(program: &[Vec<Operand>]) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    for operands in program {
        let sum = operands.iter().fold(0_u64, |sum, operand| match operand {
            Operand::Number(number) => sum.wrapping_add(*number),
            Operand::Store(index) => sum.wrapping_add(values[*index]),
        });
        values.push(sum);
    }
    values
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    /// `assignment (";" assignment)* ";"?`
    fn program(&mut self) -> Result<Vec<Assignment>, String> {
        let mut program = vec![self.assignment()?];
        while self.takes(b';') && self.peek().is_some() {
            program.push(self.assignment()?);
        }
        match self.peek() {
            None => Ok(program),
            Some(_) => Err(self.error("`+`, `;` or the end")),
        }
    }

    /// `name "=" expr`, where `expr` is `summand ("+" summand)*`
    fn assignment(&mut self) -> Result<Assignment, String> {
        let target = self.name()?;
        if !self.takes(b'=') {
            return Err(self.error("`=`"));
        }
        let mut summands = vec![self.summand()?];
        while self.takes(b'+') {
            summands.push(self.summand()?);
        }
        Ok(Assignment { target, summands })
    }

    fn summand(&mut self) -> Result<Summand, String> {
        match self.peek() {
            Some(b'0'..=b'9') => Ok(Summand::Number(self.number())),
            _ => self.name().map(Summand::Name),
        }
    }

    /// `[0-9]+`
    fn number(&mut self) -> u64 {
        self.word(|byte| byte.is_ascii_digit())
            .bytes()
            .fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
    }

    /// `[A-Za-z_] [A-Za-z0-9_]*`
    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                Ok(self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            }
            _ => Err(self.error("a name")),
        }
    }

    fn word(&mut self, belongs: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| belongs(*byte)) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The next byte that is no white space, which is skipped.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn error(&self, expected: &str) -> String {
        format!("expected {expected} at byte {}", self.at)
    }
}
