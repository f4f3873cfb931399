//! Texts and sets with backslashes, written alike in GBNF, Lark, PEG and pest: `\n`, `\x41`, `\u0041`, `\u{41}`, `\]`.

use crate::grammar::charset::CharSet;
use crate::grammar::code::Code;
use crate::grammar::diagnostic::Diagnostic;

/// The text that stands between quotes at `offset`.
pub(super) fn text(written: &str, offset: usize) -> Result<String, Diagnostic> {
    members(written, offset)?
        .into_iter()
        .map(|member| char::from_u32(member.code).ok_or_else(|| no_character(member.place, written, offset)))
        .collect()
}

/// The one character that stands between quotes at `offset`.
pub(super) fn character(written: &str, offset: usize) -> Result<Code, Diagnostic> {
    match members(written, offset)?.as_slice() {
        [member] => Ok(member.code),
        _ => Err(Diagnostic::error(
            "grammar-syntax",
            "one character must stand here",
            offset..offset + written.len(),
            "",
        )),
    }
}

/// The set that stands between brackets at `offset`; a `^` at its beginning takes the other characters.
pub(super) fn set(written: &str, offset: usize) -> Result<CharSet, Diagnostic> {
    let (negated, inner) = written.strip_prefix('^').map_or((false, written), |inner| (true, inner));
    let members = members(inner, offset + written.len() - inner.len())?;
    let mut ranges = Vec::new();
    let mut rest = members.as_slice();
    loop {
        rest = match rest {
            [low, dash, high, rest @ ..] if dash.is_dash => {
                if high.code < low.code {
                    return Err(Diagnostic::error(
                        "reversed-range",
                        "the range runs backwards",
                        low.place..high.place + 1,
                        "",
                    )
                    .with_help("write the lower character first"));
                }
                ranges.push((low.code, high.code));
                rest
            }
            [one, rest @ ..] => {
                ranges.push((one.code, one.code));
                rest
            }
            [] => break,
        };
    }
    let set = CharSet::from_ranges(ranges).intersection(&CharSet::default().complement());
    let set = if negated { set.complement() } else { set };
    if set.is_empty() {
        return Err(Diagnostic::error("empty-set", "no character is in this set", offset..offset + written.len(), ""));
    }
    Ok(set)
}

struct Member {
    place: usize,
    code: Code,
    /// Whether it is a `-` without a backslash.
    is_dash: bool,
}

fn members(written: &str, offset: usize) -> Result<Vec<Member>, Diagnostic> {
    let mut members = Vec::new();
    let mut at = 0;
    while let Some(c) = written[at..].chars().next() {
        let place = offset + at;
        at += c.len_utf8();
        let mut member = Member { place, code: Code::from(c), is_dash: c == '-' };
        if let ('\\', Some(escape)) = (c, written[at..].chars().next()) {
            at += escape.len_utf8();
            let (code, length) = escaped(escape, &written[at..]).ok_or_else(|| no_character(place, written, offset))?;
            member.code = code;
            at += length;
        }
        members.push(member);
    }
    Ok(members)
}

/// What a backslash and `escape` stand for, before `rest`, and how much of that belongs to it.
fn escaped(escape: char, rest: &str) -> Option<(Code, usize)> {
    let simple = |c: char| Some((Code::from(c), 0));
    match escape {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'f' => simple('\u{0C}'),
        'v' => simple('\u{0B}'),
        'a' => simple('\u{07}'),
        'b' => simple('\u{08}'),
        'x' => digits(rest, 2),
        'u' => digits(rest, 4),
        'U' => digits(rest, 8),
        '0'..='7' => {
            let length = rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let code = Code::from_str_radix(&format!("{escape}{}", &rest[..length]), 8).ok()?;
            Some((code, length))
        }
        other => simple(other),
    }
}

/// Hexadecimal digits: `count` of them, or any number in braces.
fn digits(rest: &str, count: usize) -> Option<(Code, usize)> {
    let (written, length) = match rest.strip_prefix('{') {
        Some(inner) => (inner.split('}').next()?, inner.find('}')? + 2),
        None => (rest.get(..count)?, count),
    };
    let code = Code::from_str_radix(written, 16).ok()?;
    (code <= Code::from(char::MAX)).then_some((code, length))
}

fn no_character(place: usize, written: &str, offset: usize) -> Diagnostic {
    Diagnostic::error("no-such-character", "there is no such character", place..offset + written.len(), "")
        .with_help("code points run from 0 to 10FFFF (hexadecimal), without D800 to DFFF")
}
