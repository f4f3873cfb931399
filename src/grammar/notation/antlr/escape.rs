//! Texts and sets of characters as ANTLR writes them: `'\n'`, `[a-z\u0041\p{Lu}]`.

use crate::grammar::ast::Span;
use crate::grammar::charset::CharSet;
use crate::grammar::code::{self, Code};
use crate::grammar::diagnostic::Diagnostic;
use regex_syntax::hir::{Class, HirKind};

/// A member of a set, or a character of a text.
enum Member {
    Character(char),
    Property(CharSet),
}

/// The text between quotes.
pub(super) fn text(inner: &str, span: &Span) -> Result<String, Diagnostic> {
    let mut text = String::new();
    let mut rest = inner;
    while !rest.is_empty() {
        match member(&mut rest, span)? {
            Member::Character(c) => text.push(c),
            Member::Property(_) => return Err(unknown(inner, span)),
        }
    }
    Ok(text)
}

/// The set between brackets.
pub(super) fn set(inner: &str, span: &Span) -> Result<CharSet, Diagnostic> {
    let mut set = CharSet::default();
    let mut rest = inner;
    while !rest.is_empty() {
        let low = match member(&mut rest, span)? {
            Member::Property(property) => {
                set = set.union(&property);
                continue;
            }
            Member::Character(low) => low,
        };
        let mut high = low;
        if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty()) {
            rest = after;
            match member(&mut rest, span)? {
                Member::Character(c) => high = c,
                Member::Property(property) => set = set.union(&property).union(&CharSet::single(Code::from(b'-'))),
            }
        }
        set = set.union(&range(low, high, span)?);
    }
    Ok(set)
}

/// The characters from `low` to `high`.
pub(super) fn range(low: char, high: char, span: &Span) -> Result<CharSet, Diagnostic> {
    if high < low {
        return Err(Diagnostic::error("reversed-range", "the range runs backwards", span.clone(), "")
            .with_help("write the lower character first"));
    }
    // All characters without what is no character.
    let all = CharSet::default().complement();
    let set = CharSet::from_ranges([(Code::from(low), Code::from(high))]).intersection(&all);
    // Up to ÿ from below are the characters of Latin-1: with these ANTLR reads bytes.
    let bytes = CharSet::from_ranges([(code::RAW + 0x80, code::RAW + 0xFF)]);
    Ok(if low <= '\u{80}' && high == '\u{FF}' { set.union(&bytes) } else { set })
}

/// The same in upper and lower case.
pub(super) fn caseless(set: &CharSet) -> CharSet {
    // Large sets are closed under case but for rare letters; going through each would cost more than it tells.
    let small = set.ranges().iter().filter(|(low, high)| high - low < 256);
    let characters = small.flat_map(|(low, high)| *low..=*high).filter_map(char::from_u32);
    let cased = characters.flat_map(crate::grammar::regular::cases).map(|code| (code, code));
    set.union(&CharSet::from_ranges(cased))
}

fn member(rest: &mut &str, span: &Span) -> Result<Member, Diagnostic> {
    let mut chars = rest.chars();
    let first = chars.next().unwrap_or_default();
    *rest = chars.as_str();
    if first != '\\' {
        return Ok(Member::Character(first));
    }
    let escaped = chars.next().unwrap_or('\\');
    *rest = chars.as_str();
    Ok(Member::Character(match escaped {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{C}',
        'u' => return code_point(rest, span).map(Member::Character),
        'p' | 'P' => return property(rest, escaped == 'P', span).map(Member::Property),
        other => other,
    }))
}

/// What follows `\u`: four digits, or any number in braces.
fn code_point(rest: &mut &str, span: &Span) -> Result<char, Diagnostic> {
    let (digits, after) = match rest.strip_prefix('{') {
        Some(inner) => inner.split_once('}').ok_or_else(|| unknown(rest, span))?,
        None => rest.split_at_checked(4).ok_or_else(|| unknown(rest, span))?,
    };
    let code = u32::from_str_radix(digits, 16).ok().filter(|code| *code <= u32::from(char::MAX));
    *rest = after;
    // Halves of surrogate pairs stand in sets of UTF-16 units; in text they do not occur.
    let code = code.ok_or_else(|| unknown(digits, span))?;
    Ok(char::from_u32(code).unwrap_or(if code < 0xDC00 { '\u{D7FF}' } else { '\u{E000}' }))
}

/// What follows `\p`: `{Lu}`, `{Script=Greek}`.
fn property(rest: &mut &str, negated: bool, span: &Span) -> Result<CharSet, Diagnostic> {
    let inner = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
    let (name, after) = inner.ok_or_else(|| unknown(rest, span))?;
    *rest = after;
    let written = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
    match regex_syntax::parse(&written).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            Ok(CharSet::from_ranges(class.iter().map(|range| (Code::from(range.start()), Code::from(range.end())))))
        }
        _ => Err(Diagnostic::error("unknown-property", format!("`{written}` is not known"), span.clone(), "")
            .with_help("general categories, scripts and binary properties are; else write the ranges themselves")),
    }
}

fn unknown(written: &str, span: &Span) -> Diagnostic {
    Diagnostic::error("unknown-escape", format!("`{written}` is no character"), span.clone(), "")
        .with_help("write `\\u0041` or `\\u{1F600}`")
}
