//! From a grammar as written to the table of symbols.
//!
//! Every anonymous part becomes a symbol, equal parts the same one, so that a repetition of statements is one symbol
//! wherever it stands: what is learned of it in one place holds in all, and lists can be exchanged.
//! `x (s x)*` becomes one repetition with a separator, so that a member is dropped together with its separator.

use super::ast::{Annotation, Expr, Rule, Span};
use super::charset::CharSet;
use super::code;
use super::diagnostic::{Diagnostic, Label};
use super::regular::{self, Irregular};
use super::{Associativity, Kind, Mark, Operator, Role, Symbol, SymbolId};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// At most so many uses of an undefined name are shown.
const LABELS: usize = 4;

pub(super) struct Lowered {
    pub symbols: Vec<Symbol>,
    pub names: IndexMap<String, SymbolId>,
    /// None where there is no rule of that name, or no rule at all.
    pub start: Option<SymbolId>,
    /// What is wrong and what is likely not meant. In the place of what is wrong stands a text, which causes no further error.
    pub findings: Vec<Diagnostic>,
}

pub(super) fn lower(rules: &[Rule], start: Option<&str>) -> Lowered {
    let mut lowering = Lowering { rules, ..Lowering::default() };
    lowering.declare(rules);
    for (rule, id) in rules.iter().zip((0..).map(SymbolId)) {
        lowering.rule = Some(rule);
        let alternatives = lowering.alternatives(&rule.body);
        lowering.symbols[id.index()].operators = lowering.operators(id, &alternatives);
        lowering.symbols[id.index()].kind = Kind::Choice(alternatives.into_iter().map(|a| a.parts).collect());
    }
    let start = lowering.start(rules, start);
    let symbols = without_unused(lowering.symbols, rules.len());
    Lowered { symbols, names: lowering.names, start, findings: lowering.findings }
}

/// Without the anonymous symbols that no rule has come to use, such as the parts of what became a list. Rules keep their places.
fn without_unused(mut symbols: Vec<Symbol>, rules: usize) -> Vec<Symbol> {
    let mut used = vec![false; symbols.len()];
    let mut open: Vec<SymbolId> = (0..rules as u32).map(SymbolId).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut used[id.index()], true) {
            match &symbols[id.index()].kind {
                Kind::Choice(alternatives) => open.extend(alternatives.iter().flatten()),
                Kind::Repeat { item, separator, .. } => open.extend(separator.iter().chain([item])),
                Kind::Literal(_) | Kind::Set(_) => {}
            }
        }
    }
    let mut number = 0;
    let numbers: Vec<SymbolId> = used
        .iter()
        .map(|used| {
            number += u32::from(*used);
            SymbolId(number.saturating_sub(1))
        })
        .collect();
    let mut place = 0;
    symbols.retain(|_| {
        place += 1;
        used[place - 1]
    });
    for symbol in &mut symbols {
        let renumber = |id: &mut SymbolId| *id = numbers[id.index()];
        match &mut symbol.kind {
            Kind::Choice(alternatives) => alternatives.iter_mut().flatten().for_each(renumber),
            Kind::Repeat { item, separator, .. } => separator.iter_mut().chain([item]).for_each(renumber),
            Kind::Literal(_) | Kind::Set(_) => {}
        }
    }
    symbols
}

#[derive(Default)]
struct Lowering<'a> {
    rules: &'a [Rule],
    /// The rule at hand, unless what is lowered was worked out and stands in no rule.
    rule: Option<&'a Rule>,
    symbols: Vec<Symbol>,
    names: IndexMap<String, SymbolId>,
    /// Those without a name, and whether they are tokens.
    anonymous: FxHashMap<(Kind, bool), SymbolId>,
    lexical: bool,
    findings: Vec<Diagnostic>,
}

/// An alternative and what is said of it.
#[derive(Default)]
struct Alternative {
    parts: Vec<SymbolId>,
    said: Vec<Annotation>,
}

impl Alternative {
    /// Its place among the others: the preferred ones first, those to avoid last.
    fn rank(&self) -> u8 {
        let said = |word| self.said.iter().any(|annotation| annotation.word == word);
        if said("prefer") { 0 } else { 1 + u8::from(said("avoid")) }
    }
}

