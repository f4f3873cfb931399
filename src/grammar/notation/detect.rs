//! Which notation a text is in, going by its first rule's head.

use super::surface::Surface;
use super::{Format, antlr};
use crate::grammar::ast::Span;
use crate::grammar::diagnostic::Diagnostic;

/// The notation of a text.
pub(super) fn format(text: &str) -> Result<Format, Diagnostic> {
    if text.trim_start().starts_with('{') {
        return Ok(json(text));
    }
    if antlr::is_antlr(text) {
        return Ok(Format::Antlr);
    }
    let Some(head) = first_head(text) else {
        if text.trim().is_empty() || after_comments(text) == text.len() {
            return Ok(Format::W3c);
        }
        let names: Vec<&str> = Format::ALL.iter().map(|(_, name)| *name).collect();
        let at = after_comments(text);
        let end = text[at..].find(char::is_whitespace).map_or(text.len(), |length| at + length);
        let help = format!("say which it is with --grammar-format, one of {}", names.join(", "));
        return Err(Diagnostic::error(
            "unknown-notation",
            "this is in no known notation for grammars",
            at..end,
            "no rule begins here",
        )
        .with_help(help));
    };
    let format = match head.sign {
        "::=" if all_heads_bracketed(text) => Format::Bnf,
        "::=" if is_gbnf(text) => Format::Gbnf,
        "::=" => Format::W3c,
        "<-" | "←" => Format::Peg,
        ":" => Format::Lark,
        "=/" => Format::Abnf,
        _ if is_pest(&text[head.end..]) => Format::Pest,
        _ if is_abnf(text) => Format::Abnf,
        _ => Format::Iso,
    };
    Ok(format)
}

/// That all rules of a file in one of our notations have heads of one kind.
pub(super) fn unmixed(format: Format, masked: &str) -> Result<(), Diagnostic> {
    let (own, other) = match format {
        Format::W3c => ("::=", "="),
        Format::Iso => ("=", "::="),
        _ => return Ok(()),
    };
    let mut place = 0;
    let mut first: Option<Span> = None;
    for line in masked.split_inclusive('\n') {
        if let Some(head) = head(line) {
            let span = place + head.begin..place + head.end;
            match &first {
                Some(first) if head.sign == other => {
                    return Err(Diagnostic::error(
                        "mixed-notation",
                        "two notations are mixed",
                        span,
                        format!("`{other}` here"),
                    )
                    .with_label(first.clone(), format!("`{own}` here"))
                    .with_help("write all rules in one notation, or in files of their own"));
                }
                None if head.sign == own => first = Some(span),
                _ => {}
            }
        }
        place += line.len();
    }
    Ok(())
}

/// A name and the sign that makes it the head of a rule.
struct Head {
    begin: usize,
    end: usize,
    sign: &'static str,
    bracketed: bool,
}

/// Whether a line begins with the head of a rule.
pub(super) fn begins_rule(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or(text);
    head(line).is_some_and(|head| head.sign != ":")
}

/// The head that a text begins with.
fn head(text: &str) -> Option<Head> {
    let bytes = text.as_bytes();
    let mut at = blank(text, 0);
    if text[at..].starts_with('[') {
        let number = text[at + 1..]
            .find(']')
            .filter(|length| text[at + 1..at + 1 + length].chars().all(|c| c.is_ascii_digit()))?;
        at = blank(text, at + 2 + number);
    }
    let begin = at;
    while matches!(bytes.get(at), Some(b'?' | b'!')) {
        at += 1;
    }
    let bracketed = bytes.get(at) == Some(&b'<');
    if bracketed {
        at += text[at..].find(['>', '\n']).filter(|length| bytes[at + length] == b'>')? + 1;
    } else {
        let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let length = text[at..].find(|c| !word(c) && c != ' ').unwrap_or(text.len() - at);
        let name = text[at..at + length].trim_end();
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        at += name.len();
        if bytes.get(at) == Some(&b'{') {
            at += text[at..].find('}')? + 1;
            at += text[at..].find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(0);
        }
    }
    at = blank(text, at);
    let sign = ["::=", "<-", "←", "=/", "=", ":"].into_iter().find(|sign| text[at..].starts_with(sign))?;
    let end = at + sign.len();
    // Neither `==` nor `=>` is a head, nor `::`.
    let after = text[end..].chars().next();
    let whole = !matches!((sign, after), ("=", Some('=' | '>')) | (":", Some(':' | '=')));
    whole.then_some(Head { begin, end, sign, bracketed })
}

