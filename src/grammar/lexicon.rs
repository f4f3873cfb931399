//! Tokens, keywords, and what may be skipped: what can stand at a place of an input, and what would run together there.

use super::alphabet::{Alphabet, Text};
use super::ast::Rule;
use super::automaton::{Automaton, NotRegular};
use super::diagnostic::Diagnostic;
use super::{Kind, Role, Symbol, SymbolId, lower};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The lexical side of a grammar. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    alphabet: Alphabet,
    lexical: bool,
    leaves: FxHashMap<SymbolId, Leaf>,
    skip: Option<Automaton>,
    /// What tokens may not match: literals, and what keyword tokens match.
    keywords: FxHashSet<Vec<u16>>,
    keyword: Option<Automaton>,
    /// What is put between two leaves that would run together.
    separator: Vec<u8>,
    twice: Vec<u8>,
}

#[derive(Debug)]
enum Leaf {
    /// A literal, with the tokens that could match it as a whole: with any, it is a keyword.
    Literal { classes: Vec<u16>, covering: Vec<SymbolId> },
    /// A set, by class.
    Set(Vec<bool>),
    /// A token; of a keyword, with the tokens that have matches in common with it.
    /// One that may hold a blank is no word: it neither covers keywords nor are they kept from it.
    Token { automaton: Automaton, immediate: bool, keyword: bool, wordlike: bool, covering: Vec<SymbolId> },
}

impl Lexicon {
    pub(super) fn build(symbols: &[Symbol], start: SymbolId, rules: &[Rule]) -> Result<Self, Vec<Diagnostic>> {
        let alphabet = Alphabet::of(symbols);
        let mut problems = Vec::new();
        let mut inner = Inner {
            lexical: symbols.iter().any(|symbol| symbol.role.token),
            separator: b" ".to_vec(),
            ..Inner::default()
        };
        let syntactic = syntactic(symbols, start);
        // What stands within tokens only, as `"odd"i` may, is no leaf of its own.
        let leaf = |id: SymbolId, symbol: &Symbol| symbol.name.is_some() || syntactic.binary_search(&id).is_ok();
        for (id, symbol) in ids(symbols).filter(|(id, symbol)| symbol.role.token && leaf(*id, symbol)) {
            match Automaton::of(symbols, &alphabet, &[id]) {
                // Where nothing at all is a token, a tree could hold any number of them.
                Ok(automaton) if automaton.accepts(&[]) => problems.push(
                    Diagnostic::error(
                        "empty-token",
                        format!("`{}` can match nothing at all", name(symbol)),
                        rules[id.index()].span.clone(),
                        "it must have at least one character",
                    )
                    .with_help(if symbol.role.skip {
                        "use `+` instead of `*`".to_owned()
                    } else {
                        format!("use `+` instead of `*` here, and `{}?` where it may be missing", name(symbol))
                    }),
                ),
                Ok(automaton) => {
                    let Role { immediate, keyword, .. } = symbol.role;
                    let wordlike = !automaton.reads(alphabet.class(32));
                    let covering = Vec::new();
                    inner.leaves.insert(id, Leaf::Token { automaton, immediate, keyword, wordlike, covering });
                }
                Err(reason) => problems.push(not_regular(&reason, id, symbols, rules)),
            }
        }
        let skips: Vec<SymbolId> = ids(symbols).filter(|(_, symbol)| symbol.role.skip).map(|(id, _)| id).collect();
        if !skips.is_empty() && problems.is_empty() {
            inner.skip = Automaton::of(symbols, &alphabet, &skips).ok();
        }
        inner.find_keywords(symbols, &alphabet);
        for &id in &syntactic {
            match &symbols[id.index()].kind {
                Kind::Literal(bytes) => {
                    let classes: Vec<u16> = lower::codes(bytes).into_iter().map(|c| alphabet.class(c)).collect();
                    let covering =
                        if is_word(bytes) && inner.lexical { inner.covering(symbols, &classes) } else { Vec::new() };
                    if !covering.is_empty() {
                        inner.keywords.insert(classes.clone());
                    }
                    inner.leaves.insert(id, Leaf::Literal { classes, covering });
                }
                Kind::Set(set) => {
                    let mut members = vec![false; alphabet.len()];
                    alphabet.classes_of(set).for_each(|class| members[usize::from(class)] = true);
                    inner.leaves.insert(id, Leaf::Set(members));
                }
                Kind::Choice(_) | Kind::Repeat { .. } => {}
            }
        }
        if inner.lexical {
            problems.extend(sets_outside_tokens(symbols, &syntactic, rules));
        }
        if let Some(skip) = &inner.skip
            && !skip.accepts(&[alphabet.class(32)])
        {
            let order = in_order(&alphabet);
            let word = skip.words(&order, 1).pop().unwrap_or_default();
            inner.separator = alphabet_text(&alphabet, &word);
        }
        inner.twice = inner.separator.repeat(2);
        inner.alphabet = alphabet;
        if problems.is_empty() { Ok(Lexicon { inner: Arc::new(inner) }) } else { Err(problems) }
    }

