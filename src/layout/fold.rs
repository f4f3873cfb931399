//! From a text to one with marks.

use super::{Layout, Marks, blanks, bracket, line_break};
use crate::grammar::Lexicon;
use crate::grammar::diagnostic::Diagnostic;

/// Where tabs stop.
const TAB: usize = 8;

/// A text with marks, and where they were put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// The text with marks.
    pub text: Vec<u8>,
    /// Where the marks are in it, ascending.
    marks: Vec<usize>,
}

impl Folded {
    /// A text without any.
    pub(super) fn plain(source: &[u8]) -> Self {
        Folded { text: source.to_vec(), marks: Vec::new() }
    }

    /// The byte of the source that is at this byte of the text; for a mark, what comes after it.
    pub fn source_offset(&self, offset: usize) -> usize {
        offset - self.marks.partition_point(|mark| *mark < offset)
    }

    /// A finding about the text as one about the source.
    #[must_use]
    pub fn in_source(&self, mut finding: Diagnostic) -> Diagnostic {
        for label in &mut finding.labels {
            label.span = self.source_offset(label.span.start)..self.source_offset(label.span.end);
        }
        finding
    }
}

/// Why the lines of a text make no blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A line between two levels.
    #[error("the line is indented less than its block, and more than what is around the block")]
    Between {
        /// The byte at which the line's text begins.
        offset: usize,
    },
    /// A mark that nobody put there.
    #[error("the input has the character U+{code:04X} outside of tokens, which stands for indentation in this grammar")]
    Mark {
        /// The byte at which it stands.
        offset: usize,
        /// The character.
        code: u8,
    },
}

impl LayoutError {
    /// The same as a finding over the input's bytes.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            LayoutError::Between { offset } => {
                Diagnostic::error("input-indentation", self.to_string(), *offset..*offset, "no block begins here")
                    .with_help("indent it as a line above it")
            }
            LayoutError::Mark { offset, .. } => {
                Diagnostic::error("input-mark", self.to_string(), *offset..offset + 1, "here").with_help("remove it")
            }
        }
    }
}

pub(super) fn fold(lexicon: &Lexicon, marks: Marks, source: &[u8]) -> Result<Folded, LayoutError> {
    let mut folding = Folding { marks, source, levels: vec![0], open: false, last: 0, line: 0, put: Vec::new() };
    let mut depth = 0_isize;
    for (place, skipped) in Layout::lexemes(lexicon, source) {
        let lexeme = &source[place.clone()];
        if skipped {
            if let Some(end) = line_break(lexeme).filter(|_| depth == 0) {
                folding.end_line();
                folding.line = place.start + end;
            }
            continue;
        }
        if marks.find(lexeme).is_some() {
            return Err(LayoutError::Mark { offset: place.start, code: lexeme[0] });
        }
        folding.begin_line(place.start)?;
        folding.last = place.end;
        depth = (depth + bracket(lexeme)).max(0);
    }
    folding.end_line();
    let outer = folding.levels.len() - 1;
    folding.put.extend(std::iter::repeat_n((folding.last, marks.dedent), outer));
    Ok(folding.folded())
}

struct Folding<'s> {
    marks: Marks,
    source: &'s [u8],
    /// The columns of the blocks that are open.
    levels: Vec<usize>,
    /// Whether a logical line has begun.
    open: bool,
    /// Where the last token ends.
    last: usize,
    /// Where the line begins.
    line: usize,
    /// Marks, and where they go.
    put: Vec<(usize, u8)>,
}

impl Folding<'_> {
    fn begin_line(&mut self, at: usize) -> Result<(), LayoutError> {
        if std::mem::replace(&mut self.open, true) {
            return Ok(());
        }
        let line = &self.source[self.line..at];
        let column = column(&line[..blanks(line)]);
        if self.levels.last().is_some_and(|level| column > *level) {
            self.levels.push(column);
            self.put.push((self.last, self.marks.indent));
        }
        while self.levels.pop_if(|level| column < *level).is_some() {
            self.put.push((self.last, self.marks.dedent));
        }
        if self.levels.last() == Some(&column) { Ok(()) } else { Err(LayoutError::Between { offset: at }) }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.open) {
            self.put.push((self.last, self.marks.newline));
        }
    }

    fn folded(self) -> Folded {
        let mut folded = Folded { text: Vec::with_capacity(self.source.len() + self.put.len()), marks: Vec::new() };
        let mut from = 0;
        for (at, mark) in self.put {
            folded.text.extend_from_slice(&self.source[from..at]);
            folded.marks.push(folded.text.len());
            folded.text.push(mark);
            from = at;
        }
        folded.text.extend_from_slice(&self.source[from..]);
        folded
    }
}

/// The column after white space at the begin of a line. A form feed begins it anew, as it does for Python.
fn column(blanks: &[u8]) -> usize {
    blanks.iter().fold(0, |column, byte| match byte {
        b'\t' => (column / TAB + 1) * TAB,
        0xC => 0,
        b'\r' => column,
        _ => column + 1,
    })
}
