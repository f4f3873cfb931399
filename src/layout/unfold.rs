//! From a derived text to one with indentation.

use super::{Layout, blanks, bracket, line_break};
use crate::grammar::Mark;

/// What a level is indented by if nothing else is known.
const UNIT: &[u8] = b"    ";

/// Writes a text without its marks. What was skipped is held back until it is known what comes after it.
#[derive(Debug)]
pub struct Writer<'a> {
    layout: &'a Layout,
    out: Vec<u8>,
    /// The indentation of each block that is open.
    levels: Vec<Vec<u8>>,
    /// Blocks that have begun, and have no line yet.
    begun: usize,
    /// Whether the next token begins a logical line.
    at_line: bool,
    depth: isize,
    /// What was skipped since the last token.
    skipped: Vec<u8>,
    /// Where in it the last line begins.
    line: Option<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        // Before the first line, no line needs an end.
        let line = Some(0);
        Writer {
            layout,
            out: Vec::new(),
            levels: vec![Vec::new()],
            begun: 0,
            at_line: true,
            depth: 0,
            skipped: Vec::new(),
            line,
        }
    }

    /// Writes text that begins and ends between tokens.
    pub fn text(&mut self, folded: &[u8]) {
        let Some(marks) = self.layout.marks else {
            self.out.extend_from_slice(folded);
            return;
        };
        for (place, skipped) in Layout::lexemes(&self.layout.lexicon, folded) {
            let lexeme = &folded[place];
            match marks.find(lexeme) {
                _ if skipped => self.skip(lexeme),
                Some(mark) => self.mark(mark),
                None => self.token(lexeme),
            }
        }
    }

    /// What was written since the last call, up to where a token begins that is written by other means: `folded` is its
    /// text.
    pub fn up_to(&mut self, folded: &[u8]) -> Vec<u8> {
        self.token(b"");
        self.at_line = self.layout.ends_line(folded);
        std::mem::take(&mut self.out)
    }

    /// What was written since the last call, to the end.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.append(&mut self.skipped);
        self.out
    }

    fn skip(&mut self, lexeme: &[u8]) {
        if let Some(end) = line_break(lexeme) {
            self.line = Some(self.skipped.len() + end);
        }
        self.skipped.extend_from_slice(lexeme);
    }

    fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::Newline => {
                // Blanks that edits left before the end of a line.
                self.skipped.clear();
                self.line = None;
                self.at_line = true;
            }
            Mark::Indent => self.begun += 1,
            Mark::Dedent if self.begun > 0 => self.begun -= 1,
            Mark::Dedent => {
                self.levels.truncate(self.levels.len().max(2) - 1);
            }
        }
    }

    fn token(&mut self, lexeme: &[u8]) {
        let skipped = std::mem::take(&mut self.skipped);
        let line = self.line.take();
        if std::mem::take(&mut self.at_line) {
            self.begin_line(&skipped, line);
        } else if line.is_some() && self.depth == 0 {
            self.out.push(b' ');
        } else {
            self.out.extend_from_slice(&skipped);
        }
        self.out.extend_from_slice(lexeme);
        self.depth = (self.depth + bracket(lexeme)).max(0);
    }

    fn begin_line(&mut self, skipped: &[u8], line: Option<usize>) {
        let (before, after) = skipped.split_at(line.unwrap_or(skipped.len()));
        let (own, after) = after.split_at(blanks(after));
        for _ in 0..std::mem::take(&mut self.begun) {
            let around = self.levels.last().map_or(&[][..], Vec::as_slice);
            let deeper = line.is_some() && own.len() > around.len() && own.starts_with(around);
            let level = if deeper { own.to_vec() } else { [around, UNIT].concat() };
            self.levels.push(level);
        }
        if line.is_some() || !before.trim_ascii().is_empty() {
            self.out.extend_from_slice(before);
        }
        if line.is_none() {
            self.out.push(b'\n');
        }
        self.out.extend(self.levels.last().into_iter().flatten());
        self.out.extend_from_slice(after);
    }
}
