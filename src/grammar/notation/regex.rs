//! Regular expressions as Lark (Python) and tree-sitter (JavaScript) grammars hold them.
//!
//! What looks around is dropped. A lazy repetition ends where what follows it first can begin.

use super::losses::{Loss, Losses};
use super::tidy;
use crate::grammar::ast::{Expr, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::code::Code;
use crate::grammar::diagnostic::Diagnostic;
use crate::grammar::regular;
use regex_syntax::hir::{Class, HirKind};
use std::collections::BTreeSet;

pub(super) const LOOKAROUND: Loss = Loss {
    code: "dropped-lookaround",
    one: "part of a regular expression that looks around was dropped",
    many: "parts of regular expressions that look around were dropped",
    help: "more is accepted than the grammar's author meant",
};

const REFERENCE: Loss = Loss {
    code: "dropped-backreference",
    one: "back reference in a regular expression is taken as any text",
    many: "back references in regular expressions are taken as any text",
    help: "more is accepted than the grammar's author meant",
};

/// What the letters after a regular expression, or in the beginning of one, say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// Letters in any case.
    pub caseless: bool,
    /// A dot matches a line break.
    pub dot_all: bool,
    /// Blanks and comments do not count.
    pub verbose: bool,
    /// `\w` and the like know all letters, as in Python.
    pub unicode: bool,
}

impl Flags {
    /// With what the letters say.
    pub(super) fn with(mut self, letters: &str) -> Self {
        self.caseless |= letters.contains('i');
        self.dot_all |= letters.contains('s');
        self.verbose |= letters.contains('x');
        self
    }
}

/// The expression that a pattern, which stands at `place`, comes to.
pub(super) fn read(pattern: &str, flags: Flags, place: &Span, losses: &mut Losses) -> Result<Expr, Diagnostic> {
    let pattern = without_lookbehind_idiom(pattern, flags.dot_all);
    let mut reader = Reader { pattern: &pattern, at: 0, flags, depth: 0, place, losses };
    let expr = reader.choice()?;
    if reader.at < pattern.len() { Err(reader.malformed("a `)` closes nothing")) } else { Ok(expr) }
}

/// The characters of a class such as `\p{Lu}` or `\w`, in Unicode.
pub(super) fn class(written: &str) -> Option<CharSet> {
    let hir = regex_syntax::parse(written).ok()?;
    let ranges = |class: &Class| match class {
        Class::Unicode(class) => {
            class.iter().map(|range| (Code::from(range.start()), Code::from(range.end()))).collect::<Vec<_>>()
        }
        Class::Bytes(class) => class.iter().map(|range| (Code::from(range.start()), Code::from(range.end()))).collect(),
    };
    match hir.kind() {
        HirKind::Class(class) => Some(CharSet::from_ranges(ranges(class))),
        _ => None,
    }
}

/// `.*?(?<!\\)(\\\\)*?"`, which many grammars have for texts with escapes, without its look back: `([^"\\]|\\.)*"`.
fn without_lookbehind_idiom(pattern: &str, dot_all: bool) -> String {
    const IDIOM: &str = r".*?(?<!\\)(\\\\)*?";
    let mut written = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once(IDIOM) {
        written.push_str(before);
        let line_break = if dot_all { "" } else { r"\n" };
        match after.chars().next().filter(|c| c.is_ascii_punctuation()) {
            // Up to three quotes, one may stand inside.
            Some(end) if after[1..].starts_with(end) => written.push_str(&format!(r"(?:[^\\{line_break}]|\\.)*?")),
            Some(end) => written.push_str(&format!(r"(?:[^\{end}\\{line_break}]|\\.)*")),
            None => written.push_str(IDIOM),
        }
        rest = after;
    }
    written + rest
}

struct Reader<'a> {
    pattern: &'a str,
    at: usize,
    flags: Flags,
    depth: usize,
    place: &'a Span,
    losses: &'a mut Losses,
}

/// An item of a sequence, and whether it is to be as short as can be.
struct Item {
    expr: Expr,
    lazy: bool,
}

