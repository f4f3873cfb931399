//! Indentation, as marks in the text.
//!
//! In a language with an offside rule white space says where blocks begin and end, which no context-free grammar can
//! tell. So the engine never sees it: before parsing, [`Layout::fold`] puts a mark where a logical line ends, where a
//! block begins and where it ends; [`Layout::unfold`] takes the marks out of what was derived, and indents lines as the
//! marks say. A grammar asks for this by `@newline`, `@indent` and `@dedent` (`docs/grammar-files.md`, "Indentation");
//! for all others, a text is its own fold.
//!
//! What a token is, what is skipped and what a bracket is comes from the grammar's lexicon, at each place the longest
//! match. No language is known here, and no tree.

mod fold;
mod oracle;
#[cfg(test)]
mod tests;
mod unfold;

pub use fold::{Folded, LayoutError};
pub use oracle::Unfolding;
pub use unfold::Writer;

use crate::grammar::{Grammar, Lexicon, Mark};
use std::borrow::Cow;
use std::ops::Range;

/// The layout of a grammar's inputs.
///
/// ```
/// use ddset::{grammar::Grammar, layout::Layout};
/// let grammar = Grammar::read(
///     "block ::= line+
///      line ::= word (newline | ':' newline indent block dedent)
///      /*@ token */ word ::= [a-z]+
///      /*@ skip */ space ::= [ #xA]+
///      /*@ newline */ newline ::= #x1E
///      /*@ indent */ indent ::= #xE
///      /*@ dedent */ dedent ::= #xF",
///     None,
/// )?;
/// let layout = Layout::of(&grammar);
/// assert_eq!(layout.fold(b"a:\n  b\nc\n")?.text, b"a:\x1E\x0E\n  b\x1E\x0F\nc\x1E\n");
/// assert_eq!(*layout.unfold(b"a:\x1E\x0Eb\x1E\x0Fc\x1E"), *b"a:\n    b\nc");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    lexicon: Lexicon,
    marks: Option<Marks>,
}

/// The characters that are marks.
#[derive(Clone, Copy, Debug)]
struct Marks {
    newline: u8,
    indent: u8,
    dedent: u8,
}

impl Marks {
    fn of(grammar: &Grammar) -> Option<Marks> {
        let character = |mark| grammar.least_leaf(grammar.mark(mark)?).first().copied();
        Some(Marks {
            newline: character(Mark::Newline)?,
            indent: character(Mark::Indent)?,
            dedent: character(Mark::Dedent)?,
        })
    }

    fn find(self, lexeme: &[u8]) -> Option<Mark> {
        match lexeme {
            [byte] if *byte == self.newline => Some(Mark::Newline),
            [byte] if *byte == self.indent => Some(Mark::Indent),
            [byte] if *byte == self.dedent => Some(Mark::Dedent),
            _ => None,
        }
    }
}

impl Layout {
    /// What the grammar asks for; nothing, if it has no marks.
    pub fn of(grammar: &Grammar) -> Self {
        Layout { lexicon: grammar.lexicon().clone(), marks: Marks::of(grammar) }
    }

    /// A text with marks where lines and blocks end and begin. Nothing is taken out: it is the text, once the marks are
    /// gone. Marks stand right after the last token before them, comments come after them.
    ///
    /// Lines within brackets, within tokens and escaped ones are part of the logical line that they are in; lines
    /// without any token are part of none. Tabs go to multiples of 8.
    ///
    /// # Errors
    /// When a line is indented less than its block and more than what is around it, or a character that is a mark
    /// stands outside of tokens.
    pub fn fold(&self, source: &[u8]) -> Result<Folded, LayoutError> {
        match self.marks {
            Some(marks) => fold::fold(&self.lexicon, marks, source),
            None => Ok(Folded::plain(source)),
        }
    }

    /// A derived text without its marks, lines broken and indented where they say so. Indentation that is there and
    /// means the same is kept, so that the fold of a text unfolds to that text; what has none is indented by four
    /// blanks a level. Within a logical line, a line break outside of brackets becomes a blank.
    pub fn unfold<'t>(&self, folded: &'t [u8]) -> Cow<'t, [u8]> {
        if self.marks.is_none() {
            return Cow::Borrowed(folded);
        }
        let mut writer = self.writer();
        writer.text(folded);
        Cow::Owned(writer.finish())
    }

    /// Writes a derived text piece by piece.
    pub fn writer(&self) -> Writer<'_> {
        Writer::new(self)
    }

    /// Where a part of a derived text, which begins with a token, is once the text is unfolded.
    pub fn unfolded_range(&self, folded: &[u8], part: Range<usize>) -> Range<usize> {
        let mut writer = self.writer();
        writer.text(&folded[..part.start]);
        writer.up_to(&[]).len()..self.unfold(&folded[..part.end]).len()
    }

    /// Whether a derived text ends with the end of a line.
    fn ends_line(&self, folded: &[u8]) -> bool {
        let last = folded.last().map(std::slice::from_ref);
        self.marks.zip(last).and_then(|(marks, last)| marks.find(last)).is_some()
    }

    /// The lexemes of a text: the end of each, in bytes, and whether it is skipped. What no token begins with is a
    /// lexeme of one character.
    fn lexemes(lexicon: &Lexicon, text: &[u8]) -> impl Iterator<Item = (Range<usize>, bool)> {
        let classes = lexicon.text(text);
        let lexicon = lexicon.clone();
        let mut at = 0;
        std::iter::from_fn(move || {
            let from = at;
            let (end, skip) = (from < classes.len()).then(|| match lexicon.lexeme(&classes, from) {
                Some((end, skip)) if end > from => (end, skip),
                _ => (from + 1, false),
            })?;
            at = end;
            Some((classes.offset(from)..classes.offset(end), skip))
        })
    }
}

/// By how much a lexeme changes the depth of brackets.
fn bracket(lexeme: &[u8]) -> isize {
    match lexeme {
        b"(" | b"[" | b"{" => 1,
        b")" | b"]" | b"}" => -1,
        _ => 0,
    }
}

/// Where the last line break of a stretch of white space ends. Line breaks within other text that is skipped are not
/// seen: a comment's are its own, and those that are escaped end no line.
fn line_break(skipped: &[u8]) -> Option<usize> {
    let last = skipped.iter().rposition(|byte| *byte == b'\n')?;
    skipped.trim_ascii().is_empty().then_some(last + 1)
}

/// How many bytes of white space a line begins with.
fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != b'\n').count()
}
