//! From an input to its derivation tree, for any context-free grammar.
//!
//! First a recogniser finds everything that can be derived of each beginning of the input (Earley's algorithm),
//! then one tree is read from it. `docs/grammar-files.md` says which one, and how tokens are found.
//! Nothing here recurses over the input.

mod ahead;
mod ambiguity;
mod build;
mod chart;
mod error;
mod flat;
mod priority;
#[cfg(test)]
mod reference;
mod rough;
#[cfg(test)]
mod tests;

pub use ambiguity::{Ambiguity, Step};
pub use error::{Found, Open, ParseError, SyntaxError};
pub use rough::is_rough;

use crate::grammar::{Grammar, SymbolId, Text};
use crate::tree::{self, Tree};
use build::{Builder, Part};
use flat::Flat;

/// How much memory a parse may take if nothing else is said: 4 GiB.
pub const MEMORY_LIMIT: usize = u32::MAX as usize;

/// A grammar, prepared for parsing.
///
/// ```
/// use ddset::{grammar::Grammar, parse::Parser};
/// let grammar = Grammar::read("sum ::= [0-9] ('+' [0-9])*", None)?;
/// let parser = Parser::new(&grammar);
/// assert_eq!(parser.parse(b"1+2")?.text(), b"1+2");
/// assert!(parser.parse(b"1+").is_err_and(|error| error.offset() == 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parser<'g> {
    grammar: &'g Grammar,
    flat: Flat,
    limit: usize,
}

/// Parses one input. To parse several, keep a [`Parser`]. By the bundled grammar `any` every input has a tree, which takes no
/// search.
///
/// # Errors
/// See [`Parser::parse`].
pub fn parse(grammar: &Grammar, input: &[u8]) -> Result<Tree, ParseError> {
    match rough::parse(grammar, input) {
        Some(tree) => Ok(tree),
        None => Parser::new(grammar).parse(input),
    }
}

impl<'g> Parser<'g> {
    /// Prepares a grammar.
    pub fn new(grammar: &'g Grammar) -> Self {
        Parser { grammar, flat: Flat::of(grammar), limit: MEMORY_LIMIT }
    }

    /// The same, with another bound to the bytes that the chart of an input may take.
    #[must_use]
    pub fn with_memory_limit(self, bytes: usize) -> Self {
        Parser { limit: bytes, ..self }
    }

    /// The grammar that it parses by.
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// The derivation tree of a whole input.
    ///
    /// # Errors
    /// [`ParseError::Syntax`] for an input that is not in the grammar's language; the others for one that is too large.
    pub fn parse(&self, input: &[u8]) -> Result<Tree, ParseError> {
        self.parse_as(self.grammar.start(), input)
    }

    /// The derivation tree of an input as a whole text of any symbol that is reachable from the start, tokens' insides
    /// apart. As in whole inputs, something may be skipped at both ends.
    ///
    /// # Errors
    /// See [`Parser::parse`].
    pub fn parse_as(&self, symbol: SymbolId, input: &[u8]) -> Result<Tree, ParseError> {
        if self.grammar.is_leaf(symbol) {
            return self.parse_leaf(symbol, input);
        }
        self.read(symbol, input, |builder, root| builder.tree(root))
    }

    /// The nodes of an input's tree for which there is another derivation, in preorder; there is none exactly if the input
    /// is not ambiguous, cyclic derivations and those of empty texts apart.
    ///
    /// # Errors
    /// See [`Parser::parse`].
    pub fn ambiguities(&self, input: &[u8]) -> Result<Vec<Ambiguity>, ParseError> {
        let start = self.grammar.start();
        if self.grammar.is_leaf(start) {
            return self.parse_leaf(start, input).map(|_| Vec::new());
        }
        self.read(start, input, |builder, root| builder.ambiguities(root))
    }

    /// How many derivations an input has ([`u128::MAX`] stands for more); `None` if there is no end of them. An empty text
    /// is counted as having one.
    ///
    /// # Errors
    /// See [`Parser::parse`].
    pub fn count(&self, input: &[u8]) -> Result<Option<u128>, ParseError> {
        let start = self.grammar.start();
        if self.grammar.is_leaf(start) {
            return self.parse_leaf(start, input).map(|_| Some(1));
        }
        self.read(start, input, |mut builder, root| ambiguity::count(&mut builder, root))
    }

    /// Reads something from the chart of an input.
    fn read<T>(
        &self,
        symbol: SymbolId,
        input: &[u8],
        read: impl FnOnce(Builder, Part) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let lexicon = self.grammar.lexicon();
        let text = self.text(input)?;
        let recognized = chart::recognize(&self.flat, lexicon, &text, symbol.0, self.limit)?;
        match recognized.end {
            Some(to) => {
                let root = Part { symbol: symbol.0, from: 0, to };
                read(Builder::new(self.grammar, &self.flat, recognized, &text, input), root)
            }
            None => Err(error::syntax(self.grammar, &self.flat, &recognized.chart, &text, input, symbol).into()),
        }
    }

    fn text(&self, input: &[u8]) -> Result<Text, ParseError> {
        match u32::try_from(input.len()) {
            Ok(_) => Ok(self.grammar.lexicon().text(input)),
            Err(_) => Err(ParseError::TooLong { length: input.len() }),
        }
    }

    /// A leaf needs no chart: it is there, between what may be skipped, or not.
    fn parse_leaf(&self, leaf: SymbolId, input: &[u8]) -> Result<Tree, ParseError> {
        let lexicon = self.grammar.lexicon();
        let text = self.text(input)?;
        let from = if lexicon.is_immediate(leaf) { 0 } else { lexicon.skip_end(&text, 0) };
        let Some(end) = lexicon.leaf_end(leaf, &text, from) else {
            let expected = vec![self.grammar.label(leaf)];
            return Err(SyntaxError::at(input, text.offset(from), expected, Vec::new()).into());
        };
        let after = lexicon.skip_end(&text, end);
        if after < text.len() {
            return Err(SyntaxError::at(input, text.offset(after), Vec::new(), Vec::new()).into());
        }
        let (from, end) = (text.offset(from), text.offset(end));
        let mut builder = tree::Builder::default();
        builder.leaf(leaf, &input[..from], &input[from..end]);
        Ok(builder.finish(&input[end..]))
    }
}
