//! What a node is replaced by when it is not wanted: its symbol's least string, or the least that the input itself has.

use super::context::anew;
use crate::grammar::{Grammar, Kind, SymbolId};
use crate::tree::{Builder, Tree, least};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// By how many bytes the least text seen in the input may exceed the grammar's least and still be tried before it: it is
/// more often valid (`int` is a type, `a` is not).
const SEEN_MAY_EXCEED: usize = 2;

/// How many alternatives, beside the one that the least string takes, the sweep tries. Each costs a run for each node of the
/// symbol, and an expression of a programming language has some forty.
const OTHERS: usize = 2;

/// Fragments for symbols.
#[derive(Clone)]
pub(super) struct Replacements<'g> {
    grammar: &'g Grammar,
    least: FxHashMap<SymbolId, Rc<Tree>>,
    seen: FxHashMap<SymbolId, Rc<Tree>>,
    others: FxHashMap<SymbolId, Rc<Vec<Tree>>>,
}

impl<'g> Replacements<'g> {
    pub(super) fn new(grammar: &'g Grammar, input: &Tree) -> Self {
        let mut best: FxHashMap<SymbolId, (usize, usize)> = FxHashMap::default();
        for (at, node) in input.nodes().iter().enumerate() {
            let named = grammar.symbol(node.symbol).name.is_some();
            if !named || grammar.is_leaf(node.symbol) || node.start == node.end {
                continue;
            }
            // Half a byte more for a letter, as in the grammar's least strings.
            let long = 2 * (node.end - node.start) as usize;
            if best.get(&node.symbol).is_some_and(|(known, _)| long > *known + 2 * node.trivia as usize + 64) {
                continue;
            }
            let text = input.lexeme(at);
            let cost = 2 * text.len() + usize::from(text.first().is_some_and(u8::is_ascii_alphabetic));
            if !text.is_empty()
                && best.get(&node.symbol).is_none_or(|&(known, place)| {
                    cost < known || cost == known && super::order::simpler(text, input.lexeme(place))
                })
            {
                best.insert(node.symbol, (cost, at));
            }
        }
        let fragment = |(symbol, (_, at))| (symbol, Rc::new(anew(grammar, input, at).tight(grammar)));
        let seen = best.into_iter().map(fragment).collect();
        Replacements { grammar, least: FxHashMap::default(), seen, others: FxHashMap::default() }
    }

    /// Whether nodes of the symbol are replaced as a whole: rules, choices and tokens. A sequence is taken apart instead, a
    /// repetition loses items.
    pub(super) fn has_any(&self, symbol: SymbolId) -> bool {
        let entry = self.grammar.symbol(symbol);
        match &entry.kind {
            Kind::Choice(alternatives) => entry.name.is_some() || alternatives.len() > 1,
            Kind::Set(_) => true,
            Kind::Repeat { .. } | Kind::Literal(_) => false,
        }
    }

    /// The grammar's least fragment of the symbol.
    pub(super) fn least(&mut self, symbol: SymbolId) -> Rc<Tree> {
        let grammar = self.grammar;
        self.least.entry(symbol).or_insert_with(|| Rc::new(least(grammar, symbol))).clone()
    }

    /// The least fragment of the symbol that stands in the input.
    pub(super) fn seen(&self, symbol: SymbolId) -> Option<Rc<Tree>> {
        self.seen.get(&symbol).cloned()
    }

    /// The fragment to try first in place of a node of that length; `None` if nothing is shorter.
    pub(super) fn first(&mut self, symbol: SymbolId, length: usize) -> Option<Rc<Tree>> {
        let least = self.least(symbol);
        let limit = least.text().len() + SEEN_MAY_EXCEED;
        let near = |seen: &Rc<Tree>| seen.text().len() <= limit && seen.text().len() < length;
        let shorter = |tree: &Rc<Tree>| tree.text().len() < length;
        self.seen(symbol).filter(near).or_else(|| Some(least).filter(shorter))
    }

    /// All fragments that the sweep tries in place of a node: the first one, the grammar's least, and the least of the cheapest
    /// other alternatives.
    pub(super) fn all(&mut self, symbol: SymbolId, length: usize) -> Vec<Rc<Tree>> {
        let mut all: Vec<Rc<Tree>> = self.first(symbol, length).into_iter().collect();
        all.push(self.least(symbol));
        all.retain(|tree| tree.text().len() < length);
        all
    }

    /// The least fragments of the cheapest alternatives that the least string does not take, cheapest first.
    pub(super) fn others(&mut self, symbol: SymbolId) -> Rc<Vec<Tree>> {
        let grammar = self.grammar;
        let build = || {
            let taken = grammar.least_alternative(symbol);
            let price = |number: &u32| -> u64 {
                grammar.alternative(symbol, *number).iter().map(|part| u64::from(grammar.least_cost(*part))).sum()
            };
            let mut numbers: Vec<u32> = (0..grammar.alternatives(symbol)).filter(|number| *number != taken).collect();
            numbers.sort_by_key(|number| (price(number), *number));
            numbers.truncate(OTHERS);
            numbers.into_iter().map(|number| by_alternative(grammar, symbol, number)).collect()
        };
        self.others.entry(symbol).or_insert_with(|| Rc::new(build())).clone()
    }
}

fn by_alternative(grammar: &Grammar, symbol: SymbolId, alternative: u32) -> Tree {
    let mut builder = Builder::default();
    builder.open(symbol, alternative);
    grammar.alternative(symbol, alternative).iter().for_each(|part| builder.graft(&least(grammar, *part)));
    builder.close();
    builder.fragment().tight(grammar)
}