    /// Whether the grammar declares tokens or something to skip.
    pub fn is_lexical(&self) -> bool {
        self.inner.lexical
    }

    /// An input in the grammar's alphabet.
    pub fn text(&self, bytes: &[u8]) -> Text {
        self.inner.alphabet.text(bytes)
    }

    /// The grammar's alphabet.
    pub fn alphabet(&self) -> &Alphabet {
        &self.inner.alphabet
    }

    /// Where the longest run of what may be skipped that begins at `from` ends; `from` itself if there is none.
    pub fn skip_end(&self, text: &Text, from: usize) -> usize {
        let mut at = from;
        while let Some(end) = self.inner.skip.as_ref().and_then(|skip| skip.longest(&text.classes, at)) {
            if end == at {
                break;
            }
            at = end;
        }
        at
    }

    /// Whether something may be skipped at all.
    pub fn has_skip(&self) -> bool {
        self.inner.skip.is_some()
    }

    /// Whether nothing may be skipped before this leaf.
    pub fn is_immediate(&self, leaf: SymbolId) -> bool {
        matches!(self.inner.leaves.get(&leaf), Some(Leaf::Token { immediate: true, .. }))
    }

    /// Whether the leaf is a keyword: a literal that some token could match as a whole, or a token annotated so.
    pub fn is_keyword(&self, leaf: SymbolId) -> bool {
        match self.inner.leaves.get(&leaf) {
            Some(Leaf::Literal { covering, .. }) => !covering.is_empty(),
            Some(Leaf::Token { keyword, .. }) => *keyword,
            _ => false,
        }
    }

    /// Whether `leaf` is a literal that is no keyword: of several such at one place, the longest counts.
    pub fn is_operator(&self, leaf: SymbolId) -> bool {
        self.inner.lexical
            && matches!(self.inner.leaves.get(&leaf), Some(Leaf::Literal { covering, .. }) if covering.is_empty())
    }

    /// Where the longest token, literal or skipped text that begins at `from` ends, keyword or not, and whether it is skipped:
    /// what a lexer would take that knows nothing of the grammar's rules.
    pub fn lexeme(&self, text: &Text, from: usize) -> Option<(usize, bool)> {
        let leaf_end = |leaf: &Leaf| match leaf {
            // Most differ in the first character already.
            Leaf::Literal { classes, .. } => (classes.first() == text.classes.get(from)
                && text.classes[from..].starts_with(classes))
            .then_some(from + classes.len()),
            Leaf::Set(_) => None,
            Leaf::Token { automaton, .. } => automaton.longest(&text.classes, from),
        };
        let end = self.inner.leaves.values().filter_map(leaf_end).max()?;
        let skip = self.inner.skip.as_ref().and_then(|skip| skip.longest(&text.classes, from));
        Some((end, skip == Some(end)))
    }