fn blank(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t', '\r', '\n', '\u{0B}', '\u{0C}']).len()
}

/// Where the comments that a text begins with end, in whatever notation they are.
fn after_comments(text: &str) -> usize {
    let mut at = 0;
    loop {
        at = blank(text, at);
        let rest = &text[at..];
        let end = match rest {
            _ if rest.starts_with("/*") => "*/",
            _ if rest.starts_with("(*") => "*)",
            _ if rest.starts_with("//") || rest.starts_with([';', '#', '%']) => "\n",
            _ => return at,
        };
        match rest[1..].find(end) {
            Some(length) => at += 1 + length + end.len(),
            None => return if end == "\n" { text.len() } else { at },
        }
    }
}

/// The first rule's head. Prose before it, as documents with grammars in them have, is passed over.
fn first_head(text: &str) -> Option<Head> {
    let at = after_comments(text);
    let moved = |head: Head, by: usize| Head { begin: head.begin + by, end: head.end + by, ..head };
    if let Some(found) = head(&text[at..]) {
        return Some(moved(found, at));
    }
    let mut place = at;
    for line in text[at..].split_inclusive('\n') {
        if let Some(found) = head(line).filter(|head| head.sign != ":") {
            return Some(moved(found, place));
        }
        place += line.len();
    }
    None
}

fn json(text: &str) -> Format {
    let tree_sitter = text.contains("\"rules\"") && text.contains("\"type\"") && !text.contains("\"[grammar]\"");
    if tree_sitter { Format::TreeSitter } else { Format::Fuzzingbook }
}

/// Whether all names are in angle brackets, and nothing is in the file that only our notation has.
fn all_heads_bracketed(text: &str) -> bool {
    let mut heads = text.lines().filter_map(head).filter(|head| head.sign == "::=").peekable();
    heads.peek().is_some() && heads.all(|head| head.bracketed) && !text.contains("/*")
}

fn is_gbnf(text: &str) -> bool {
    let root = |line: &str| line.strip_prefix("root").is_some_and(|rest| rest.trim_start().starts_with("::="));
    text.lines().any(root) && !text.contains("/*") && !text.contains("#x")
}

/// `name = {` and the like, with the signs of atomic rules.
fn is_pest(after_sign: &str) -> bool {
    let rest = after_sign.trim_start();
    rest.trim_start_matches(['_', '@', '$', '!']).starts_with('{') && !rest.contains(';')
        || ["_{", "@{", "${", "!{"].iter().any(|begin| rest.starts_with(begin))
}

/// ABNF rules end without a sign, and `;` begins a comment in them.
fn is_abnf(text: &str) -> bool {
    let Some(masked) = Surface::of(Format::Iso).and_then(|surface| surface.mask(text).ok()) else {
        return Surface::of(Format::Abnf).is_some_and(|surface| surface.mask(text).is_ok()) && text.contains('"');
    };
    let code = |at: usize| masked[at + 1..].starts_with(['x', 'd', 'b', 's', 'i', 'X', 'D', 'B']);
    if masked.contains("=/") || masked.match_indices('%').any(|(at, _)| code(at)) {
        return true;
    }
    let mut terminated = false;
    for line in masked.lines() {
        match line.find(';') {
            Some(at) => match line[at + 1..].trim() {
                "" => terminated = true,
                after if head(after).is_none() => return true,
                _ => terminated = true,
            },
            None => terminated |= line.trim_end().ends_with('.'),
        }
    }
    !terminated && !masked.contains(',') && !text.contains('\'')
}
