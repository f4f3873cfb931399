//! The cheapest fragment of a symbol.

use super::{Builder, Tree};
use crate::grammar::{Grammar, Kind, SymbolId};

/// The fragment that spells the cheapest text of the symbol (see [`Grammar::least_cost`]).
pub fn least(grammar: &Grammar, symbol: SymbolId) -> Tree {
    let mut builder = Builder::default();
    write_least(grammar, symbol, &mut builder);
    builder.fragment()
}

/// Adds that fragment to a tree that is being built. White space goes only between leaves that would run together.
pub(super) fn write_least(grammar: &Grammar, symbol: SymbolId, builder: &mut Builder) {
    enum Step {
        Derive(SymbolId),
        Close,
    }
    let mut last: Vec<u8> = Vec::new();
    let mut todo = vec![Step::Derive(symbol)];
    while let Some(step) = todo.pop() {
        let symbol = match step {
            Step::Derive(symbol) => symbol,
            Step::Close => {
                builder.close();
                continue;
            }
        };
        if grammar.is_leaf(symbol) {
            let lexeme = grammar.least_leaf(symbol);
            let lexicon = grammar.lexicon();
            let apart = lexicon.is_immediate(symbol) || !lexicon.run_together(&last, lexeme);
            builder.leaf(symbol, if apart { &[] } else { lexicon.separator_after(&last) }, lexeme);
            last = lexeme.to_vec();
            continue;
        }
        let choice = grammar.least_alternative(symbol);
        todo.push(Step::Close);
        match grammar.kind(symbol) {
            Kind::Repeat { item, separator, min, .. } => {
                builder.open(symbol, 0);
                for n in 0..*min {
                    todo.push(Step::Derive(*item));
                    todo.extend(separator.filter(|_| n + 1 < *min).map(Step::Derive));
                }
            }
            _ => {
                builder.open(symbol, choice);
                todo.extend(grammar.alternative(symbol, choice).iter().rev().map(|part| Step::Derive(*part)));
            }
        }
    }
}