    /// Where a leaf that begins at `from` (after what was skipped) ends, if it can begin there.
    pub fn leaf_end(&self, leaf: SymbolId, text: &Text, from: usize) -> Option<usize> {
        match self.inner.leaves.get(&leaf)? {
            Leaf::Literal { classes, covering } => {
                let end = from + classes.len();
                (text.classes.get(from..end) == Some(classes) && self.is_whole(covering, text, from, end))
                    .then_some(end)
            }
            Leaf::Set(members) => {
                text.classes.get(from).filter(|class| members[usize::from(**class)]).map(|_| from + 1)
            }
            Leaf::Token { automaton, keyword: true, covering, .. } => {
                let end = automaton.longest(&text.classes, from)?;
                self.is_whole(covering, text, from, end).then_some(end)
            }
            Leaf::Token { automaton, wordlike, .. } => {
                let end = automaton.longest(&text.classes, from)?;
                (!wordlike || !self.inner.is_reserved(&text.classes[from..end])).then_some(end)
            }
        }
    }

    /// Whether a keyword that ends at `end` is no beginning of a longer match of the tokens that could match it.
    fn is_whole(&self, covering: &[SymbolId], text: &Text, from: usize, end: usize) -> bool {
        covering.iter().all(|token| self.token_end(*token, text, from).is_none_or(|to| to <= end))
    }

    /// The longest match of a token, keyword or not.
    fn token_end(&self, token: SymbolId, text: &Text, from: usize) -> Option<usize> {
        match self.inner.leaves.get(&token)? {
            Leaf::Token { automaton, .. } => automaton.longest(&text.classes, from),
            _ => None,
        }
    }

    /// Whether `bytes`, alone, are a match of the leaf.
    pub fn is_match(&self, leaf: SymbolId, bytes: &[u8]) -> bool {
        let text = self.text(bytes);
        self.leaf_end(leaf, &text, 0) == Some(text.len())
    }

    /// The shortest texts of a token that are no keywords, at most `most`, the best representative of each first.
    pub(super) fn shortest(&self, token: SymbolId, most: usize) -> Vec<Vec<u8>> {
        let order = in_order(&self.inner.alphabet);
        let Some(Leaf::Token { automaton, keyword, wordlike, .. }) = self.inner.leaves.get(&token) else {
            return Vec::new();
        };
        let kept = *keyword || !wordlike;
        let unreserved =
            self.inner.keyword.as_ref().filter(|_| !kept).and_then(|keyword| automaton.difference(keyword).ok());
        let words = unreserved.as_ref().unwrap_or(automaton).words(&order, most + self.inner.keywords.len());
        let free = words.into_iter().filter(|word| kept || !self.inner.keywords.contains(word));
        free.take(most).map(|word| alphabet_text(&self.inner.alphabet, &word)).collect()
    }

    /// The pairs of tokens, of these, that match the same texts in the same way.
    pub(super) fn same(&self, tokens: &[SymbolId]) -> Vec<(SymbolId, SymbolId)> {
        if self.inner.leaves.is_empty() {
            return Vec::new();
        }
        let order = in_order(&self.inner.alphabet);
        let mut known: FxHashMap<_, Vec<(SymbolId, &Automaton)>> = FxHashMap::default();
        let mut same = Vec::new();
        for id in tokens {
            let Some(Leaf::Token { automaton, immediate, keyword, .. }) = self.inner.leaves.get(id) else { continue };
            // A few texts tell most tokens apart; automata are compared only where they do not.
            let alike = known.entry((automaton.words(&order, 4), *immediate, *keyword)).or_default();
            let more = |one: &Automaton, other: &Automaton| {
                one.difference(other).is_ok_and(|rest| !rest.words(&order, 1).is_empty())
            };
            match alike.iter().find(|(_, other)| !more(automaton, other) && !more(other, automaton)) {
                Some((first, _)) => same.push((*first, *id)),
                None => alike.push((*id, automaton)),
            }
        }
        same
    }

