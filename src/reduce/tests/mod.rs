//! Tests of the reducer as a whole.

mod examples;
mod laws;

use crate::grammar::{Grammar, Kind};
use crate::oracle::Outcome;
use crate::tree::{Tree, least};

/// `Fail` where the text is interesting.
fn outcome(interesting: bool) -> Outcome {
    if interesting { Outcome::Fail } else { Outcome::Pass }
}

/// All single edits of a tree that make it shorter, by a way of its own: items dropped, least strings, and descendants of the
/// same symbol in a node's place.
fn single_edits(grammar: &Grammar, tree: &Tree) -> Vec<Tree> {
    let lexicon = grammar.lexicon();
    let mut all = Vec::new();
    for at in 0..tree.len() {
        let symbol = tree.node(at).symbol;
        match grammar.kind(symbol) {
            Kind::Repeat { separator, min, .. } => {
                let items = tree.children(at).count().div_ceil(if separator.is_some() { 2 } else { 1 });
                for dropped in (0..items).filter(|_| items > *min as usize) {
                    let fragment = tree.with_items(grammar, at, |item| item != dropped);
                    all.push(tree.replace(lexicon, &[(at, &fragment)]));
                }
            }
            Kind::Choice(_) if grammar.symbol(symbol).name.is_some() => {
                all.push(tree.replace(lexicon, &[(at, &least(grammar, symbol))]));
            }
            _ => {}
        }
        for below in tree.subtree(at).skip(1).filter(|below| tree.node(*below).symbol == symbol) {
            all.push(tree.replace(lexicon, &[(at, &tree.fragment(below))]));
        }
    }
    all.retain(|edit| edit.text().len() < tree.text().len());
    all
}
