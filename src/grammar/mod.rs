//! Grammars: what may be written, and how it is taken apart.
//!
//! A [`Grammar`] is a table of [`Symbol`]s. Named rules, anonymous groups, repetitions, literals and character sets are all
//! symbols; equal anonymous ones are one symbol. The grammar knows no tree and no input.

mod alphabet;
mod analysis;
mod ast;
mod automaton;
pub mod bundled;
pub mod charset;
mod check;
pub mod code;
pub mod diagnostic;
mod display;
mod fuzzingbook;
mod lexicon;
mod lower;
mod marks;
mod notation;
mod regular;
pub mod sources;
#[cfg(test)]
mod tests;

pub use alphabet::{Alphabet, Text};
pub use lexicon::Lexicon;
pub use notation::Format;

use analysis::Analysis;
use charset::CharSet;
use diagnostic::{Diagnostic, Severity};
use indexmap::{IndexMap, IndexSet};
use sources::Sources;

/// A symbol of a grammar. Named rules come first, in the order in which they are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct SymbolId(pub u32);

impl SymbolId {
    /// Its place in tables that have an entry for each symbol.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a symbol stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The bytes themselves; never empty.
    Literal(Box<[u8]>),
    /// One character of the set.
    Set(CharSet),
    /// One of the alternatives, each a sequence of symbols. The earlier one is preferred.
    Choice(Vec<Vec<SymbolId>>),
    /// The item `min` to `max` times, with the separator between each two.
    Repeat {
        /// What is repeated.
        item: SymbolId,
        /// What stands between two items.
        separator: Option<SymbolId>,
        /// Least count.
        min: u32,
        /// Greatest count, if there is one.
        max: Option<u32>,
    },
}

impl Kind {
    /// The symbols that it is made of, each as often as it is written.
    pub fn parts(&self) -> Vec<SymbolId> {
        match self {
            Kind::Choice(alternatives) => alternatives.iter().flatten().copied().collect(),
            Kind::Repeat { item, separator, .. } => [*item].into_iter().chain(*separator).collect(),
            Kind::Literal(_) | Kind::Set(_) => Vec::new(),
        }
    }
}

/// An entry of the symbol table.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name of a rule; `None` for what is anonymous.
    pub name: Option<String>,
    /// What it stands for.
    pub kind: Kind,
    /// What its annotations say.
    pub role: Role,
    /// For each alternative of a rule with priorities, how tightly it holds together; empty for all else.
    pub operators: Vec<Option<Operator>>,
}

/// What an alternative such as `e "+" e`, which begins or ends with its own rule, may have at these ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Those of a higher level bind tighter; levels run from 0 without a gap.
    pub level: u32,
    /// On which side another of the same level may stand.
    pub associativity: Associativity,
}

/// How `a + b + c` is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Associativity {
    /// `(a + b) + c`.
    Left,
    /// `a + (b + c)`.
    Right,
    /// Not at all: it is an error.
    None,
}

/// A text as it is written in W3C notation.
pub(crate) fn quoted_text(text: &[u8]) -> String {
    display::text(text)
}

/// The lexical role of a rule (`docs/grammar-files.md`, "Annotations").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// A lexical unit: longest match, a leaf of the tree.
    pub token: bool,
    /// A token whose equal occurrences may belong together.
    pub identifier: bool,
    /// A token whose matches no other token has.
    pub keyword: bool,
    /// A lexical unit that may stand before any token.
    pub skip: bool,
    /// A token before which nothing is skipped.
    pub immediate: bool,
    /// A token that stands for layout.
    pub mark: Option<Mark>,
}

/// What a token stands for that no text of its own does: the layout of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The end of a logical line.
    Newline,
    /// The beginning of a block of lines that are indented more.
    Indent,
    /// Its end.
    Dedent,
}

impl Mark {
    /// All of them.
    pub const ALL: [Mark; 3] = [Mark::Newline, Mark::Indent, Mark::Dedent];
}

/// A context-free grammar.
#[derive(Clone, Debug)]
pub struct Grammar {
    symbols: Vec<Symbol>,
    names: IndexMap<String, SymbolId>,
    start: SymbolId,
    sources: Sources,
    source: String,
    warnings: Vec<Diagnostic>,
    analysis: Analysis,
    lexicon: Lexicon,
}