    /// Whether two leaves, written without anything between them, would be read as something else: some token, literal or
    /// skipped text that begins where `left` begins would reach into `right`.
    pub fn run_together(&self, left: &[u8], right: &[u8]) -> bool {
        if self.inner.skip.is_none() || left.is_empty() || right.is_empty() {
            return false;
        }
        self.reach(&[left, right].concat()) > self.text(left).len()
    }

    /// Where the longest leaf or skipped text that begins the text ends.
    fn reach(&self, text: &[u8]) -> usize {
        let both = self.text(text);
        let skip = self.inner.skip.as_ref().and_then(|skip| skip.longest(&both.classes, 0));
        let leaf = |leaf: &Leaf| match leaf {
            Leaf::Literal { classes, .. } => both.classes.starts_with(classes).then_some(classes.len()),
            Leaf::Set(_) => None,
            Leaf::Token { automaton, .. } => automaton.longest(&both.classes, 0),
        };
        self.inner.leaves.values().filter_map(leaf).chain(skip).max().unwrap_or(0)
    }

    /// What to put after a leaf before another with which it would run together. Some leaves take in a blank (what ends at the
    /// line's end does): a line break goes there, if one may be skipped. Some take in one of anything (as escapes of CSS do):
    /// then there are two.
    pub fn separator_after(&self, left: &[u8]) -> &[u8] {
        let Inner { separator, twice, .. } = &*self.inner;
        if !self.run_together(left, separator) {
            return separator;
        }
        let line = self.inner.skip.as_ref().is_some_and(|skip| skip.accepts(&[self.inner.alphabet.class(10)]));
        let with = |more: &[u8]| [left, more].concat();
        match () {
            () if line && !self.run_together(left, b"\n") => b"\n",
            () if self.reach(&with(twice)) <= self.text(&with(separator)).len() => twice,
            () => separator,
        }
    }
}

impl Inner {
    /// Whether the text is a keyword, so that no other token matches it.
    fn is_reserved(&self, classes: &[u16]) -> bool {
        self.keywords.contains(classes) || self.keyword.as_ref().is_some_and(|keyword| keyword.accepts(classes))
    }

    /// What the tokens annotated as keywords match, and which other tokens could.
    fn find_keywords(&mut self, symbols: &[Symbol], alphabet: &Alphabet) {
        let plain = |(id, leaf): (&SymbolId, &Leaf)| match leaf {
            Leaf::Token { automaton, keyword: false, wordlike: true, .. } if !symbols[id.index()].role.skip => {
                Some((*id, automaton.clone()))
            }
            _ => None,
        };
        let mut others: Vec<(SymbolId, Automaton)> = self.leaves.iter().filter_map(plain).collect();
        others.sort_unstable_by_key(|(id, _)| *id);
        let mut keywords = Vec::new();
        for (id, leaf) in &mut self.leaves {
            if let Leaf::Token { automaton, keyword: true, covering, .. } = leaf {
                covering.extend(others.iter().filter(|(_, other)| automaton.meets(other)).map(|(id, _)| *id));
                keywords.push(*id);
            }
        }
        keywords.sort_unstable();
        if !keywords.is_empty() {
            self.keyword = Automaton::of(symbols, alphabet, &keywords).ok();
        }
    }

    fn covering(&self, symbols: &[Symbol], classes: &[u16]) -> Vec<SymbolId> {
        let token = |id: &SymbolId| match self.leaves.get(id) {
            Some(Leaf::Token { automaton, wordlike: true, .. }) => {
                !symbols[id.index()].role.skip && automaton.accepts(classes)
            }
            _ => false,
        };
        ids(symbols).map(|(id, _)| id).filter(token).collect()
    }
}

fn ids(symbols: &[Symbol]) -> impl Iterator<Item = (SymbolId, &Symbol)> {
    symbols.iter().enumerate().map(|(index, symbol)| (SymbolId(index as u32), symbol))
}

fn name(symbol: &Symbol) -> &str {
    symbol.name.as_deref().unwrap_or("")
}

fn is_word(bytes: &[u8]) -> bool {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    // A lone `_` is a name nearly everywhere, and something else besides.
    bytes.iter().all(word) && !bytes.first().is_some_and(u8::is_ascii_digit) && bytes != b"_"
}

