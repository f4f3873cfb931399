//! From a grammar as written to the table of symbols.
//!
//! Every anonymous part becomes a symbol, equal parts the same one, so that a repetition of statements is one symbol
//! wherever it stands: what is learned of it in one place holds in all, and lists can be exchanged.
//! `x (s x)*` becomes one repetition with a separator, so that a member is dropped together with its separator.

use super::ast::{Expr, Rule};
use super::charset::CharSet;
use super::code;
use super::diagnostic::Diagnostic;
use super::{Kind, Mark, Role, Symbol, SymbolId};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

pub(super) struct Lowered {
    pub symbols: Vec<Symbol>,
    pub names: IndexMap<String, SymbolId>,
    pub start: SymbolId,
    pub warnings: Vec<Diagnostic>,
}

pub(super) fn lower(rules: &[Rule], start: Option<&str>) -> Result<Lowered, Vec<Diagnostic>> {
    let mut lowering = Lowering { rules, ..Lowering::default() };
    lowering.declare(rules);
    for (rule, id) in rules.iter().zip((0..).map(SymbolId)) {
        let alternatives = lowering.alternatives(&rule.body);
        lowering.symbols[id.index()].kind = Kind::Choice(alternatives);
    }
    let start = lowering.start(rules, start);
    match start {
        Some(start) if lowering.problems.is_empty() => {
            let warnings = lowering.unreachable(rules, start);
            Ok(Lowered { symbols: lowering.symbols, names: lowering.names, start, warnings })
        }
        _ => Err(lowering.problems),
    }
}

#[derive(Default)]
struct Lowering<'a> {
    rules: &'a [Rule],
    symbols: Vec<Symbol>,
    names: IndexMap<String, SymbolId>,
    anonymous: FxHashMap<Kind, SymbolId>,
    problems: Vec<Diagnostic>,
}

