//! Parser rules.

use super::lexer::Tokens;
use super::losses::{Loss, Losses};
use super::syntax::{Alternative, Atom, Element, RuleText, is_token};
use crate::grammar::ast::{Annotation, Expr, Rule, Span};

/// Parser rules over tokens.
pub(super) struct Converter<'a> {
    pub tokens: &'a Tokens,
    /// All tokens, also the texts that stand in parser rules.
    pub any: Vec<Expr>,
    pub losses: &'a mut Losses,
}

impl Converter<'_> {
    pub(super) fn rule(&mut self, rule: &RuleText) -> Rule {
        let recursive = rule.body.iter().any(|alternative| ends(alternative, &rule.name).0);
        let alternatives = rule.body.iter().map(|alternative| {
            let expr = self.sequence(&alternative.elements, rule);
            let word = match ends(alternative, &rule.name) {
                _ if !recursive => None,
                (true, true) if alternative.right => Some("right"),
                (true, _) => Some("left"),
                (false, true) => Some("right"),
                (false, false) => None,
            };
            match word {
                Some(word) => Expr::Annotated(vec![Annotation::new(word, rule.span.clone())], Box::new(expr)),
                None => expr,
            }
        });
        let body = Expr::choice(alternatives.collect());
        Rule { name: rule.name.clone(), span: rule.span.clone(), annotations: Vec::new(), body }
    }

    fn choice(&mut self, body: &[Alternative], rule: &RuleText) -> Expr {
        Expr::choice(body.iter().map(|alternative| self.sequence(&alternative.elements, rule)).collect())
    }

    fn sequence(&mut self, elements: &[Element], rule: &RuleText) -> Expr {
        Expr::sequence(elements.iter().map(|element| self.element(element, rule)).collect())
    }

    fn element(&mut self, element: &Element, rule: &RuleText) -> Expr {
        let item = self.atom(&element.atom, &element.span, rule);
        match (element.min, element.max) {
            (1, Some(1)) => item,
            (min, max) => Expr::repeat(item, min, max),
        }
    }

    fn atom(&mut self, atom: &Atom, span: &Span, rule: &RuleText) -> Expr {
        match atom {
            Atom::Text(text) => self.tokens.of_text(text, rule.caseless),
            Atom::Name(name) if is_token(name) => self.token(name, span),
            Atom::Name(name) => Expr::Name(name.clone(), span.clone()),
            Atom::Block(body) => self.choice(body, rule),
            Atom::End => Expr::nothing(),
            Atom::Any | Atom::Set(_) => Expr::choice(self.any.clone()),
            Atom::Not(inner) => {
                let mut excluded = Vec::new();
                self.excluded(inner, span, rule, &mut excluded);
                Expr::choice(self.any.iter().filter(|token| !excluded.contains(token)).cloned().collect())
            }
        }
    }

    fn token(&mut self, name: &str, span: &Span) -> Expr {
        match self.tokens.reference(name) {
            Some(Expr::Name(name, _)) => Expr::Name(name, span.clone()),
            Some(text) => text,
            None if self.tokens.is_declared(name) => {
                self.losses.note(Loss::Undeclared, span.clone());
                Expr::nothing()
            }
            None => Expr::Name(name.to_owned(), span.clone()),
        }
    }

    /// The tokens of `~A` or `~(A | B)`, by what they are in [`Converter::any`].
    fn excluded(&mut self, atom: &Atom, span: &Span, rule: &RuleText, found: &mut Vec<Expr>) {
        match atom {
            Atom::Block(body) => {
                for element in body.iter().flat_map(|alternative| &alternative.elements) {
                    self.excluded(&element.atom, span, rule, found);
                }
            }
            Atom::Name(name) => found.extend(self.tokens.reference(name)),
            _ => found.push(self.atom(atom, span, rule)),
        }
    }
}

/// Whether an alternative of more than one part begins, and ends, with its own rule.
fn ends(alternative: &Alternative, rule: &str) -> (bool, bool) {
    let own = |element: &Element| {
        (element.min, element.max) == (1, Some(1)) && matches!(&element.atom, Atom::Name(name) if name == rule)
    };
    match alternative.elements.as_slice() {
        [first, second, ..] if own(first) && second.max.is_none() && is_list(second, rule) => (false, false),
        [first, .., last] => (own(first), own(last)),
        _ => (false, false),
    }
}

/// Whether `e` before it makes one list of both, as in `e ("," e)*`.
fn is_list(element: &Element, rule: &str) -> bool {
    let Atom::Block(body) = &element.atom else { return false };
    let last = |alternative: &Alternative| alternative.elements.last().map(|element| element.atom.clone());
    body.iter().any(|alternative| matches!(last(alternative), Some(Atom::Name(name)) if name == rule))
}
