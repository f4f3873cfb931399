//! Patterns as text.
//!
//! A hole is written `<…>`. A literal `<` is written `\<`; backslashes right before a `<` are doubled, all others stand for
//! themselves. Inside a hole, `>` may stand in quotes, in brackets and after a blank: `<"<" | ">">`, `<int: >= 256>`.

/// A piece of a pattern's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Concrete text.
    Text(Vec<u8>),
    /// A hole, with what stands between `<` and `>`.
    Hole(String),
}

/// The text of the pieces.
pub fn print(segments: &[Segment]) -> Vec<u8> {
    let mut out = Vec::new();
    for segment in segments {
        match segment {
            Segment::Text(text) => {
                for &byte in text {
                    if byte == b'<' {
                        double_backslashes(&mut out);
                        out.push(b'\\');
                    }
                    out.push(byte);
                }
            }
            Segment::Hole(label) => {
                double_backslashes(&mut out);
                out.push(b'<');
                out.extend_from_slice(label.as_bytes());
                out.push(b'>');
            }
        }
    }
    out
}

fn double_backslashes(out: &mut Vec<u8>) {
    let count = out.iter().rev().take_while(|byte| **byte == b'\\').count();
    out.extend(std::iter::repeat_n(b'\\', count));
}

/// A text in which a hole was begun and not ended.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the `<` at byte {at} begins a hole that does not end; write `\\<` for the character itself")]
pub struct UnclosedHole {
    /// Byte offset of the `<`.
    pub at: usize,
}

/// Reads what `print` writes.
///
/// # Errors
/// When a hole does not end.
pub fn read(text: &[u8]) -> Result<Vec<Segment>, UnclosedHole> {
    let mut segments = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let backslashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
        let before_hole = text.get(at + backslashes) == Some(&b'<');
        if !before_hole {
            plain.extend_from_slice(&text[at..(at + backslashes.max(1)).min(text.len())]);
            at += backslashes.max(1);
            continue;
        }
        plain.extend(std::iter::repeat_n(b'\\', backslashes / 2));
        at += backslashes;
        if backslashes % 2 == 1 {
            plain.push(b'<');
            at += 1;
            continue;
        }
        let end = hole_end(&text[at + 1..]).ok_or(UnclosedHole { at })?;
        if !plain.is_empty() {
            segments.push(Segment::Text(std::mem::take(&mut plain)));
        }
        segments.push(Segment::Hole(String::from_utf8_lossy(&text[at + 1..at + 1 + end]).into_owned()));
        at += end + 2;
    }
    if !plain.is_empty() {
        segments.push(Segment::Text(plain));
    }
    Ok(segments)
}

/// Where the `>` that ends a hole is; quotes, brackets and a blank before it hide others.
fn hole_end(text: &[u8]) -> Option<usize> {
    let mut closing = None;
    for (at, &byte) in text.iter().enumerate() {
        match closing {
            Some(end) if byte == end => closing = None,
            Some(_) => {}
            None => match byte {
                b'"' | b'\'' => closing = Some(byte),
                b'[' => closing = Some(b']'),
                b'>' if at == 0 || text[at - 1] != b' ' => return Some(at),
                _ => {}
            },
        }
    }
    None
}

/// A word in quotes, as in EBNF.
pub(super) fn quoted(word: &[u8]) -> String {
    let word = String::from_utf8_lossy(word);
    if word.contains('"') { format!("'{word}'") } else { format!("\"{word}\"") }
}

/// The texts in quotes of a list such as `"+" | "-"`.
pub fn unquoted(list: &str) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut rest = list;
    while let Some(open) = rest.find(['"', '\'']) {
        let quote = &rest[open..=open];
        let Some(end) = rest[open + 1..].find(quote) else { break };
        words.push(rest.as_bytes()[open + 1..open + 1 + end].to_vec());
        rest = &rest[open + end + 2..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_literal_angle_bracket_is_escaped() {
        let segments = [Segment::Text(b"a < \\<b>".to_vec()), Segment::Hole("expr".into())];
        assert_eq!(print(&segments), b"a \\< \\\\\\<b><expr>");
        assert_eq!(read(&print(&segments)).expect("closed"), segments);
        assert_eq!(read(b"a<b").expect_err("unclosed").at, 1);
    }

    fn segments() -> impl Strategy<Value = Vec<Segment>> {
        let text = proptest::collection::vec(prop_oneof![Just(b'<'), Just(b'\\'), Just(b'>'), any::<u8>()], 1..8);
        let hole =
            prop_oneof![Just("expr"), Just("$Id1"), Just("op: \"<\" | \">\""), Just("[^>]*"), Just("int: >= 256")];
        (any::<bool>(), proptest::collection::vec((text, hole), 0..6)).prop_map(|(text_first, pairs)| {
            let mut all = Vec::new();
            for (text, hole) in pairs {
                let pair = [Segment::Text(text), Segment::Hole(hole.to_owned())];
                if text_first { all.extend(pair) } else { all.extend(pair.into_iter().rev()) }
            }
            all
        })
    }

    proptest! {
        #[test]
        fn reading_undoes_printing(segments in segments()) {
            // Only text next to text could not be told apart; it never occurs.
            let adjacent = segments.windows(2).any(|pair| matches!(pair, [Segment::Text(_), Segment::Text(_)]));
            prop_assume!(!adjacent);
            prop_assert_eq!(read(&print(&segments)), Ok(segments));
        }
    }
}