impl Lowering<'_> {
    /// Gives each rule its symbol, so that bodies can refer to rules that come later.
    fn declare(&mut self, rules: &[Rule]) {
        for (index, rule) in rules.iter().enumerate() {
            let id = SymbolId(self.symbols.len() as u32);
            let role = self.role(rule);
            self.symbols.push(Symbol { name: Some(rule.name.clone()), kind: Kind::Choice(Vec::new()), role });
            if let Some(first) = self.names.get(&rule.name).copied() {
                let message = format!("rule `{}` is defined twice", rule.name);
                let problem = Diagnostic::error("duplicate-rule", message, rule.span.clone(), "defined again here")
                    .with_label(rules[first.index()].span.clone(), "first defined here")
                    .with_help("join the two as alternatives, or rename one");
                self.problems.push(problem);
            } else {
                self.names.insert(rule.name.clone(), id);
            }
            debug_assert_eq!(index, id.index());
        }
    }

    fn role(&mut self, rule: &Rule) -> Role {
        let mut role = Role::default();
        for (word, span) in &rule.annotations {
            match word.as_str() {
                "start" => {}
                "token" => role.token = true,
                "identifier" => (role.token, role.identifier) = (true, true),
                "skip" => (role.token, role.skip) = (true, true),
                "immediate" => (role.token, role.immediate) = (true, true),
                "newline" => (role.token, role.mark) = (true, Some(Mark::Newline)),
                "indent" => (role.token, role.mark) = (true, Some(Mark::Indent)),
                "dedent" => (role.token, role.mark) = (true, Some(Mark::Dedent)),
                _ => self.problems.push(
                    Diagnostic::error(
                        "unknown-annotation",
                        format!("there is no annotation `@{word}`"),
                        span.clone(),
                        "",
                    )
                    .with_help("the annotations are @start, @token, @identifier, @skip, @immediate, @newline, @indent and @dedent"),
                ),
            }
        }
        role
    }

    fn start(&mut self, rules: &[Rule], wanted: Option<&str>) -> Option<SymbolId> {
        if let Some(name) = wanted {
            let found = self.names.get(name).copied();
            if found.is_none() {
                let names = self.names.keys().map(String::as_str);
                let problem =
                    Diagnostic::error("undefined-start", format!("there is no rule `{name}` to start at"), 0..0, "")
                        .with_help(suggestion(name, names).unwrap_or_else(|| "choose one of its rules".to_owned()));
                self.problems.push(problem);
            }
            return found;
        }
        let annotated = rules.iter().position(|rule| rule.annotations.iter().any(|(word, _)| word == "start"));
        if rules.is_empty() {
            self.problems.push(Diagnostic::error("empty-grammar", "there is no rule in it", 0..0, ""));
            return None;
        }
        Some(SymbolId(annotated.unwrap_or(0) as u32))
    }

    /// The alternatives that an expression stands for, each a sequence.
    fn alternatives(&mut self, expr: &Expr) -> Vec<Vec<SymbolId>> {
        match only_part(expr) {
            Expr::Choice(parts) => {
                let mut alternatives: Vec<Vec<SymbolId>> = Vec::with_capacity(parts.len());
                for part in parts {
                    let sequence = self.sequence(part);
                    if !alternatives.contains(&sequence) {
                        alternatives.push(sequence);
                    }
                }
                alternatives
            }
            _ => {
                let sequence = self.sequence(expr);
                match sequence.as_slice() {
                    // A lone group, as in `a ::= (b | c) ""`, is no level of its own.
                    [single] if self.symbols[single.index()].name.is_none() => match self.kind(*single) {
                        Kind::Choice(alternatives) => alternatives.clone(),
                        _ => vec![sequence],
                    },
                    _ => vec![sequence],
                }
            }
        }
    }

    fn sequence(&mut self, expr: &Expr) -> Vec<SymbolId> {
        let symbols: Vec<SymbolId> = match expr {
            Expr::Text(text) if text.is_empty() => Vec::new(),
            Expr::Sequence(parts) => parts.iter().flat_map(|part| self.sequence(part)).collect(),
            Expr::Choice(_) => {
                let mut alternatives = self.alternatives(expr);
                if alternatives.len() == 1 {
                    alternatives.remove(0)
                } else {
                    vec![self.intern(Kind::Choice(alternatives))]
                }
            }
            _ => self.symbol(expr).into_iter().collect(),
        };
        self.separated(symbols)
    }

    /// Joins `x (s x)*` to one repetition with a separator.
    fn separated(&mut self, symbols: Vec<SymbolId>) -> Vec<SymbolId> {
        let mut joined: Vec<SymbolId> = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            match (joined.last().copied(), self.tail(symbol)) {
                (Some(first), Some((separator, item, min, max))) if first == item => {
                    let separator = self.group(separator);
                    let kind =
                        Kind::Repeat { item, separator: Some(separator), min: min + 1, max: max.map(|max| max + 1) };
                    joined.pop();
                    joined.push(self.intern(kind));
                }
                _ => joined.push(symbol),
            }
        }
        joined
    }

    /// For `(s x)*`: s, x, and the counts.
    fn tail(&self, symbol: SymbolId) -> Option<(Vec<SymbolId>, SymbolId, u32, Option<u32>)> {
        let Kind::Repeat { item, separator: None, min, max } = self.kind(symbol) else { return None };
        if *max == Some(1) || self.symbols[item.index()].name.is_some() {
            return None;
        }
        match self.kind(*item) {
            Kind::Choice(alternatives) => match alternatives.as_slice() {
                [sequence] if sequence.len() >= 2 => {
                    let (last, separator) = sequence.split_last()?;
                    Some((separator.to_vec(), *last, *min, *max))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The symbol for an expression, if it stands for anything but nothing or an error.
    fn symbol(&mut self, expr: &Expr) -> Option<SymbolId> {
        match expr {
            Expr::Text(text) => Some(self.intern(Kind::Literal(text.as_bytes().into()))),
            Expr::Set(set) => Some(self.intern(Kind::Set(set.clone()))),
            Expr::Name(name, span) => self.name(name, span),
            Expr::Repeat { item, min, max } => {
                let item = self.sequence(item);
                if item.is_empty() || *max == Some(0) {
                    return None;
                }
                let item = self.group(item);
                Some(self.repeat(item, *min, *max))
            }
            Expr::Except(..) => match self.set(expr, &mut Vec::new()) {
                Ok(set) => Some(self.intern(Kind::Set(set))),
                Err(problem) => {
                    self.problems.push(problem);
                    None
                }
            },
            Expr::Sequence(_) | Expr::Choice(_) => {
                let sequence = self.sequence(expr);
                (!sequence.is_empty()).then(|| self.group(sequence))
            }
        }
    }

    /// `(a*)?`, `(a+)?`, `(a+)*` and the like are `a*`; nested, they would be ambiguous without end.
    fn repeat(&mut self, item: SymbolId, min: u32, max: Option<u32>) -> SymbolId {
        if let Kind::Repeat { item: inner, separator, min: inner_min, max: inner_max } = self.kind(item).clone() {
            if self.symbols[item.index()].name.is_none() && inner_min <= 1 && inner_max != Some(1) && max == Some(1) {
                let min = min.min(inner_min);
                return self.intern(Kind::Repeat { item: inner, separator, min, max: inner_max });
            }
            if separator.is_none() && inner_min <= 1 && min <= 1 && (max.is_none() || max == Some(1)) {
                let bound = if max == Some(1) { inner_max } else { None };
                let kind = Kind::Repeat { item: inner, separator, min: min.min(inner_min), max: bound };
                return self.intern(kind);
            }
        }
        if (min, max) == (1, Some(1)) {
            return item;
        }
        self.intern(Kind::Repeat { item, separator: None, min, max })
    }

    /// One symbol for a sequence.
    fn group(&mut self, sequence: Vec<SymbolId>) -> SymbolId {
        match sequence.as_slice() {
            [single] => *single,
            _ => self.intern(Kind::Choice(vec![sequence])),
        }
    }

    fn name(&mut self, name: &str, span: &std::ops::Range<usize>) -> Option<SymbolId> {
        let found = self.names.get(name).copied();
        if found.is_none() {
            let mut problem = Diagnostic::error(
                "undefined-name",
                format!("rule `{name}` is used but never defined"),
                span.clone(),
                "no rule has this name",
            );
            problem.help = suggestion(name, self.names.keys().map(String::as_str))
                .or_else(|| Some(format!("define it, or quote it if the text itself is meant: \"{name}\"")));
            self.problems.push(problem);
        }
        found
    }

    fn intern(&mut self, kind: Kind) -> SymbolId {
        if let Some(id) = self.anonymous.get(&kind) {
            return *id;
        }
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(Symbol { name: None, kind: kind.clone(), role: Role::default() });
        self.anonymous.insert(kind, id);
        id
    }

    fn kind(&self, id: SymbolId) -> &Kind {
        &self.symbols[id.index()].kind
    }

    /// The characters that an operand of `a - b` stands for. A rule stands for its body; `open` are those that are being
    /// looked at.
    fn set(&self, expr: &Expr, open: &mut Vec<SymbolId>) -> Result<CharSet, Diagnostic> {
        let no_set = || relabel(Diagnostic::error("exception-not-a-set", "", 0..0, ""), &(0..0));
        match only_part(expr) {
            Expr::Set(set) => Ok(set.clone()),
            Expr::Text(text) if text.chars().count() == 1 => {
                Ok(text.chars().next().map(|c| CharSet::single(c.into())).unwrap_or_default())
            }
            Expr::Choice(parts) => {
                parts.iter().try_fold(CharSet::default(), |all, part| Ok(all.union(&self.set(part, open)?)))
            }
            Expr::Name(name, _) => {
                let id = self.names.get(name).copied().filter(|id| !open.contains(id)).ok_or_else(no_set)?;
                open.push(id);
                let set = self.set(&self.rules[id.index()].body, open)?;
                open.pop();
                Ok(set)
            }
            Expr::Except(included, excluded, span) => {
                let included = self.set(included, open).map_err(|problem| relabel(problem, span))?;
                let excluded = self.set(excluded, open).map_err(|problem| relabel(problem, span))?;
                let set = included.difference(&excluded);
                if set.is_empty() {
                    return Err(Diagnostic::error("empty-set", "nothing is left of this set", span.clone(), ""));
                }
                Ok(set)
            }
            _ => Err(no_set()),
        }
    }

    fn unreachable(&self, rules: &[Rule], start: SymbolId) -> Vec<Diagnostic> {
        let mut seen = vec![false; self.symbols.len()];
        let mut open: Vec<SymbolId> = vec![start];
        open.extend((0..rules.len() as u32).map(SymbolId).filter(|id| self.symbols[id.index()].role.skip));
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            match self.kind(id) {
                Kind::Choice(alternatives) => open.extend(alternatives.iter().flatten()),
                Kind::Repeat { item, separator, .. } => open.extend(separator.iter().chain([item])),
                Kind::Literal(_) | Kind::Set(_) => {}
            }
        }
        let unseen = rules.iter().zip(&seen).filter(|(_, seen)| !**seen);
        unseen
            .map(|(rule, _)| {
                let message = format!("rule `{}` is not reachable from the start", rule.name);
                Diagnostic::warning("unreachable-rule", message, rule.span.clone(), "")
            })
            .collect()
    }
}

fn relabel(mut problem: Diagnostic, span: &std::ops::Range<usize>) -> Diagnostic {
    if problem.code == "exception-not-a-set" {
        problem.message = "`a - b` is supported for sets of single characters only".to_owned();
        problem.labels[0].span = span.clone();
        problem.help = Some("write out what remains, for example `[^\"]*` for any text without a quote".to_owned());
    }
    problem
}

/// What an expression comes down to, if all else in it is nothing: `(a | b) ""` is `a | b`.
fn only_part(mut expr: &Expr) -> &Expr {
    while let Expr::Sequence(parts) = expr {
        let mut solid = parts.iter().filter(|part| !matches!(part, Expr::Text(text) if text.is_empty()));
        match (solid.next(), solid.next()) {
            (Some(only), None) => expr = only,
            _ => break,
        }
    }
    expr
}

/// The defined name that is most like the one written, if any is alike.
fn suggestion<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |name: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &written.to_lowercase());
    let nearest = names.min_by_key(|name| distance(name))?;
    let near = distance(nearest) <= (written.chars().count() / 3).max(1);
    near.then(|| format!("did you mean `{nearest}`?"))
}

/// The characters of a literal.
pub(super) fn codes(literal: &[u8]) -> Vec<code::Code> {
    code::decode(literal).map(|(_, code)| code).collect()
}
