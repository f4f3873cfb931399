//! Sets of characters and code points, written alike in all notations: `[a-z_]`, `[^#x0-#x1F]`, `#x41`.

use crate::grammar::charset::CharSet;
use crate::grammar::code::Code;
use crate::grammar::diagnostic::Diagnostic;

/// The set that `written`, brackets included, stands for. `offset` is its place in the source.
pub(super) fn set(written: &str, offset: usize) -> Result<CharSet, Diagnostic> {
    let inner = &written[1..written.len() - 1];
    let (negated, inner) = match inner.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    let base = offset + 1 + usize::from(negated);
    let members = members(inner, base)?;
    let mut ranges = Vec::new();
    let mut i = 0;
    while i < members.len() {
        let (start, low, _) = members[i];
        if i + 2 < members.len() && members[i + 1].1 == Code::from(b'-') && !members[i + 1].2 {
            let (last, high, _) = members[i + 2];
            if high < low {
                let end = members.get(i + 3).map_or(base + inner.len(), |next| next.0);
                debug_assert!(last >= start);
                return Err(Diagnostic::error("reversed-range", "the range runs backwards", start..end, "")
                    .with_help("write the lower character first"));
            }
            ranges.push((low, high));
            i += 3;
        } else {
            ranges.push((low, low));
            i += 1;
        }
    }
    let set = CharSet::from_ranges(ranges);
    let set = if negated { set.complement() } else { set };
    if set.is_empty() {
        let span = offset..offset + written.len();
        return Err(Diagnostic::error("empty-set", "no character is in this set", span, ""));
    }
    Ok(set)
}

/// The members of a set: place, code, and whether it was written as `#x…`.
fn members(inner: &str, base: usize) -> Result<Vec<(usize, Code, bool)>, Diagnostic> {
    let mut members = Vec::new();
    let mut at = 0;
    while let Some(c) = inner[at..].chars().next() {
        let digits = inner[at..].strip_prefix("#x").unwrap_or("");
        let digits = &digits[..digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len())];
        if digits.is_empty() {
            members.push((base + at, Code::from(c), false));
            at += c.len_utf8();
        } else {
            members.push((base + at, code_point(digits, base + at)?, true));
            at += 2 + digits.len();
        }
    }
    Ok(members)
}

/// The code point that `#x…`, written at `offset`, stands for.
pub(super) fn code(written: &str, offset: usize) -> Result<char, Diagnostic> {
    let code = code_point(&written[2..], offset)?;
    char::from_u32(code).ok_or_else(|| no_character(written, offset))
}

fn code_point(digits: &str, offset: usize) -> Result<Code, Diagnostic> {
    match Code::from_str_radix(digits, 16) {
        Ok(code) if code <= u32::from(char::MAX) => Ok(code),
        _ => Err(no_character(digits, offset)),
    }
}

fn no_character(written: &str, offset: usize) -> Diagnostic {
    Diagnostic::error("no-such-character", "there is no such character", offset..offset + written.len(), "")
        .with_help("code points run from #x0 to #x10FFFF, without #xD800 to #xDFFF")
}
