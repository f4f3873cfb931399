//! An oracle without a process: the failing input of a property test is reduced and abstracted by calls of the library.
//!
//! The function under test prints sums and differences with as few parentheses as it can. The property: what is printed reads as
//! what it was. The planted bug: [`print`] leaves out the parentheses in `1-(2-3)`, since there are none needed in `1+(2+3)`.
//!
//! `cargo run --example property` prints the input as it was found, the smallest one that fails, and the pattern.

#![allow(clippy::print_stdout, reason = "a program of its own, not part of the library")]

use ddset::abstraction::{Options, generalize};
use ddset::grammar::Grammar;
use ddset::oracle::Outcome;
use ddset::parse::parse;
use ddset::reduce::reduce;
use ddset::search::Search;
use std::error::Error;
use std::sync::Arc;

/// What a generator of random inputs might have come upon.
pub const FOUND: &str = "7+(12-3)+(45-(6+(9-11))-(81-20-(3-1)+6))-(8)+100";

/// The language of the function's inputs.
pub const GRAMMAR: &str = "expr   ::= term (sign term)*
term   ::= number | '(' expr ')'
sign   ::= '+' | '-'
/*@ token */ number ::= [0-9]+";

fn main() -> Result<(), Box<dyn Error>> {
    let (smallest, pattern) = explained(2)?;
    println!("found:    {FOUND}\nsmallest: {smallest}\npattern:  {pattern}");
    Ok(())
}

/// The smallest input that fails, and its pattern; with so many calls of the oracle at a time.
pub fn explained(jobs: usize) -> Result<(String, String), Box<dyn Error>> {
    let grammar = Arc::new(Grammar::read(GRAMMAR, None)?);
    let tree = parse(&grammar, FOUND.as_bytes())?;
    // The oracle is the property. A panic would be the oracle's own; one that is the failure is caught here (`catch_unwind`).
    let oracle = |input: &[u8]| match std::str::from_utf8(input).ok().and_then(read) {
        Some(value) if read(&print(&value)).as_ref() == Some(&value) => Outcome::Pass,
        Some(_) => Outcome::Fail,
        None => Outcome::Unresolved,
    };
    std::thread::scope(|scope| {
        let mut search = Search::new(&oracle).with_jobs(scope, jobs);
        let smallest = reduce(&grammar, tree, &mut search).tree;
        let text = String::from_utf8_lossy(smallest.text()).into_owned();
        let pattern = generalize(&grammar, smallest, &mut search, &Options::default()).pattern;
        Ok((text, String::from_utf8_lossy(&pattern.text()).into_owned()))
    })
}

/// A number, or two values with a sign between them.
#[derive(PartialEq)]
enum Value {
    Number(String),
    Pair(Box<Value>, char, Box<Value>),
}

/// The function under test.
fn print(value: &Value) -> String {
    let Value::Pair(left, sign, right) = value else {
        let Value::Number(digits) = value else { return String::new() };
        return digits.clone();
    };
    match &**right {
        Value::Pair(_, inner, _) if inner != sign => format!("{}{sign}({})", print(left), print(right)),
        _ => format!("{}{sign}{}", print(left), print(right)),
    }
}

/// Reads what is printed; sums hold on their left. To tell the two apart that do not matter, `1+(2+3)` is read as `1+2+3`.
fn read(text: &str) -> Option<Value> {
    let (value, rest) = read_sum(text)?;
    rest.is_empty().then_some(value)
}

fn read_sum(text: &str) -> Option<(Value, &str)> {
    let (mut value, mut rest) = read_term(text)?;
    while let Some(sign) = rest.chars().next().filter(|char| "+-".contains(*char)) {
        let (right, after) = read_term(&rest[1..])?;
        value = join(value, sign, right);
        rest = after;
    }
    Some((value, rest))
}

fn join(left: Value, sign: char, right: Value) -> Value {
    match right {
        Value::Pair(first, '+', second) if sign == '+' => join(join(left, '+', *first), '+', *second),
        right => Value::Pair(Box::new(left), sign, Box::new(right)),
    }
}

fn read_term(text: &str) -> Option<(Value, &str)> {
    if let Some(inner) = text.strip_prefix('(') {
        let (value, rest) = read_sum(inner)?;
        return Some((value, rest.strip_prefix(')')?));
    }
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (!digits.is_empty()).then(|| (Value::Number(digits.to_owned()), rest))
}
