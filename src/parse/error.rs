//! Why an input has no tree, as data.

use super::chart::{Chart, Item};
use super::flat::{Flat, NONE};
use crate::grammar::diagnostic::Diagnostic;
use crate::grammar::{Grammar, SymbolId, Text, code};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::fmt;

/// How many expected things are named, and how many open constructs.
const NAMED: usize = 6;
const OPEN: usize = 3;

/// An input that has no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It is not in the grammar's language.
    #[error(transparent)]
    Syntax(#[from] Box<SyntaxError>),
    /// It has too many bytes to count.
    #[error("the input has {length} bytes; at most {} are supported", u32::MAX)]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// The chart of it would take more memory than it may.
    #[error("parsing needs more than {limit} bytes of memory, which it reached at byte {offset} of the input")]
    Memory {
        /// The byte up to which it came.
        offset: usize,
        /// The bound, in bytes.
        limit: usize,
    },
}

impl From<SyntaxError> for ParseError {
    fn from(error: SyntaxError) -> Self {
        ParseError::Syntax(Box::new(error))
    }
}

impl ParseError {
    /// The byte at which parsing ended.
    pub fn offset(&self) -> usize {
        match self {
            ParseError::Syntax(error) => error.offset,
            ParseError::TooLong { .. } => u32::MAX as usize,
            ParseError::Memory { offset, .. } => *offset,
        }
    }

    /// The same as a finding over the input's bytes.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            ParseError::Syntax(error) => error.diagnostic(),
            ParseError::TooLong { .. } => Diagnostic::error("input-too-long", self.to_string(), 0..0, ""),
            ParseError::Memory { offset, .. } => {
                Diagnostic::error("input-too-large", self.to_string(), *offset..*offset, "reached here").with_help(
                    "allow more memory, or make the grammar less ambiguous and recursive on the left, not the right",
                )
            }
        }
    }
}

/// Where an input leaves the grammar's language: at the end of the longest beginning that some text of the language has, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte of what cannot be there.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its place in the line, in characters, from 1.
    pub column: usize,
    /// What is there.
    pub found: Found,
    /// What could be there instead, as grammar labels: tokens, other rules, texts, then characters. At most six.
    pub expected: Vec<String>,
    /// How many more things could be there.
    pub more: usize,
    /// The rules whose texts have begun before it and not ended there, innermost first, each at a place of its own. At most
    /// three.
    pub open: Vec<Open>,
}

/// What stands at the place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A character.
    Character(char),
    /// A byte that is no text.
    Byte(u8),
    /// The end of the input.
    End,
}

/// A rule whose text has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The rule's name.
    pub rule: String,
    /// The byte at which its text begins.
    pub offset: usize,
    /// The line of it, from 1.
    pub line: usize,
    /// Its place in the line, in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Character(c) if c.is_control() => write!(f, "`{}`", c.escape_default()),
            Found::Character(c) => write!(f, "`{c}`"),
            Found::Byte(byte) => write!(f, "byte 0x{byte:02X}"),
            Found::End => f.write_str("the end"),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message())?;
        for open in &self.open {
            write!(f, ", {}", open.message())?;
        }
        Ok(())
    }
}

impl std::error::Error for SyntaxError {}

impl Open {
    fn message(&self) -> String {
        format!("while parsing `{}` that began at {}:{}", self.rule, self.line, self.column)
    }
}

impl SyntaxError {
    /// An error at a byte of the input.
    pub(super) fn at(input: &[u8], offset: usize, mut expected: Vec<String>, open: Vec<Open>) -> Self {
        let (line, column) = line_column(input, offset);
        let found = match code::decode(&input[offset..]).next() {
            None => Found::End,
            Some((_, code)) => match char::from_u32(code) {
                Some(c) => Found::Character(c),
                None => Found::Byte((code - code::RAW) as u8),
            },
        };
        let more = expected.len().saturating_sub(NAMED);
        expected.truncate(NAMED);
        SyntaxError { offset, line, column, found, expected, more, open }
    }

    /// What is wrong, without the place.
    fn message(&self) -> String {
        format!("{}, found {}", self.expectation(), self.found)
    }

    fn expectation(&self) -> String {
        match (self.expected.as_slice(), self.more) {
            ([], _) => "expected nothing more".to_owned(),
            ([one], 0) => format!("expected {one}"),
            ([first @ .., last], 0) => format!("expected {} or {last}", first.join(", ")),
            (named, more) => format!("expected {} or {more} more", named.join(", ")),
        }
    }

    /// The same as a finding over the input's bytes.
    pub fn diagnostic(&self) -> Diagnostic {
        let width = match self.found {
            Found::Character(c) => c.len_utf8(),
            Found::Byte(_) => 1,
            Found::End => 0,
        };
        let span = self.offset..self.offset + width;
        let mut diagnostic = Diagnostic::error(
            "input-syntax",
            format!("the input is not in the grammar's language: {}", self.message()),
            span,
            self.expectation(),
        );
        // Several labels in one line cross each other: what began in the line of another is told there.
        for same_line in self.open.chunk_by(|inner, outer| inner.line == outer.line) {
            let Some((inner, outer)) = same_line.split_first() else { continue };
            let around = outer.iter().map(|open| format!(", in `{}` from {}:{}", open.rule, open.line, open.column));
            let text = format!("while parsing `{}` that began here{}", inner.rule, around.collect::<String>());
            diagnostic = diagnostic.with_label(inner.offset..inner.offset, text);
        }
        diagnostic
    }
}

