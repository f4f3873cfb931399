//! Grammars and symbols as text, in W3C notation.

use super::charset::CharSet;
use super::code::{self, Code};
use super::{Associativity, Format, Grammar, Kind, Mark, Operator, Role, SymbolId};
use std::fmt::Write;

/// How tightly an expression holds together, so that parentheses stand only where they are needed.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Choice,
    Sequence,
    Item,
}

pub(super) fn label(grammar: &Grammar, id: SymbolId) -> String {
    let mut out = String::new();
    reference(grammar, id, Level::Choice, &mut out);
    out
}

/// These rules, as a grammar that starts at one of them.
pub(super) fn ebnf(grammar: &Grammar, rules: impl IntoIterator<Item = SymbolId>, start: SymbolId) -> String {
    let mut out = String::new();
    for id in rules {
        let Some(name) = &grammar.symbol(id).name else { continue };
        let mut words = Vec::new();
        let Role { token, identifier, keyword, skip, immediate, mark } = grammar.symbol(id).role;
        if id == start && !out.is_empty() {
            words.push("start");
        }
        let flags = [(identifier, "identifier"), (keyword, "keyword"), (skip, "skip"), (immediate, "immediate")];
        words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| *word));
        words.extend(mark.map(|mark| match mark {
            Mark::Newline => "newline",
            Mark::Indent => "indent",
            Mark::Dedent => "dedent",
        }));
        if token && mark.is_none() && !flags.iter().any(|(set, _)| *set) {
            words.push("token");
        }
        if !words.is_empty() {
            let _ = writeln!(out, "/*@ {} */", words.join(" "));
        }
        let _ = write!(out, "{} ::= ", written_name(name));
        definition(grammar, id, Level::Choice, &mut out);
        out.push('\n');
    }
    // Without a comment, one whose names are all in angle brackets is taken for BNF, for example.
    if Format::is_mistaken(&out) { format!("/* EBNF */\n{out}") } else { out }
}

fn written_name(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.chars().all(bare) { name.to_owned() } else { format!("<{name}>") }
}

/// A symbol where another mentions it. The recursion follows anonymous symbols, which are as deep as the grammar's text.
fn reference(grammar: &Grammar, id: SymbolId, level: Level, out: &mut String) {
    match &grammar.symbol(id).name {
        Some(name) => out.push_str(&written_name(name)),
        None => definition(grammar, id, level, out),
    }
}

fn definition(grammar: &Grammar, id: SymbolId, level: Level, out: &mut String) {
    match grammar.kind(id) {
        Kind::Literal(bytes) => literal(bytes, level, out),
        Kind::Set(set) => write_set(set, out),
        Kind::Choice(_) if grammar.is_literal(id) => caseless(grammar, id, level, out),
        Kind::Choice(alternatives) => {
            let own = if alternatives.len() == 1 { Level::Sequence } else { Level::Choice };
            let bracketed = own < level;
            out.push_str(if bracketed { "(" } else { "" });
            let operators = Operators::of(&grammar.symbol(id).operators);
            for (number, parts) in alternatives.iter().enumerate() {
                out.push_str(if number > 0 { " | " } else { "" });
                operators.write(number, out);
                let inner = if alternatives.len() == 1 && parts.len() == 1 { own } else { Level::Item };
                for (place, part) in parts.iter().enumerate() {
                    out.push_str(if place > 0 { " " } else { "" });
                    reference(grammar, *part, inner, out);
                }
                if parts.is_empty() {
                    out.push_str("\"\"");
                }
            }
            out.push_str(if bracketed { ")" } else { "" });
        }
        Kind::Repeat { item, separator, min, max } => {
            if let Some(separator) = separator {
                let bracketed = level > Level::Sequence || *min == 0;
                out.push_str(if bracketed { "(" } else { "" });
                reference(grammar, *item, Level::Item, out);
                out.push_str(" (");
                reference(grammar, *separator, Level::Sequence, out);
                out.push(' ');
                reference(grammar, *item, Level::Item, out);
                out.push(')');
                out.push_str(&suffix(min.saturating_sub(1), max.map(|max| max - 1)));
                out.push_str(if bracketed { ")" } else { "" });
                out.push_str(if *min == 0 { "?" } else { "" });
            } else {
                reference(grammar, *item, Level::Item, out);
                out.push_str(&suffix(*min, *max));
            }
        }
    }
}

