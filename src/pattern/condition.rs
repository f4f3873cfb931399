//! What a filling must be, beside a string of its hole's nonterminal.

use super::notation::quoted;
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
