//! What can be seen of a grammar file before it is read: where texts, sets and comments stand, and how deep it is nested.
//!
//! Readers are recursive. What is too deep for them is found here, and what would make them point at the wrong place: a text or a
//! comment that never ends.

use super::Format;
use crate::grammar::diagnostic::Diagnostic;

/// Deeper nesting than this is no grammar that a person wrote, and would take too much stack.
const MAX_DEPTH: usize = 200;

/// How texts, sets and comments are written.
pub(super) struct Surface {
    /// What texts are quoted with.
    quotes: &'static str,
    /// Whether a backslash takes the next character's meaning away, in texts and sets.
    escapes: bool,
    /// Whether names stand in angle brackets, and may hold anything there.
    names: bool,
    /// Whether brackets hold a set.
    sets: bool,
    /// What begins a comment up to the end of the line.
    line: &'static [&'static str],
    /// What begins and ends other comments.
    block: &'static [(&'static str, &'static str)],
    /// Whether such comments nest.
    nested: bool,
}

impl Surface {
    /// That of a notation; none for those that are no text of this kind.
    pub(super) fn of(format: Format) -> Option<Surface> {
        let plain =
            Surface { quotes: "\"'", escapes: false, names: false, sets: true, line: &[], block: &[], nested: false };
        let escaped = Surface { escapes: true, ..plain };
        Some(match format {
            Format::W3c => Surface {
                block: &[("/*", "*/"), ("[wfc:", "]"), ("[WFC:", "]"), ("[vc:", "]"), ("[VC:", "]")],
                names: true,
                ..plain
            },
            Format::Iso => {
                Surface { quotes: "\"'’", sets: false, block: &[("(*", "*)"), ("?", "?")], nested: true, ..plain }
            }
            Format::Abnf => Surface { quotes: "\"", sets: false, line: &[";"], block: &[("<", ">")], ..plain },
            Format::Gbnf => Surface { quotes: "\"", line: &["#"], ..escaped },
            Format::Lark => Surface { quotes: "\"/", sets: false, line: &["//", "#"], ..escaped },
            Format::Peg => Surface { line: &["#"], ..escaped },
            Format::Pest => Surface { sets: false, line: &["//"], block: &[("/*", "*/")], nested: true, ..escaped },
            Format::Antlr | Format::Bnf | Format::Fuzzingbook | Format::TreeSitter => return None,
        })
    }

    /// The text with blanks for comments and `x` for texts and sets, each byte in its place.
    pub(super) fn mask(&self, text: &str) -> Result<String, Diagnostic> {
        let mut masked = String::with_capacity(text.len());
        let mut open: Vec<usize> = Vec::new();
        // Signs before or after what they apply to nest as brackets do: `!!!a`, `a???`.
        let mut signs = 0;
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let (end, shown) = if let Some(line) = self.line.iter().find(|begin| rest.starts_with(**begin)) {
                let _ = line;
                (at + rest.find('\n').unwrap_or(rest.len()), ' ')
            } else if let Some((begin, end)) = self.block.iter().find(|(begin, _)| rest.starts_with(begin)) {
                (self.comment_end(text, at, begin, end)?, ' ')
            } else if let Some(end) =
                rest.find(['>', '\n']).filter(|end| self.names && c == '<' && rest[*end..].starts_with('>'))
            {
                (at + end + 1, 'x')
            } else if self.quotes.contains(c) {
                (self.text_end(text, at, c)?, 'x')
            } else if self.sets && c == '[' {
                (self.set_end(text, at), 'x')
            } else {
                (at + c.len_utf8(), c)
            };
            match c {
                '(' | '[' | '{' if shown == c => open.push(at),
                ')' | ']' | '}' if shown == c => _ = open.pop(),
                '\u{FEFF}' if shown == c => {
                    return Err(Diagnostic::error(
                        "stray-byte-order-mark",
                        "a byte-order mark stands inside the grammar",
                        at..end,
                        "",
                    )
                    .with_help("only a file may begin with one: remove it (it is the invisible character U+FEFF)"));
                }
                _ => {}
            }
            signs = match shown {
                '?' | '*' | '+' | '!' | '&' | '~' | '-' | '{' => signs + 1,
                c if c.is_whitespace() || c.is_ascii_digit() || "},".contains(c) => signs,
                _ => 0,
            };
            if open.len() + signs > MAX_DEPTH {
                return Err(super::too_deep(at..at + c.len_utf8()));
            }
            if shown == c && end == at + c.len_utf8() {
                masked.push(c);
            } else {
                masked
                    .extend(text[at..end].bytes().map(|byte| if byte == b'\n' && shown == ' ' { '\n' } else { shown }));
            }
            at = end;
        }
        Ok(masked)
    }

    fn comment_end(&self, text: &str, at: usize, begin: &str, end: &str) -> Result<usize, Diagnostic> {
        let mut depth = 1;
        let mut next = at + begin.len();
        while let Some(c) = text[next..].chars().next() {
            let rest = &text[next..];
            if rest.starts_with(end) {
                next += end.len();
                depth -= 1;
                if depth == 0 {
                    return Ok(next);
                }
            } else if self.nested && rest.starts_with(begin) {
                next += begin.len();
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(super::too_deep(next - begin.len()..next));
                }
            } else {
                next += c.len_utf8();
            }
        }
        let message = format!("`{begin}` has no `{end}`");
        Err(Diagnostic::error("unterminated", message, at..at + begin.len(), "begins here and never ends"))
    }

    /// Where a text ends. One that runs into the head of another rule was never meant to.
    fn text_end(&self, text: &str, at: usize, quote: char) -> Result<usize, Diagnostic> {
        let mut characters = text[at..].char_indices().skip(1);
        while let Some((offset, c)) = characters.next() {
            if c == quote {
                return Ok(at + offset + c.len_utf8());
            }
            // No notation with a regular expression between slashes lets one go on in the next line.
            if c == '\n' && (quote == '/' || super::detect::begins_rule(&text[at + offset + 1..])) {
                break;
            }
            if c == '\\' && self.escapes {
                characters.next();
            }
        }
        if quote == '/' {
            return Ok(at + 1);
        }
        let begin = at..at + quote.len_utf8();
        Err(Diagnostic::error("unterminated", "this text has no closing quote", begin, "begins here and never ends")
            .with_help(format!("close it with {quote}")))
    }

    /// Where a set ends; a bracket that closes nothing is for the reader to report.
    fn set_end(&self, text: &str, at: usize) -> usize {
        let mut characters = text[at..].char_indices().skip(1);
        while let Some((offset, c)) = characters.next() {
            match c {
                ']' => return at + offset + 1,
                '\\' if self.escapes => _ = characters.next(),
                _ => {}
            }
        }
        at + 1
    }
}