fn line_column(input: &[u8], offset: usize) -> (usize, usize) {
    let before = &input[..offset];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    (line, code::decode(&before[line_start..]).count() + 1)
}

/// The error of an input that the chart, which is complete, does not accept.
pub(super) fn syntax(
    grammar: &Grammar,
    flat: &Flat,
    chart: &Chart,
    text: &Text,
    input: &[u8],
    start: SymbolId,
) -> SyntaxError {
    let place = chart.last;
    let offset = text.offset(grammar.lexicon().skip_end(text, place as usize));
    let report = Report { grammar, flat, chart, text, input, offset };
    let awaited = if place == 0 { report.beginnings(start.0) } else { report.awaited(place) };
    SyntaxError::at(input, offset, report.labels(awaited), report.open(place))
}

struct Report<'a> {
    grammar: &'a Grammar,
    flat: &'a Flat,
    chart: &'a Chart,
    text: &'a Text,
    input: &'a [u8],
    /// The byte of what cannot be there.
    offset: usize,
}

impl Report<'_> {
    /// What the derivations that have come to a place from before it await there.
    fn awaited(&self, place: u32) -> Vec<u32> {
        let items = self.chart.items(place).iter().filter(|item| item.origin < place);
        items.map(|item| self.flat.state(item.state).awaits).collect()
    }

    /// What a text of the symbol can begin with.
    fn beginnings(&self, symbol: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = FixedBitSet::with_capacity(self.flat.len());
        let mut open = self.flat.initial(symbol).to_vec();
        while let Some(number) = open.pop() {
            let state = self.flat.state(number);
            if seen.put(number as usize) || state.awaits == NONE {
                continue;
            }
            found.push(state.awaits);
            if self.flat.is_nullable(state.awaits) {
                open.push(state.next);
            }
        }
        found
    }

    /// Named rules as such; of what has no name, what it can begin with. The chart is of no use for that: what cannot begin
    /// with the input at hand was never predicted.
    fn labels(&self, mut open: Vec<u32>) -> Vec<String> {
        let mut labels = Vec::new();
        let mut seen = FixedBitSet::with_capacity(self.flat.symbols());
        while let Some(symbol) = open.pop() {
            if seen.put(symbol as usize) {
                continue;
            }
            let id = self.flat.public(symbol);
            if self.grammar.symbol(id).name.is_some() || self.flat.is_leaf(symbol) {
                labels.push((self.rank(id), self.grammar.label(id)));
            } else {
                open.extend(self.beginnings(symbol));
            }
        }
        labels.sort_unstable();
        labels.dedup();
        labels.into_iter().map(|(_, label)| label).collect()
    }

    /// What says most comes first: tokens, other rules, texts, characters.
    fn rank(&self, id: SymbolId) -> u8 {
        match self.grammar.symbol(id) {
            symbol if symbol.name.is_some() => u8::from(!symbol.role.token),
            _ if self.grammar.is_literal(id) => 2,
            _ => 3,
        }
    }

    /// The innermost rule that has begun before `place` and has not ended there, and what it is a part of. Where a rule and its
    /// first part begin at the same place, the part says more.
    fn open(&self, place: u32) -> Vec<Open> {
        let mut found: Vec<Open> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut last_origin = place;
        let mut next = self.innermost(place);
        while let Some((symbol, origin)) = next {
            if !seen.insert((symbol, origin)) || found.len() >= OPEN {
                break;
            }
            // What is skipped between two places makes one of them in the input.
            if let Some(rule) = &self.grammar.symbol(self.flat.public(symbol)).name
                && origin < last_origin
                && let open = self.construct(rule, origin)
                && open.offset < found.last().map_or(self.offset, |inner| inner.offset)
            {
                last_origin = origin;
                found.push(open);
            }
            next = self.around(symbol, origin, &seen);
        }
        found
    }

    fn innermost(&self, place: u32) -> Option<(u32, u32)> {
        let ended = |item: &&Item| {
            let owner = self.flat.state(item.state).owner;
            !self.chart.derivations(item.origin, place, owner).is_empty()
        };
        let items = self.chart.items(place).iter().filter(|item| item.origin < place && !ended(item));
        let innermost = items.min_by_key(|item| (Reverse(item.origin), item.state))?;
        Some((self.flat.state(innermost.state).owner, innermost.origin))
    }

    /// What awaits a symbol at its beginning, preferring what began last.
    fn around(&self, symbol: u32, origin: u32, seen: &FxHashSet<(u32, u32)>) -> Option<(u32, u32)> {
        let items = self.chart.items(origin).iter().filter(|item| self.flat.state(item.state).awaits == symbol);
        items
            .map(|item| (self.flat.state(item.state).owner, item.origin))
            .filter(|around| !seen.contains(around))
            .min_by_key(|(owner, origin)| (Reverse(*origin), *owner))
    }

    fn construct(&self, rule: &str, origin: u32) -> Open {
        let offset = self.text.offset(self.grammar.lexicon().skip_end(self.text, origin as usize));
        let (line, column) = line_column(self.input, offset);
        Open { rule: rule.to_owned(), offset, line, column }
    }
}