/// The classes, digits' first, so that the first word found is the one that a person would write.
fn in_order(alphabet: &Alphabet) -> Vec<u16> {
    let representatives = alphabet.representatives();
    let mut order: Vec<u16> = (0..alphabet.len() as u16).collect();
    let rank = |code: u32| match code {
        48..58 => (0, code),
        97..123 => (1, code),
        33..127 => (2, code),
        32 => (3, code),
        _ => (4, code),
    };
    order.sort_by_key(|class| rank(representatives[usize::from(*class)]));
    order
}

fn alphabet_text(alphabet: &Alphabet, word: &[u16]) -> Vec<u8> {
    let representatives = alphabet.representatives();
    let mut bytes = Vec::new();
    word.iter().for_each(|class| super::code::encode(representatives[usize::from(*class)], &mut bytes));
    bytes
}

/// What is reachable from the start without looking into tokens.
fn syntactic(symbols: &[Symbol], start: SymbolId) -> Vec<SymbolId> {
    let mut seen = vec![false; symbols.len()];
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.index()], true) || symbols[id.index()].role.token {
            continue;
        }
        match &symbols[id.index()].kind {
            Kind::Choice(alternatives) => open.extend(alternatives.iter().flatten()),
            Kind::Repeat { item, separator, .. } => open.extend(separator.iter().chain([item])),
            Kind::Literal(_) | Kind::Set(_) => {}
        }
    }
    ids(symbols).map(|(id, _)| id).filter(|id| seen[id.index()]).collect()
}

/// In a lexical grammar, white space could stand between the characters of what is no token.
fn sets_outside_tokens(symbols: &[Symbol], syntactic: &[SymbolId], rules: &[Rule]) -> Vec<Diagnostic> {
    let own = |part: &&SymbolId| symbols[part.index()].name.is_none() && !symbols[part.index()].role.token;
    let holds_set = |id: &SymbolId| {
        let mut open = vec![*id];
        let mut seen = FxHashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &symbols[id.index()].kind {
                Kind::Set(_) => return true,
                Kind::Literal(_) => {}
                Kind::Choice(alternatives) => {
                    open.extend(alternatives.iter().flatten().filter(|part| own(part)));
                }
                Kind::Repeat { item, separator, .. } => {
                    open.extend(separator.iter().chain([item]).filter(|part| own(part)));
                }
            }
        }
        false
    };
    let rules_at_fault = syntactic.iter().filter(|id| {
        let symbol = &symbols[id.index()];
        symbol.name.is_some() && !symbol.role.token && holds_set(id)
    });
    rules_at_fault
        .map(|id| {
            let name = name(&symbols[id.index()]);
            let message = format!("rule `{name}` is made of single characters, but is no token");
            Diagnostic::error("set-outside-token", message, rules[id.index()].span.clone(), "no @token here").with_help(
                format!(
                    "in a grammar with @token or @skip, white space could stand between its characters; write \
                     `/*@ token */` before `{name}`, or before the rule that `{name}` is a part of"
                ),
            )
        })
        .collect()
}

fn not_regular(reason: &NotRegular, id: SymbolId, symbols: &[Symbol], rules: &[Rule]) -> Diagnostic {
    let token = name(&symbols[id.index()]);
    let span = rules[id.index()].span.clone();
    match reason {
        NotRegular::Recursive(inner) => {
            let through = symbols[inner.index()].name.as_deref().unwrap_or(token);
            let message = format!("token `{token}` is recursive, through `{through}`");
            Diagnostic::error("token-not-regular", message, span, "a token must be regular").with_help(
                "use `*` and `+` in place of recursion, or remove the annotation and write out where white space may stand",
            )
        }
        NotRegular::TooLarge => {
            let message = format!("token `{token}` needs too large an automaton");
            Diagnostic::error("token-too-large", message, span, "").with_help("use smaller counts in its repetitions")
        }
    }
}