/// The annotations of a rule's alternatives.
struct Operators<'g> {
    operators: &'g [Option<Operator>],
    /// Whether each binds tighter than the next, so that levels need no number.
    by_order: bool,
}

impl<'g> Operators<'g> {
    fn of(operators: &'g [Option<Operator>]) -> Self {
        let by_order = operators.iter().flatten().map(|operator| operator.level).is_sorted_by(|a, b| a > b);
        Operators { operators, by_order }
    }

    fn write(&self, alternative: usize, out: &mut String) {
        let Some(Some(Operator { level, associativity })) = self.operators.get(alternative) else { return };
        let word = match associativity {
            Associativity::Left => "left",
            Associativity::Right => "right",
            Associativity::None => "nonassoc",
        };
        let _ = if self.by_order { write!(out, "/*@ {word} */ ") } else { write!(out, "/*@ {word}({level}) */ ") };
    }
}

/// A text in any case, by its lower case.
fn caseless(grammar: &Grammar, id: SymbolId, level: Level, out: &mut String) {
    let letter = |part: &SymbolId| match grammar.kind(*part) {
        Kind::Set(set) => set.nth(0).and_then(char::from_u32).map(|c| c.to_lowercase().next().unwrap_or(c)),
        _ => None,
    };
    let text: String = grammar.alternative(id, 0).iter().filter_map(letter).collect();
    let parts = quoted(text.as_bytes());
    // A character that cannot stand in quotes has no case.
    let parts = parts.into_iter().map(|part| if part.starts_with('#') { part } else { part + "i" });
    write_parts(&parts.collect::<Vec<_>>(), level, out);
}

fn suffix(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, Some(1)) => "?".to_owned(),
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
        (min, None) => format!("{{{min},}}"),
    }
}

fn literal(bytes: &[u8], level: Level, out: &mut String) {
    write_parts(&quoted(bytes), level, out);
}

fn write_parts(parts: &[String], level: Level, out: &mut String) {
    let bracketed = parts.len() > 1 && level > Level::Sequence;
    let _ = if bracketed { write!(out, "({})", parts.join(" ")) } else { write!(out, "{}", parts.join(" ")) };
}

/// A text, with parentheses if it takes several pieces.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut out = String::new();
    literal(bytes, Level::Item, &mut out);
    out
}

/// A text as quoted texts and code points.
fn quoted(bytes: &[u8]) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for (_, code) in code::decode(bytes) {
        let printable = char::from_u32(code).filter(|c| !c.is_control());
        match (printable, parts.last_mut()) {
            (Some(c), Some(last)) if last.starts_with(['"', '\'']) && !last.starts_with(c) => {
                last.insert(last.len() - 1, c);
            }
            (Some(c), _) => parts.push(if c == '"' { "'\"'".to_owned() } else { format!("\"{c}\"") }),
            (None, _) => parts.push(format!("#x{code:X}")),
        }
    }
    parts
}

fn write_set(set: &CharSet, out: &mut String) {
    let complement = set.complement();
    let negated = set.contains(code::MAX);
    let shown = if negated { &complement } else { set };
    if negated && shown.is_empty() {
        out.push_str("[#x0-#x10FFFF]");
        return;
    }
    out.push_str(if negated { "[^" } else { "[" });
    // Whether a code point was written last: a hexadecimal digit right after it would be read as one of its own.
    let mut open = false;
    for &(low, high) in shown.ranges() {
        open = member(low, open, out);
        if high > low {
            let dash = high > low + 1;
            out.push_str(if dash { "-" } else { "" });
            open = member(high, open && !dash, out);
        }
    }
    out.push(']');
}

/// Writes a character as it is, or as a code point, and says whether as the latter.
fn member(code: Code, open: bool, out: &mut String) -> bool {
    match char::from_u32(code) {
        Some(c) if open && c.is_ascii_hexdigit() => {}
        Some(c) if c.is_alphanumeric() || (c.is_ascii_punctuation() && !"]-^#".contains(c)) => {
            out.push(c);
            return false;
        }
        _ => {}
    }
    let _ = write!(out, "#x{code:X}");
    true
}