impl Lowering<'_> {
    /// Gives each rule its symbol, so that bodies can refer to rules that come later.
    fn declare(&mut self, rules: &[Rule]) {
        for (index, rule) in rules.iter().enumerate() {
            let id = SymbolId(self.symbols.len() as u32);
            let role = self.role(rule);
            let (name, kind) = (Some(rule.name.clone()), Kind::Choice(Vec::new()));
            self.symbols.push(Symbol { name, kind, role, operators: Vec::new() });
            self.lexical |= role.token;
            if let Some(first) = self.names.get(&rule.name).copied() {
                let message = format!("rule `{}` is defined twice", rule.name);
                let problem = Diagnostic::error("duplicate-rule", message, rule.span.clone(), "defined again here")
                    .with_label(rules[first.index()].span.clone(), "first defined here")
                    .with_help("join the two as alternatives, or rename one");
                self.findings.push(problem);
            } else {
                self.names.insert(rule.name.clone(), id);
            }
            debug_assert_eq!(index, id.index());
        }
    }

    fn role(&mut self, rule: &Rule) -> Role {
        let mut role = Role::default();
        for Annotation { word, span } in &rule.annotations {
            match word.as_str() {
                "start" => {}
                "token" => role.token = true,
                "identifier" => (role.token, role.identifier) = (true, true),
                "keyword" => (role.token, role.keyword) = (true, true),
                "skip" => (role.token, role.skip) = (true, true),
                "immediate" => (role.token, role.immediate) = (true, true),
                "newline" => (role.token, role.mark) = (true, Some(Mark::Newline)),
                "indent" => (role.token, role.mark) = (true, Some(Mark::Indent)),
                "dedent" => (role.token, role.mark) = (true, Some(Mark::Dedent)),
                _ => self.unknown_annotation(
                    word,
                    span,
                    "before a rule stand @start, @token, @identifier, @keyword, @skip, @immediate, @newline, @indent \
                     and @dedent",
                ),
            }
        }
        role
    }

    fn unknown_annotation(&mut self, word: &str, span: &Span, help: &str) {
        let message = format!("there is no annotation `@{word}` here");
        self.findings.push(Diagnostic::error("unknown-annotation", message, span.clone(), "").with_help(help));
    }

    fn start(&mut self, rules: &[Rule], wanted: Option<&str>) -> Option<SymbolId> {
        if let Some(name) = wanted {
            let found = self.names.get(name).copied();
            if found.is_none() {
                let names = self.names.keys().map(String::as_str);
                let problem =
                    Diagnostic::error("undefined-start", format!("there is no rule `{name}` to start at"), 0..0, "")
                        .with_help(suggestion(name, names).unwrap_or_else(|| "choose one of its rules".to_owned()));
                self.findings.push(problem);
            }
            return found;
        }
        let annotated = rules.iter().position(|rule| rule.annotations.iter().any(|said| said.word == "start"));
        if rules.is_empty() {
            self.findings.push(Diagnostic::error("empty-grammar", "there is no rule in it", 0..0, ""));
            return None;
        }
        Some(SymbolId(annotated.unwrap_or(0) as u32))
    }

    /// The alternatives that an expression stands for, each a sequence, in the order of preference.
    fn alternatives(&mut self, expr: &Expr) -> Vec<Alternative> {
        let choice = only_part(expr);
        match choice {
            Expr::Choice(parts) => {
                let mut alternatives: Vec<Alternative> = Vec::with_capacity(parts.len());
                for (place, part) in parts.iter().enumerate() {
                    let alternative = self.alternative(part);
                    if alternatives.iter().all(|other| other.parts != alternative.parts) {
                        alternatives.push(alternative);
                    } else {
                        self.duplicate(choice, place);
                    }
                }
                alternatives.sort_by_key(Alternative::rank);
                alternatives
            }
            only => {
                let alternative = self.alternative(only);
                match alternative.parts.as_slice() {
                    // A lone group, as in `a ::= (b | c) ""`, is no level of its own.
                    [single] if self.symbols[single.index()].name.is_none() => match self.kind(*single) {
                        Kind::Choice(inner) if !self.symbols[single.index()].role.token => inner
                            .iter()
                            .map(|parts| Alternative { parts: parts.clone(), ..Alternative::default() })
                            .collect(),
                        _ => vec![alternative],
                    },
                    _ => vec![alternative],
                }
            }
        }
    }

    /// An alternative that an earlier one is equal to is left out.
    fn duplicate(&mut self, choice: &Expr, place: usize) {
        let Some(rule) = self.rule else { return };
        let group = if std::ptr::eq(choice, only_part(&rule.body)) { "" } else { "a group in " };
        let (place, name) = (ordinal(place + 1), &rule.name);
        let message = format!("the {place} alternative of {group}rule `{name}` stands there already");
        let warning = Diagnostic::warning("duplicate-alternative", message, rule.span.clone(), "");
        self.findings.push(warning.with_help("remove one of the two"));
    }

    fn alternative(&mut self, expr: &Expr) -> Alternative {
        match expr {
            Expr::Annotated(said, inner) => {
                for Annotation { word, span } in said {
                    let word = word.split('(').next().unwrap_or(word);
                    if !["prefer", "avoid"].contains(&word) && associativity(word).is_none() {
                        let help = "before an alternative stand @prefer, @avoid, @left, @right and @nonassoc";
                        self.unknown_annotation(word, span, help);
                    }
                }
                Alternative { parts: self.sequence(inner), said: said.clone() }
            }
            _ => Alternative { parts: self.sequence(expr), ..Alternative::default() },
        }
    }

    /// What holds together how tightly, in a rule that says so of any alternative: of all that begin or end with the rule.
    fn operators(&mut self, rule: SymbolId, alternatives: &[Alternative]) -> Vec<Option<Operator>> {
        let said = |alternative: &Alternative| alternative.said.iter().find_map(|said| operator(&said.word));
        if alternatives.iter().all(|alternative| said(alternative).is_none()) {
            return Vec::new();
        }
        let own = |alternative: &&Alternative| {
            alternative.parts.len() > 1 && [alternative.parts.first(), alternative.parts.last()].contains(&Some(&rule))
        };
        let mut levels: Vec<u32> = Vec::new();
        let mut found = Vec::new();
        for (place, alternative) in alternatives.iter().enumerate() {
            let operator = said(alternative);
            if !own(&alternative) {
                if let (Some(_), Some(said)) = (operator, alternative.said.first()) {
                    let message = format!("`@{}` stands before what is no operator", said.word);
                    self.findings.push(
                        Diagnostic::error("not-an-operator", message, said.span.clone(), "").with_help(
                            "an operator's alternative begins or ends with its own rule, as `e ::= e \"+\" e`",
                        ),
                    );
                }
                found.push(None);
                continue;
            }
            let (associativity, level) = operator.unwrap_or((Associativity::Left, None));
            let level = level.unwrap_or((alternatives.len() - place) as u32);
            levels.push(level);
            found.push(Some(Operator { associativity, level }));
        }
        levels.sort_unstable();
        levels.dedup();
        let rank = |level: u32| levels.partition_point(|other| *other < level) as u32;
        found.into_iter().map(|found| found.map(|found| Operator { level: rank(found.level), ..found })).collect()
    }

    fn sequence(&mut self, expr: &Expr) -> Vec<SymbolId> {
        let symbols: Vec<SymbolId> = match expr {
            Expr::Text(text) | Expr::Caseless(text) if text.is_empty() => Vec::new(),
            Expr::Caseless(text) if !self.lexical => self.cased(text),
            Expr::Sequence(parts) => parts.iter().flat_map(|part| self.sequence(part)).collect(),
            Expr::Annotated(_, inner) | Expr::Lazy(inner) => self.sequence(inner),
            Expr::Choice(_) => {
                let mut alternatives = self.alternatives(expr);
                if alternatives.len() == 1 {
                    alternatives.remove(0).parts
                } else {
                    vec![self.intern(Kind::Choice(alternatives.into_iter().map(|a| a.parts).collect()))]
                }
            }
            Expr::Except(_, _, span) => self.except(expr, span),
            _ => self.symbol(expr).into_iter().collect(),
        };
        self.separated(symbols)
    }

    /// The letters of a text, each in both cases.
    fn cased(&mut self, text: &str) -> Vec<SymbolId> {
        let sets = text.chars().map(|c| CharSet::from_ranges(regular::cases(c).map(|code| (code, code))));
        sets.map(|set| self.intern(Kind::Set(set))).collect()
    }

    /// An exception, worked out. What it comes to refers to no rule.
    fn except(&mut self, expr: &Expr, span: &Span) -> Vec<SymbolId> {
        let rules = self.rules;
        let body = |name: &str| self.names.get(name).map(|id| &rules[id.index()].body);
        match regular::plain(expr, body) {
            Ok(plain) => {
                let rule = self.rule.take();
                let sequence = self.sequence(&plain);
                self.rule = rule;
                sequence
            }
            Err(Irregular::Undefined(name, span)) => vec![self.name(&name, &span)],
            Err(Irregular::Defect(problem)) => vec![self.defect(*problem)],
            Err(reason) => vec![self.defect(exception(&reason, span))],
        }
    }

    /// Reports what is wrong with a part, and gives what stands in its place.
    fn defect(&mut self, problem: Diagnostic) -> SymbolId {
        self.findings.push(problem);
        self.placeholder()
    }

    /// A text that may stand everywhere and is like no other. It is no word, so that it is no keyword either.
    fn placeholder(&mut self) -> SymbolId {
        let text = format!("?{}", self.symbols.len());
        self.intern(Kind::Literal(text.as_bytes().into()))
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
            Expr::Name(name, span) => Some(self.name(name, span)),
            Expr::Defect(problem) => Some(self.defect((**problem).clone())),
            Expr::Repeat { item, min, max } => {
                let item = self.sequence(item);
                if item.is_empty() || *max == Some(0) {
                    return None;
                }
                let item = self.group(item);
                Some(self.repeat(item, *min, *max))
            }
            Expr::Caseless(text) => Some(self.caseless(text)),
            Expr::Sequence(_) | Expr::Choice(_) | Expr::Annotated(..) | Expr::Lazy(_) | Expr::Except(..) => {
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

    fn name(&mut self, name: &str, span: &Span) -> SymbolId {
        if let Some(found) = self.names.get(name) {
            return *found;
        }
        let message = format!("rule `{name}` is used but never defined");
        if let Some(known) = self.findings.iter_mut().find(|known| known.message == message) {
            if known.labels.len() < LABELS {
                known.labels.push(Label { span: span.clone(), text: "used here, too".to_owned() });
            }
            return self.placeholder();
        }
        let help = suggestion(name, self.names.keys().map(String::as_str))
            .unwrap_or_else(|| format!("define it, or quote it if the text itself is meant: \"{name}\""));
        self.defect(Diagnostic::error("undefined-name", message, span.clone(), "no rule has this name").with_help(help))
    }

    /// In a lexical grammar a text in any case is a keyword of its own: one leaf.
    fn caseless(&mut self, text: &str) -> SymbolId {
        if text.chars().all(|c| regular::cases(c).all(|code| code == code::Code::from(c))) {
            return self.intern(Kind::Literal(text.as_bytes().into()));
        }
        let letters = self.cased(text);
        self.intern_as(Kind::Choice(vec![letters]), Role { token: true, keyword: true, ..Role::default() })
    }

    fn intern(&mut self, kind: Kind) -> SymbolId {
        self.intern_as(kind, Role::default())
    }

    fn intern_as(&mut self, kind: Kind, role: Role) -> SymbolId {
        if let Some(id) = self.anonymous.get(&(kind.clone(), role.token)) {
            return *id;
        }
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(Symbol { name: None, kind: kind.clone(), role, operators: Vec::new() });
        self.anonymous.insert((kind, role.token), id);
        id
    }

    fn kind(&self, id: SymbolId) -> &Kind {
        &self.symbols[id.index()].kind
    }
}

/// What an annotation such as `left` or `right(3)` says.
fn operator(said: &str) -> Option<(Associativity, Option<u32>)> {
    let (word, level) = said.split_once('(').map_or((said, None), |(word, level)| (word, Some(level)));
    Some((associativity(word)?, level.and_then(|level| level.trim_end_matches(')').trim().parse().ok())))
}

fn associativity(word: &str) -> Option<Associativity> {
    match word {
        "left" => Some(Associativity::Left),
        "right" => Some(Associativity::Right),
        "nonassoc" => Some(Associativity::None),
        _ => None,
    }
}

fn exception(reason: &Irregular, span: &Span) -> Diagnostic {
    let error = |code, message: &str| Diagnostic::error(code, message, span.clone(), "");
    match reason {
        Irregular::Recursive(name) => {
            error("exception-not-regular", &format!("`a - b` needs regular parts, and `{name}` refers to itself"))
                .with_help("write out what remains, for example `[^\"]*` for any text without a quote")
        }
        Irregular::TooLarge => error("exception-too-large", "what remains of this exception is too large")
            .with_help("use smaller counts and fewer words in it"),
        Irregular::Empty | Irregular::Undefined(..) | Irregular::Defect(_) => {
            error("empty-set", "nothing is left of this exception")
        }
    }
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
    let (found, length) = (distance(nearest), written.chars().count());
    // Of a name of one or two letters something must be left.
    let near = found <= (length / 3).max(1) && found < length.min(nearest.chars().count());
    near.then(|| format!("did you mean `{nearest}`?"))
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100 / 10) {
        (_, 1) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// The characters of a literal.
pub(super) fn codes(literal: &[u8]) -> Vec<code::Code> {
    code::decode(literal).map(|(_, code)| code).collect()
}
