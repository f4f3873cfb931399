//! What a filling must be, beside a string of its hole's nonterminal.

use super::notation::{quoted, unquoted};
use super::{core, only_leaf};
use crate::grammar::{Grammar, Kind, SymbolId};
use crate::tree::Tree;

/// A condition on what stands in a hole. A hole has one at most: the simplest that holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A number between two bounds, each included.
    Number {
        /// The least one.
        from: Option<u64>,
        /// The greatest one.
        to: Option<u64>,
    },
    /// A length between two bounds, each included: characters of a token, items of a repetition.
    Length {
        /// The least one.
        from: Option<usize>,
        /// The greatest one.
        to: Option<usize>,
    },
    /// One of these alternatives of the rule.
    Among(Vec<u32>),
    /// Another text than stands at these places of the tree, whatever that is.
    Differs(Vec<usize>),
    /// None of these texts.
    Except(Vec<Vec<u8>>),
    /// Nothing that holds one of these texts.
    Without(Vec<Vec<u8>>),
}

impl Condition {
    /// Reads what stands behind the colon in a hole, as far as it speaks of nothing but this hole: a range of numbers or
    /// lengths, texts that are left out.
    pub fn read(text: &str) -> Option<Condition> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("length ") {
            let (from, to) = bounds(rest)?;
            return Some(Condition::Length { from: from.map(|n| n as usize), to: to.map(|n| n as usize) });
        }
        if let Some(rest) = text.strip_prefix("without ") {
            return Some(Condition::Without(unquoted(rest))).filter(|_| rest.starts_with(['"', '\'']));
        }
        if let Some(rest) = text.strip_prefix("!= ") {
            return Some(Condition::Except(unquoted(rest))).filter(|_| rest.starts_with(['"', '\'']));
        }
        bounds(text).map(|(from, to)| Condition::Number { from, to })
    }

    /// Whether a fragment meets the condition. [`Condition::Differs`] is about a whole input, and holds of a fragment alone.
    pub fn holds(&self, grammar: &Grammar, fragment: &Tree) -> bool {
        let text = fragment.lexeme(0);
        match self {
            Condition::Number { from, to } => number(text).is_some_and(|n| within(n, *from, *to)),
            Condition::Length { from, to } => within(length(grammar, fragment), *from, *to),
            Condition::Among(options) => options.contains(&fragment.node(core(grammar, fragment, 0)).alternative),
            Condition::Differs(_) => true,
            Condition::Except(texts) => texts.iter().all(|other| other != text),
            Condition::Without(texts) => texts.iter().all(|part| !holds_text(text, part)),
        }
    }

    /// The condition as it stands behind the colon in a hole, for a hole of this symbol. `other` names what stands at a place.
    pub(super) fn label(&self, grammar: &Grammar, symbol: SymbolId, other: impl Fn(usize) -> String) -> String {
        match self {
            Condition::Number { from, to } => range(from.as_ref(), to.as_ref()),
            Condition::Length { from, to } => format!("length {}", range(from.as_ref(), to.as_ref())),
            Condition::Among(options) => {
                let core = core_symbol(grammar, symbol);
                let part = |part: &SymbolId| grammar.label(*part);
                let alternative =
                    |option: &u32| grammar.alternative(core, *option).iter().map(part).collect::<Vec<_>>().join(" ");
                options.iter().map(alternative).collect::<Vec<_>>().join(" | ")
            }
            Condition::Differs(places) => {
                let mut others: Vec<String> = places.iter().map(|place| other(*place)).collect();
                others.dedup();
                format!("!= {}", others.join(", "))
            }
            Condition::Except(texts) => format!("!= {}", list(texts)),
            Condition::Without(texts) => format!("without {}", list(texts)),
        }
    }
}

/// The bounds of what `range` writes.
fn bounds(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    if let Some(n) = text.strip_prefix(">= ") {
        return Some((Some(n.parse().ok()?), None));
    }
    if let Some(n) = text.strip_prefix("<= ") {
        return Some((None, Some(n.parse().ok()?)));
    }
    if let Some(n) = text.strip_prefix("= ") {
        let n = n.parse().ok()?;
        return Some((Some(n), Some(n)));
    }
    let (from, to) = text.split_once("..")?;
    Some((Some(from.parse().ok()?), Some(to.parse().ok()?)))
}

fn list(texts: &[Vec<u8>]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}

fn range<N: std::fmt::Display + PartialEq>(from: Option<&N>, to: Option<&N>) -> String {
    match (from, to) {
        (Some(from), Some(to)) if from == to => format!("= {from}"),
        (Some(from), Some(to)) => format!("{from}..{to}"),
        (Some(from), None) => format!(">= {from}"),
        (None, Some(to)) => format!("<= {to}"),
        (None, None) => "any".to_owned(),
    }
}

fn within<N: PartialOrd>(n: N, from: Option<N>, to: Option<N>) -> bool {
    from.is_none_or(|from| n >= from) && to.is_none_or(|to| n <= to)
}

fn holds_text(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// The number that a text is.
pub fn number(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// How long a fragment is: characters, if it is a token, else items, if it is a repetition.
pub fn length(grammar: &Grammar, fragment: &Tree) -> usize {
    let core = core(grammar, fragment, 0);
    if let Kind::Repeat { separator, .. } = grammar.kind(fragment.node(core).symbol)
        && only_leaf(grammar, fragment, core) != Some(core)
    {
        let children = fragment.children(core).count();
        return if separator.is_some() { children.div_ceil(2) } else { children };
    }
    String::from_utf8_lossy(fragment.lexeme(0)).chars().count()
}

/// The symbol at which something is chosen; see [`core`].
pub(super) fn core_symbol(grammar: &Grammar, symbol: SymbolId) -> SymbolId {
    let mut symbol = symbol;
    while let Kind::Choice(alternatives) = grammar.kind(symbol)
        && !grammar.is_leaf(symbol)
        && let [alternative] = alternatives.as_slice()
        && let [only] = alternative.as_slice()
    {
        symbol = *only;
    }
    symbol
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_undoes_printing() {
        let grammar = Grammar::read("s ::= 'a'", None).expect("valid");
        let texts = || vec![b"0000".to_vec(), b"a\"b".to_vec()];
        let all = [
            Condition::Number { from: Some(256), to: None },
            Condition::Number { from: None, to: Some(7) },
            Condition::Number { from: Some(3), to: Some(9) },
            Condition::Length { from: Some(10), to: None },
            Condition::Length { from: Some(2), to: Some(2) },
            Condition::Except(texts()),
            Condition::Without(texts()),
        ];
        for condition in all {
            let label = condition.label(&grammar, grammar.start(), |_| String::new());
            assert_eq!(Condition::read(&label), Some(condition), "{label}");
        }
        assert_eq!(Condition::read("\"+\" | \"-\""), None);
    }
}