impl Reader<'_> {
    fn choice(&mut self) -> Result<Expr, Diagnostic> {
        let mut alternatives = vec![self.sequence()?];
        while self.eat("|") {
            alternatives.push(self.sequence()?);
        }
        Ok(Expr::choice(alternatives))
    }

    fn sequence(&mut self) -> Result<Expr, Diagnostic> {
        let mut items: Vec<Item> = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            if self.flags.verbose && self.skip_blank(c) {
                continue;
            }
            let Some(atom) = self.atom()? else { continue };
            let item = self.quantified(atom)?;
            match (items.last_mut(), item) {
                (Some(Item { expr: Expr::Text(text), .. }), Item { expr: Expr::Text(more), .. })
                    if !self.quantifier_follows() =>
                {
                    text.push_str(&more);
                }
                (_, item) => items.push(item),
            }
        }
        let mut parts: Vec<Expr> = Vec::new();
        let mut items = items.into_iter().peekable();
        while let Some(item) = items.next() {
            // Lazy at the end takes the least that there is, which is decided by what follows outside.
            if item.lazy && items.peek().is_some() {
                let mut scope = vec![exclusive(item.expr)];
                for next in items.by_ref() {
                    let last = !matches!(next.expr, Expr::Repeat { min: 0, .. });
                    scope.push(next.expr);
                    if last {
                        break;
                    }
                }
                parts.push(Expr::Sequence(scope).shortest(self.place.clone()));
            } else {
                parts.push(item.expr);
            }
        }
        Ok(Expr::sequence(parts))
    }

    fn quantified(&mut self, mut expr: Expr) -> Result<Item, Diagnostic> {
        let mut lazy = false;
        let mut times = 0;
        while let Some(length) = self.quantifier() {
            let written = &self.pattern[self.at..self.at + length];
            let (min, max) = super::counts(written, self.place)?;
            self.at += length;
            expr = Expr::repeat(expr, min, max);
            lazy = self.eat("?");
            // Possessive repetitions take what the longest match takes anyway.
            if !lazy {
                self.eat("+");
            }
            times += 1;
            if times > 8 {
                return Err(self.malformed("too many repetitions one after the other"));
            }
        }
        Ok(Item { expr, lazy })
    }

    fn quantifier_follows(&self) -> bool {
        self.quantifier().is_some()
    }

    /// How long the quantifier is that stands here.
    fn quantifier(&self) -> Option<usize> {
        let rest = &self.pattern[self.at..];
        match rest.chars().next()? {
            '?' | '*' | '+' => Some(1),
            '{' => {
                let end = rest.find('}')?;
                let inner = &rest[1..end];
                let digits = inner.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
                (digits && inner.matches(',').count() <= 1 && inner.len() > inner.matches(',').count())
                    .then_some(end + 1)
            }
            _ => None,
        }
    }

    fn atom(&mut self) -> Result<Option<Expr>, Diagnostic> {
        let Some(c) = self.next() else { return Ok(None) };
        Ok(Some(match c {
            '(' => return self.group(),
            '[' => Expr::Set(self.set()?),
            '.' => {
                let line_break = if self.flags.dot_all { CharSet::default() } else { CharSet::single(10) };
                Expr::Set(line_break.complement())
            }
            '^' | '$' => {
                self.losses.note(&LOOKAROUND, self.place.clone());
                return Ok(None);
            }
            '*' | '+' | '?' => return Err(self.malformed("nothing stands before a repetition")),
            '\\' => return self.escape(),
            c => self.character(c),
        }))
    }

    fn character(&self, c: char) -> Expr {
        if self.flags.caseless { tidy::cased(&c.to_string()) } else { Expr::Text(c.to_string()) }
    }

    fn group(&mut self) -> Result<Option<Expr>, Diagnostic> {
        self.depth += 1;
        if self.depth > 100 {
            return Err(self.malformed("it is nested more than 100 deep"));
        }
        let outer = self.flags;
        let mut looks = false;
        if self.eat("?") {
            if ["=", "!", "<=", "<!"].iter().any(|sign| self.eat(sign)) {
                looks = true;
            } else if self.eat("P=") || self.eat("#") {
                let length = self.pattern[self.at..].find(')').ok_or_else(|| self.malformed("a `(` is not closed"))?;
                let reference = self.pattern[..self.at].ends_with('=');
                self.at += length + 1;
                self.depth -= 1;
                return Ok(reference.then(|| self.reference()));
            } else if self.eat("P<") || self.eat("<") {
                let length =
                    self.pattern[self.at..].find('>').ok_or_else(|| self.malformed("a group's name is not closed"))?;
                self.at += length + 1;
            } else {
                let length = self.pattern[self.at..]
                    .find([':', ')', '>'])
                    .ok_or_else(|| self.malformed("a `(` is not closed"))?;
                let letters = &self.pattern[self.at..self.at + length];
                let set = letters.split('-').next().unwrap_or("").to_owned();
                self.flags = self.flags.with(&set);
                self.at += length + 1;
                if self.pattern[..self.at].ends_with(')') {
                    self.depth -= 1;
                    return Ok(None);
                }
            }
        }
        let inner = self.choice()?;
        if !self.eat(")") {
            return Err(self.malformed("a `(` is not closed"));
        }
        (self.flags, self.depth) = (outer, self.depth - 1);
        if looks {
            self.losses.note(&LOOKAROUND, self.place.clone());
            while let Some(length) = self.quantifier() {
                self.at += length;
            }
            return Ok(None);
        }
        // A group is one item: what follows a text in it must not be joined with it.
        Ok(Some(if let Expr::Text(_) = inner { Expr::Sequence(vec![inner]) } else { inner }))
    }

    fn reference(&mut self) -> Expr {
        self.losses.note(&REFERENCE, self.place.clone());
        Expr::repeat(Expr::any(), 0, None)
    }

    fn escape(&mut self) -> Result<Option<Expr>, Diagnostic> {
        let rest = &self.pattern[self.at..];
        let Some(c) = rest.chars().next() else { return Err(self.malformed("nothing follows a backslash")) };
        match c {
            'b' | 'B' | 'A' | 'Z' | 'z' | 'G' => {
                self.at += 1;
                self.losses.note(&LOOKAROUND, self.place.clone());
                Ok(None)
            }
            '1'..='9' => {
                self.at += 1;
                Ok(Some(self.reference()))
            }
            'k' if rest[1..].starts_with('<') => {
                self.at += rest.find('>').ok_or_else(|| self.malformed("a reference is not closed"))? + 1;
                Ok(Some(self.reference()))
            }
            _ => match self.escaped()? {
                Escaped::Class(set) => Ok(Some(Expr::Set(set))),
                Escaped::Code(code) => {
                    let c = char::from_u32(code).ok_or_else(|| self.malformed("there is no such character"))?;
                    Ok(Some(self.character(c)))
                }
            },
        }
    }

    /// What a backslash, which was read, and what follows stand for.
    fn escaped(&mut self) -> Result<Escaped, Diagnostic> {
        let Some(c) = self.next() else { return Err(self.malformed("nothing follows a backslash")) };
        let unicode = self.flags.unicode;
        let known = |ascii: &[(Code, Code)], written: &str| {
            let wide = unicode.then(|| class(written)).flatten();
            wide.unwrap_or_else(|| CharSet::from_ranges(ascii.iter().copied()))
        };
        let digit: &[(Code, Code)] = &[(48, 57)];
        let word: &[(Code, Code)] = &[(48, 57), (65, 90), (95, 95), (97, 122)];
        let blank: &[(Code, Code)] = &[(9, 13), (32, 32), (0xA0, 0xA0), (0x2028, 0x2029), (0xFEFF, 0xFEFF)];
        Ok(match c {
            'd' => Escaped::Class(known(digit, r"\d")),
            'D' => Escaped::Class(known(digit, r"\d").complement()),
            'w' => Escaped::Class(known(word, r"\w")),
            'W' => Escaped::Class(known(word, r"\w").complement()),
            's' => Escaped::Class(known(blank, r"\s")),
            'S' => Escaped::Class(known(blank, r"\s").complement()),
            'p' | 'P' => {
                let rest = &self.pattern[self.at..];
                let length = if rest.starts_with('{') { rest.find('}').map_or(rest.len(), |end| end + 1) } else { 1 };
                let name = rest.get(..length).ok_or_else(|| self.malformed("a property's name is missing"))?;
                let set = class(&format!("\\p{name}"))
                    .ok_or_else(|| self.malformed(&format!("there is no property {name}")))?;
                self.at += length;
                Escaped::Class(if c == 'P' { set.complement() } else { set })
            }
            'n' => Escaped::Code(10),
            'r' => Escaped::Code(13),
            't' => Escaped::Code(9),
            'f' => Escaped::Code(12),
            'v' => Escaped::Code(11),
            'a' => Escaped::Code(7),
            'e' => Escaped::Code(27),
            '0' => Escaped::Code(0),
            'c' if self.peek().is_some_and(|c| c.is_ascii_alphabetic()) => {
                let letter = self.next().unwrap_or('@');
                Escaped::Code(Code::from(letter.to_ascii_uppercase()) - 64)
            }
            'x' => Escaped::Code(self.hexadecimal(2)?),
            'u' => Escaped::Code(self.hexadecimal(4)?),
            'U' => Escaped::Code(self.hexadecimal(8)?),
            c => Escaped::Code(Code::from(c)),
        })
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<Code, Diagnostic> {
        let rest = &self.pattern[self.at..];
        let (written, length) = match rest.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}').ok_or_else(|| self.malformed("a `{` is not closed"))?;
                (&inner[..end], end + 2)
            }
            None => (rest.get(..digits).unwrap_or(""), digits),
        };
        let code = Code::from_str_radix(written, 16).ok().filter(|code| *code <= Code::from(char::MAX));
        let code = code.ok_or_else(|| self.malformed("there is no such character"))?;
        self.at += length;
        Ok(code)
    }

    /// A set, whose opening bracket was read.
    fn set(&mut self) -> Result<CharSet, Diagnostic> {
        let negated = self.eat("^");
        let mut set = CharSet::default();
        let mut ranges: Vec<(Code, Code)> = Vec::new();
        let mut first = true;
        loop {
            let Some(c) = self.next() else { return Err(self.malformed("a `[` is not closed")) };
            // Python takes a bracket right after the opening one as a member; in JavaScript `[]` is empty and `[^]` any.
            if c == ']' && !(first && self.flags.unicode) {
                break;
            }
            first = false;
            let low = match self.member(c)? {
                Escaped::Class(class) => {
                    set = set.union(&class);
                    continue;
                }
                Escaped::Code(low) => low,
            };
            let rest = &self.pattern[self.at..];
            if rest.starts_with('-') && !rest[1..].starts_with(']') && rest.len() > 1 {
                self.at += 1;
                let c = self.next().unwrap_or(']');
                match self.member(c)? {
                    Escaped::Class(class) => {
                        set = set.union(&class);
                        ranges.extend([(low, low), (45, 45)]);
                    }
                    Escaped::Code(high) if high < low => return Err(self.malformed("a range in it runs backwards")),
                    Escaped::Code(high) => ranges.push((low, high)),
                }
            } else {
                ranges.push((low, low));
            }
        }
        let mut set = set.union(&CharSet::from_ranges(ranges)).intersection(&CharSet::default().complement());
        if self.flags.caseless {
            set = in_any_case(&set);
        }
        let set = if negated { set.complement() } else { set };
        if set.is_empty() { Err(self.malformed("a set in it is empty")) } else { Ok(set) }
    }

    fn member(&mut self, c: char) -> Result<Escaped, Diagnostic> {
        match c {
            '\\' if self.peek() == Some('b') => {
                self.at += 1;
                Ok(Escaped::Code(8))
            }
            '\\' => self.escaped(),
            c => Ok(Escaped::Code(Code::from(c))),
        }
    }

    fn skip_blank(&mut self, c: char) -> bool {
        if c == '#' {
            let rest = &self.pattern[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if c.is_whitespace() {
            self.at += c.len_utf8();
        } else {
            return false;
        }
        true
    }

    fn peek(&self) -> Option<char> {
        self.pattern[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.pattern[self.at..].starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn malformed(&self, what: &str) -> Diagnostic {
        let message = format!("this regular expression cannot be read: {what}");
        Diagnostic::error("malformed-regex", message, self.place.clone(), "")
    }
}

/// A repetition whose choices a text fits in one way only, as the first one that fits is taken: in `(\\"|[^"])*?` the set loses
/// the backslash before a quote.
fn exclusive(expr: Expr) -> Expr {
    let Expr::Repeat { item, min, max } = expr else { return expr };
    let Expr::Choice(parts) = *item else { return Expr::repeat(*item, min, max) };
    let mut pairs: Vec<(char, char)> = Vec::new();
    let mut alternatives = Vec::new();
    for part in parts {
        match part {
            Expr::Set(set) => {
                let firsts: BTreeSet<char> =
                    pairs.iter().map(|(first, _)| *first).filter(|c| set.contains(Code::from(*c))).collect();
                let mut rest = set.clone();
                for first in firsts {
                    rest = rest.difference(&CharSet::single(Code::from(first)));
                    let seconds =
                        pairs.iter().filter(|(other, _)| *other == first).map(|(_, second)| Code::from(*second));
                    let others = set.difference(&CharSet::from_ranges(seconds.map(|code| (code, code))));
                    if !others.is_empty() {
                        alternatives.push(Expr::Sequence(vec![Expr::Text(first.to_string()), Expr::Set(others)]));
                    }
                }
                if !rest.is_empty() {
                    alternatives.push(Expr::Set(rest));
                }
            }
            part => {
                if let Expr::Text(text) = &part {
                    let mut characters = text.chars();
                    if let (Some(first), Some(second), None) = (characters.next(), characters.next(), characters.next())
                    {
                        pairs.push((first, second));
                    }
                }
                alternatives.push(part);
            }
        }
    }
    Expr::repeat(Expr::choice(alternatives), min, max)
}

enum Escaped {
    Class(CharSet),
    Code(Code),
}

/// Small sets with the other case of each letter; large ones hold both anyway.
fn in_any_case(set: &CharSet) -> CharSet {
    if set.len() > 1000 {
        return set.clone();
    }
    let codes = (0..set.len()).filter_map(|index| set.nth(index)).filter_map(char::from_u32).flat_map(regular::cases);
    set.union(&CharSet::from_ranges(codes.map(|code| (code, code))))
}