/// A grammar that cannot be used, with every reason found.
#[derive(Debug, thiserror::Error)]
#[error("{}", diagnostics.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct GrammarError {
    /// The files that were read.
    pub sources: Sources,
    /// What is wrong with them, errors before warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Grammar {
    /// Reads a grammar in the notation that its text looks like. It starts at `start`, else at the rule annotated `@start`,
    /// else at the first rule.
    ///
    /// # Errors
    /// Every defect found, with its place.
    ///
    /// ```
    /// let grammar = ddset::grammar::Grammar::read("list ::= 'a' (',' 'a')*", None)?;
    /// assert_eq!(grammar.label(grammar.start()), "list");
    /// # Ok::<(), ddset::grammar::GrammarError>(())
    /// ```
    pub fn read(source: &str, start: Option<&str>) -> Result<Grammar, GrammarError> {
        Self::load(Sources::of("", source), None, start)
    }

    /// Reads a grammar of one or more files, in the given notation, else each in the one that it looks like.
    ///
    /// # Errors
    /// Every defect found, with its place.
    pub fn load(sources: Sources, format: Option<Format>, start: Option<&str>) -> Result<Grammar, GrammarError> {
        match notation::read(&sources, format).and_then(|document| Self::of(document, start)) {
            Ok(grammar) => Ok(grammar.with_sources(sources, format)),
            Err(mut diagnostics) => {
                sources.blame_missing(&mut diagnostics);
                Err(GrammarError { sources, diagnostics })
            }
        }
    }

    fn of(document: ast::Document, start: Option<&str>) -> Result<Grammar, Vec<Diagnostic>> {
        let ast::Document { rules, warnings: mut findings } = document;
        let lowered = lower::lower(&rules, start);
        let lower::Lowered { symbols, names, start, findings: more } = lowered;
        findings.extend(more);
        // All that can be found is found at once, whether or not there was an error before.
        let analysis = Analysis::of(&symbols);
        findings.extend(marks::check(&symbols, &rules));
        findings.extend(check::unproductive(&symbols, &rules, &analysis));
        findings.extend(check::cyclic(&symbols, &rules, &analysis));
        findings.extend(start.map(|start| check::unreachable(&rules, start)).unwrap_or_default());
        let lexicon = start.map(|start| Lexicon::build(&symbols, start, &rules)).unwrap_or(Ok(Lexicon::default()));
        let lexicon = lexicon.unwrap_or_else(|more| {
            findings.extend(more);
            Lexicon::default()
        });
        findings.extend(check::shadowed(&symbols, &rules, &lexicon));
        let findings = check::in_order(findings);
        let start = match start {
            Some(start) if findings.first().is_none_or(|first| first.severity == Severity::Warning) => start,
            _ => return Err(findings),
        };
        let (sources, source) = (Sources::default(), String::new());
        let mut grammar = Grammar { symbols, names, start, sources, source, warnings: findings, analysis, lexicon };
        grammar.analysis.measure_tokens(&grammar.symbols, &grammar.lexicon);
        Ok(grammar)
    }

    /// A grammar out of one file of ours keeps its text; of all others the text is what they come to in our notation.
    fn with_sources(mut self, sources: Sources, format: Option<Format>) -> Self {
        self.source = match sources.files() {
            [file] if format.unwrap_or_else(|| Format::of(file)).is_native(&file.text) => file.text.clone(),
            _ => self.to_ebnf(),
        };
        self.sources = sources;
        self
    }

    /// The grammar as one text, which [`Grammar::read`] reads as the same grammar.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The files that it was read from.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The symbol that derives whole inputs.
    pub fn start(&self) -> SymbolId {
        self.start
    }

    /// What is likely not meant, though it works.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The entry of a symbol.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    /// What a symbol stands for.
    pub fn kind(&self, id: SymbolId) -> &Kind {
        &self.symbols[id.index()].kind
    }

    /// How many symbols there are; ids run from 0.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Never: a grammar has at least its start symbol.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// All symbols.
    pub fn ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    /// The named rules in the order of their declaration.
    pub fn rules(&self) -> impl Iterator<Item = (&str, SymbolId)> {
        self.names.iter().map(|(name, id)| (name.as_str(), *id))
    }

    /// The rule of that name.
    pub fn rule(&self, name: &str) -> Option<SymbolId> {
        self.names.get(name).copied()
    }

    /// Whether the symbol is a text that stands in the grammar itself: a literal, in one case or in any.
    pub fn is_literal(&self, id: SymbolId) -> bool {
        let symbol = self.symbol(id);
        matches!(symbol.kind, Kind::Literal(_)) || symbol.role.token && symbol.name.is_none()
    }

    /// Whether the symbol's nodes are leaves: literals, character sets, and tokens.
    pub fn is_leaf(&self, id: SymbolId) -> bool {
        let symbol = self.symbol(id);
        symbol.role.token || matches!(symbol.kind, Kind::Literal(_) | Kind::Set(_))
    }

    /// The symbols that one derivation step makes of `id` by its alternative (0 for all but choices): the sequence of a
    /// choice's alternative; nothing for a leaf; for repetitions see [`Kind::Repeat`].
    pub fn alternative(&self, id: SymbolId, alternative: u32) -> &[SymbolId] {
        match self.kind(id) {
            Kind::Choice(alternatives) => alternatives.get(alternative as usize).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// How many alternatives a choice has; 1 for everything else.
    pub fn alternatives(&self, id: SymbolId) -> u32 {
        match self.kind(id) {
            Kind::Choice(alternatives) => alternatives.len() as u32,
            _ => 1,
        }
    }

    /// Whether the symbol derives the empty text.
    pub fn is_nullable(&self, id: SymbolId) -> bool {
        self.analysis.nullable.contains(id.index())
    }

    /// Cost of the cheapest text of the symbol: its length in bytes, a terminal that begins with a letter weighing half a
    /// byte more, in units of half a byte. So `0` is preferred to `a`: a literal needs no declaration.
    pub fn least_cost(&self, id: SymbolId) -> u32 {
        self.analysis.cost[id.index()]
    }

    /// The alternative with which the cheapest text begins; for repetitions the least count.
    pub fn least_alternative(&self, id: SymbolId) -> u32 {
        self.analysis.choice[id.index()]
    }

    /// The least height of a derivation of the symbol, counted in choices: 0 for a leaf, and repetitions add nothing.
    pub fn height(&self, id: SymbolId) -> u32 {
        self.analysis.height[id.index()]
    }

    /// The shortest text of a token that is no keyword, of a set, or of a literal: the least leaf.
    pub fn least_leaf(&self, id: SymbolId) -> &[u8] {
        &self.analysis.leaf[id.index()]
    }

    /// Tokens, keywords and what may be skipped.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// Whether the grammar declares tokens or something to skip; otherwise it is taken character by character.
    pub fn is_lexical(&self) -> bool {
        self.lexicon.is_lexical()
    }

    /// The token that is this mark, in a grammar that asks for layout (see [`layout`](crate::layout)).
    pub fn mark(&self, mark: Mark) -> Option<SymbolId> {
        self.ids().find(|id| self.symbol(*id).role.mark == Some(mark))
    }

    /// How a symbol is written in messages and patterns: the rule's name, or the expression itself (`exp ("," exp)*`).
    pub fn label(&self, id: SymbolId) -> String {
        display::label(self, id)
    }

    /// The whole grammar in W3C notation; what [`Grammar::read`] makes of it is the same grammar.
    pub fn to_ebnf(&self) -> String {
        display::ebnf(self, self.names.values().copied(), self.start)
    }

    /// These rules in W3C notation, without what they use.
    pub(crate) fn to_ebnf_of_all(&self, rules: &[SymbolId], start: Option<SymbolId>) -> String {
        display::ebnf(self, rules.iter().copied(), start.unwrap_or(SymbolId(u32::MAX)))
    }

    /// The grammar with one more text for each of these rules: the character, which no input has. What was there before is
    /// numbered as before in the alternatives of a rule.
    pub(crate) fn with_holes(&self, holes: &[(SymbolId, char)]) -> Result<Grammar, GrammarError> {
        let sources = Sources::of("grammar", self.source.clone());
        let mut document = match notation::read(&sources, None) {
            Ok(document) => document,
            Err(diagnostics) => return Err(GrammarError { sources, diagnostics }),
        };
        for (symbol, character) in holes {
            for rule in document.rules.iter_mut().filter(|rule| self.names.get(&rule.name) == Some(symbol)) {
                let mut alternatives = match std::mem::take(&mut rule.body) {
                    ast::Expr::Choice(alternatives) => alternatives,
                    one => vec![one],
                };
                alternatives.push(ast::Expr::Text(character.to_string()));
                rule.body = ast::Expr::Choice(alternatives);
            }
        }
        let start = self.label(self.start);
        Self::of(document, Some(&start)).map_err(|diagnostics| GrammarError { sources, diagnostics })
    }

    /// A rule and all that it uses, the nearest first, in W3C notation: a grammar of its own that starts at the rule.
    pub fn to_ebnf_of(&self, rule: SymbolId) -> String {
        let skipped = self.names.values().copied().filter(|id| self.symbol(*id).role.skip);
        let mut order = IndexSet::from([rule]);
        let mut at = 0;
        while let Some(id) = order.get_index(at).copied() {
            at += 1;
            order.extend(self.kind(id).parts());
            if at == order.len() {
                order.extend(skipped.clone());
            }
        }
        display::ebnf(self, order, rule)
    }

    /// The whole grammar as *The Fuzzing Book* and DDSet write theirs, in JSON, taken character by character.
    ///
    /// Read again it accepts at least the same texts. What JSON grammars have no way to say is left out: that tokens are as long
    /// as can be, priorities, bytes that are no text, and of sets of more than 256 characters all but ASCII and the first
    /// others. The key `[cut]` counts the sets that were cut so.
    pub fn to_fuzzingbook(&self) -> String {
        fuzzingbook::text(self)
    }
}
