//! Grammars as *The Fuzzing Book* writes them: JSON without sets, repetitions, tokens or anything to skip.

use super::charset::CharSet;
use super::code::{self, Code};
use super::{Grammar, Kind, SymbolId};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Of larger sets only ASCII and the first others are written, so many in all.
const MAX_SET: u64 = 256;

#[derive(serde::Serialize)]
struct Whole {
    #[serde(rename = "[start]")]
    start: String,
    #[serde(rename = "[cut]", skip_serializing_if = "is_zero")]
    cut: usize,
    #[serde(rename = "[grammar]")]
    rules: Rules,
}

type Rules = IndexMap<String, Vec<Vec<String>>>;

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn text(grammar: &Grammar) -> String {
    let mut writer = Writer { grammar, rules: Rules::new(), open: Vec::new(), cut: 0 };
    let start = writer.whole_input();
    while let Some((id, lexical)) = writer.open.pop() {
        writer.rule(id, lexical);
    }
    let whole = Whole { start, cut: writer.cut, rules: writer.rules };
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

struct Writer<'g> {
    grammar: &'g Grammar,
    rules: Rules,
    /// Symbols that are referred to, and whether they stand in a token, where nothing is skipped.
    open: Vec<(SymbolId, bool)>,
    cut: usize,
}

impl Writer<'_> {
    /// The rule that whole inputs are derived from: what is skipped may stand at the end, too.
    fn whole_input(&mut self) -> String {
        let start = self.grammar.start();
        let skips: Vec<SymbolId> = self.grammar.ids().filter(|id| self.grammar.symbol(*id).role.skip).collect();
        if skips.is_empty() {
            return self.reference(start, !self.grammar.is_lexical());
        }
        let mut alternatives = vec![Vec::new()];
        for skip in skips {
            let inner = self.reference(skip, true);
            alternatives.push(vec![inner, SKIP.to_owned()]);
        }
        self.rules.insert(SKIP.to_owned(), alternatives);
        let start = self.reference(start, false);
        self.rules.insert(INPUT.to_owned(), vec![vec![start, SKIP.to_owned()]]);
        INPUT.to_owned()
    }

    /// The name of the rule for a symbol, which is written later.
    fn reference(&mut self, id: SymbolId, lexical: bool) -> String {
        let name = self.name(id, lexical);
        if !self.rules.contains_key(&name) {
            self.rules.insert(name.clone(), Vec::new());
            self.open.push((id, lexical));
        }
        name
    }

    /// The rule's own name where it is what the grammar says; else one that tells what it is.
    fn name(&self, id: SymbolId, lexical: bool) -> String {
        let usual = lexical == (self.grammar.symbol(id).role.token || !self.grammar.is_lexical());
        match &self.grammar.symbol(id).name {
            Some(name) if usual => format!("<{}>", name.replace(' ', "_")),
            Some(name) => format!("<{}@{}>", name.replace(' ', "_"), if lexical { "inner" } else { "token" }),
            None => format!("<@{}{}>", id.0, if lexical { "" } else { "s" }),
        }
    }

    fn rule(&mut self, id: SymbolId, lexical: bool) {
        let name = self.name(id, lexical);
        let alternatives =
            if !lexical && self.grammar.is_leaf(id) { self.leaf(id) } else { self.alternatives(id, lexical) };
        self.rules.insert(name, alternatives);
    }

    /// A leaf after what may be skipped before it.
    fn leaf(&mut self, id: SymbolId) -> Vec<Vec<String>> {
        let lexicon = self.grammar.lexicon();
        let blank = (lexicon.has_skip() && !lexicon.is_immediate(id)).then(|| SKIP.to_owned());
        let inner = match self.grammar.kind(id) {
            Kind::Literal(bytes) => literal(bytes),
            _ => vec![self.reference(id, true)],
        };
        vec![blank.into_iter().chain(inner).collect()]
    }

    fn alternatives(&mut self, id: SymbolId, lexical: bool) -> Vec<Vec<String>> {
        match self.grammar.kind(id).clone() {
            Kind::Literal(bytes) => vec![literal(&bytes)],
            Kind::Set(set) => self.set(&set),
            Kind::Choice(alternatives) => {
                let sequence =
                    |parts: &Vec<SymbolId>| parts.iter().map(|part| self.reference(*part, lexical)).collect();
                alternatives.iter().map(sequence).collect()
            }
            Kind::Repeat { item, separator, min, max } => {
                let item = self.reference(item, lexical);
                let separator = separator.map(|separator| self.reference(separator, lexical));
                let name = self.name(id, lexical);
                self.repetition(&name, &item, separator.as_ref(), min, max)
            }
        }
    }

    /// The first items, then a rule for what may follow: any number, or so many at most, each count a rule of its own.
    fn repetition(
        &mut self,
        name: &str,
        item: &str,
        separator: Option<&String>,
        min: u32,
        max: Option<u32>,
    ) -> Vec<Vec<String>> {
        let next = || separator.cloned().into_iter().chain([item.to_owned()]);
        let base = name.trim_end_matches('>');
        let rest = match max {
            None => {
                let more = format!("{base}@more>");
                self.rules.insert(more.clone(), vec![Vec::new(), next().chain([more.clone()]).collect()]);
                Some(more)
            }
            Some(max) => {
                let mut rest: Option<String> = None;
                for left in 1..=max.saturating_sub(min.max(1)) {
                    let more = format!("{base}@{left}>");
                    self.rules.insert(more.clone(), vec![Vec::new(), next().chain(rest).collect()]);
                    rest = Some(more);
                }
                rest
            }
        };
        let mut all: Vec<String> = vec![item.to_owned()];
        (1..min).for_each(|_| all.extend(next()));
        all.extend(rest);
        if max == Some(0) {
            return vec![Vec::new()];
        }
        if min == 0 { vec![Vec::new(), all] } else { vec![all] }
    }

    fn set(&mut self, set: &CharSet) -> Vec<Vec<String>> {
        if set.len() > MAX_SET {
            self.cut += 1;
        }
        let ascii = CharSet::from_ranges([(0, 127)]);
        let codes: Vec<Code> = if set.len() <= MAX_SET {
            (0..set.len()).filter_map(|index| set.nth(index)).collect()
        } else {
            let (first, others) = (set.intersection(&ascii), set.difference(&ascii));
            let first = (0..first.len()).filter_map(|index| first.nth(index)).collect::<BTreeSet<_>>();
            let room = MAX_SET - first.len() as u64;
            first.into_iter().chain((0..room).filter_map(|index| others.nth(index))).collect()
        };
        codes.into_iter().filter_map(char::from_u32).map(|c| vec![c.to_string()]).collect()
    }
}

const SKIP: &str = "<@skip>";
const INPUT: &str = "<@input>";

/// A text as tokens. A `<` stands alone, so that no reader takes what follows for a name.
fn literal(bytes: &[u8]) -> Vec<String> {
    let text: String = code::decode(bytes).filter_map(|(_, code)| char::from_u32(code)).collect();
    text.split_inclusive('<')
        .flat_map(|part| match part.strip_suffix('<') {
            Some(before) => vec![before.to_owned(), "<".to_owned()],
            None => vec![part.to_owned()],
        })
        .filter(|part| !part.is_empty())
        .collect()
}
