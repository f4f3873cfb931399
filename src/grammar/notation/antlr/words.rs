//! Lexer rules that are words or sets of characters, also through fragments.

use super::escape;
use super::lexer::Lexer;
use super::syntax::{Alternative, Atom, Element, RuleText};
use crate::grammar::ast::Expr;
use crate::grammar::charset::CharSet;
use crate::grammar::regular;

/// Deeper than this, words and sets are not looked for in fragments.
const MAX_DEPTH: u32 = 20;

/// After so many steps no more words and sets are looked for: fragments that double each other could take for ever.
const MAX_STEPS: u32 = 2_000_000;

/// A text that a rule stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub text: String,
    pub caseless: bool,
}

impl Word {
    pub(super) fn expr(&self) -> Expr {
        if self.caseless { Expr::Caseless(self.text.clone()) } else { Expr::Text(self.text.clone()) }
    }

    /// Whether it is taken for a keyword as a text in a parser rule, if it has to be one.
    pub(super) fn is_plain(&self) -> bool {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
        let first = self.text.chars().next().is_some_and(|c| c.is_ascii_digit());
        self.caseless || !self.text.contains(char::is_alphanumeric) || !first && self.text.chars().all(word)
    }
}

impl Lexer<'_> {
    pub(super) fn find_words(&mut self) {
        for rule in self.rules {
            let mut alternatives = rule.body.as_slice();
            while let [Alternative { elements, .. }] = alternatives
                && let [Element { atom: Atom::Block(body), min: 1, max: Some(1), .. }] = elements.as_slice()
            {
                alternatives = body;
            }
            let words = alternatives.iter().map(|alternative| self.word(&alternative.elements, rule, 0));
            if let Some(words) = words.collect::<Option<Vec<Word>>>().filter(|words| !words.is_empty()) {
                self.words.insert(&rule.name, words);
            }
        }
    }

    /// The one text that elements match, if it is one, apart from its case.
    fn word(&self, elements: &[Element], rule: &RuleText, depth: u32) -> Option<Word> {
        let mut text = String::new();
        let mut cased = [false; 2];
        self.letters(elements, rule, depth, &mut |c, caseless| {
            text.push(c);
            if c.to_lowercase().ne(c.to_uppercase()) {
                cased[usize::from(caseless)] = true;
            }
        })?;
        let caseless = cased[1];
        let text = if caseless { text.to_lowercase() } else { text };
        (!text.is_empty() && cased != [true, true]).then_some(Word { text, caseless })
    }

    fn letters(
        &self,
        elements: &[Element],
        rule: &RuleText,
        depth: u32,
        found: &mut dyn FnMut(char, bool),
    ) -> Option<()> {
        for element in elements {
            if (element.min, element.max) != (1, Some(1)) || self.is_too_far(depth) {
                return None;
            }
            match &element.atom {
                Atom::Text(text) => text.chars().for_each(|c| found(c, rule.caseless)),
                Atom::Set(set) => letter(set).map(|(c, caseless)| found(c, caseless || rule.caseless))?,
                Atom::Name(name) => {
                    let rule = self.by_name.get(name.as_str())?;
                    let [only] = rule.body.as_slice() else {
                        let (c, caseless) = letter(&self.set(&element.atom, rule, depth + 1)?)?;
                        found(c, caseless);
                        continue;
                    };
                    self.letters(&only.elements, rule, depth + 1, found)?;
                }
                Atom::Block(body) => match body.as_slice() {
                    [only] => self.letters(&only.elements, rule, depth + 1, found)?,
                    _ => {
                        let (c, caseless) = letter(&self.set(&element.atom, rule, depth + 1)?)?;
                        found(c, caseless);
                    }
                },
                Atom::Any | Atom::Not(_) | Atom::End => return None,
            }
        }
        Some(())
    }

    pub(super) fn is_too_far(&self, depth: u32) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        depth > MAX_DEPTH || self.steps.get() > MAX_STEPS
    }

    /// The set of characters that an atom is, if it is one.
    pub(super) fn set(&self, atom: &Atom, rule: &RuleText, depth: u32) -> Option<CharSet> {
        if self.is_too_far(depth) {
            return None;
        }
        let cased = |set: CharSet| if rule.caseless { escape::caseless(&set) } else { set };
        match atom {
            Atom::Text(text) => {
                let mut chars = text.chars();
                let first = chars.next().filter(|_| chars.next().is_none())?;
                Some(cased(CharSet::single(first.into())))
            }
            Atom::Set(set) => Some(cased(set.clone())),
            Atom::Any => Some(CharSet::default().complement()),
            Atom::Not(inner) => Some(self.set(inner, rule, depth)?.complement()),
            Atom::Name(name) => {
                let rule = self.by_name.get(name.as_str())?;
                self.set_of(&rule.body, rule, depth + 1)
            }
            Atom::Block(body) => self.set_of(body, rule, depth + 1),
            Atom::End => None,
        }
    }

    fn set_of(&self, body: &[Alternative], rule: &RuleText, depth: u32) -> Option<CharSet> {
        body.iter().try_fold(CharSet::default(), |set, alternative| match alternative.elements.as_slice() {
            [Element { atom, min: 1, max: Some(1), .. }] => Some(set.union(&self.set(atom, rule, depth)?)),
            _ => None,
        })
    }
}

/// A character, or one in both cases.
fn letter(set: &CharSet) -> Option<(char, bool)> {
    let first = char::from_u32(set.nth(0)?)?;
    match set.len() {
        1 => Some((first, false)),
        2 => {
            let both = CharSet::from_ranges(regular::cases(first).map(|code| (code, code)));
            (both == *set).then_some((first, true))
        }
        _ => None,
    }
}
