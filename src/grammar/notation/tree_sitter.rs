//! `grammar.json` of tree-sitter ("Creating parsers" in its manual).
//!
//! What a scanner in C finds is not in the file: line breaks, indentation and semicolons that may be missing have stand-ins.

use super::losses::{Loss, Losses};
use super::{regex, tidy};
use crate::grammar::ast::{Annotation, Document, Expr, Rule, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::diagnostic::Diagnostic;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

const EXTERNAL: Loss = Loss {
    code: "external-token",
    one: "token is found by a scanner that is not in the file: a line break is taken as one, \
          indentation and semicolons as nothing, any other never matches",
    many: "tokens are found by a scanner that is not in the file: line breaks are taken as such, \
           indentation and semicolons as nothing, all others never match",
    help: "write rules for them in the grammar that `ddset grammar show` prints",
};

const PRECEDENCE: Loss = Loss {
    code: "dropped-precedence",
    one: "precedence was dropped: it is not that of an operator",
    many: "precedences were dropped: they are not those of operators",
    help: "of several readings the first alternative, then the longest part is taken",
};

const EXTRA: Loss = Loss {
    code: "dropped-extra",
    one: "extra is recursive, and is not skipped",
    many: "extras are recursive, and are not skipped",
    help: "only what is regular can be skipped between tokens",
};

#[derive(serde::Deserialize)]
struct Whole {
    rules: IndexMap<String, Value>,
    #[serde(default)]
    word: Option<String>,
    #[serde(default)]
    extras: Vec<Value>,
    #[serde(default)]
    externals: Vec<Value>,
    #[serde(default)]
    precedences: Vec<Vec<Value>>,
}

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let whole: Whole = serde_json::from_str(source).map_err(|error| vec![super::json_error(source, &error)])?;
    let mut reader = Reader {
        source,
        levels: levels(&whole.precedences),
        whole: &whole,
        tokens: Vec::new(),
        place: 0..0,
        losses: Losses::default(),
    };
    reader.read().map_err(|problem| vec![problem])
}

/// A number for each named precedence: those before others in any list are higher.
fn levels(lists: &[Vec<Value>]) -> FxHashMap<String, i64> {
    let name =
        |entry: &Value| entry.get("value").or_else(|| entry.get("name")).and_then(Value::as_str).map(str::to_owned);
    let lists: Vec<Vec<String>> = lists.iter().map(|list| list.iter().filter_map(name).collect()).collect();
    let mut levels: FxHashMap<String, i64> = lists.iter().flatten().map(|name| (name.clone(), 1)).collect();
    // As many rounds as there are names settle everything, unless the lists contradict each other.
    for _ in 0..levels.len() {
        for pair in lists.iter().flat_map(|list| list.windows(2)) {
            let lower = levels.get(&pair[1]).copied().unwrap_or(1);
            if let Some(higher) = levels.get_mut(&pair[0]) {
                *higher = (*higher).max(lower + 1);
            }
        }
    }
    levels
}

/// How tightly an alternative holds together.
#[derive(Clone, Copy)]
struct Precedence {
    word: &'static str,
    level: i64,
}

struct Reader<'a> {
    source: &'a str,
    whole: &'a Whole,
    levels: FxHashMap<String, i64>,
    /// Tokens without a name: what they are, whether immediate, and the name given.
    tokens: Vec<(Expr, bool, String)>,
    /// Where the rule stands that is read.
    place: Span,
    losses: Losses,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<Document, Diagnostic> {
        let whole = self.whole;
        let inlined = self.inlined();
        let mut rules = Vec::new();
        let mut from = self.source.find("\"rules\"").unwrap_or(0);
        for (name, node) in &whole.rules {
            if super::writable(name) != *name {
                let message = format!("`{}` cannot be the name of a rule", name.escape_default());
                return Err(
                    Diagnostic::error("malformed-json-grammar", message, 0..0, "").with_help("a name is a word")
                );
            }
            let written = serde_json::to_string(name).unwrap_or_default();
            let found = self.source[from..].match_indices(&written).map(|(at, _)| from + at).take(1000);
            let key = |at: &usize| self.source[at + written.len()..].trim_start().starts_with(':');
            self.place = found.into_iter().find(key).map_or(0..0, |at| at..at + written.len());
            from = self.place.end.max(from);
            rules.push(self.rule(name, node, &inlined)?);
        }
        let tokens = std::mem::take(&mut self.tokens);
        rules.extend(tokens.into_iter().map(|(body, immediate, name)| {
            let word = if immediate { "immediate" } else { "token" };
            Rule { name, body, annotations: vec![Annotation::new(word, 0..0)], ..Rule::default() }
        }));
        self.externals(&mut rules);
        self.extras(&mut rules)?;
        line_breaks_are_not_skipped(&mut rules);
        tidy::tokens_are_not_empty(&mut rules);
        if !rules.iter().any(|rule| Some(&rule.name) == whole.rules.keys().next()) {
            return Err(Diagnostic::error(
                "external-token",
                "nothing is left of this grammar without its scanner",
                0..0,
                "",
            )
            .with_help("its tokens are found by a program that is not in the file"));
        }
        drop_what_was_inlined(&mut rules, &inlined);
        Ok(Document { rules, warnings: std::mem::take(&mut self.losses).warnings() })
    }

    fn rule(&mut self, name: &str, node: &Value, inlined: &FxHashMap<String, Vec<String>>) -> Result<Rule, Diagnostic> {
        let mut rule = Rule { name: name.to_owned(), span: self.place.clone(), ..Rule::default() };
        let inner = self.looked_through(node);
        let word = match kind(inner) {
            "IMMEDIATE_TOKEN" => Some("immediate"),
            "TOKEN" | "PATTERN" => Some("token"),
            _ => None,
        };
        let word = if word.is_some() && self.whole.word.as_deref() == Some(name) { Some("identifier") } else { word };
        rule.body = match word {
            Some(word) => {
                rule.annotations.push(Annotation::new(word, self.place.clone()));
                self.token(inner)?
            }
            None => self.syntactic(name, node, inlined)?,
        };
        // A text alone is what it is everywhere, token or not.
        if let (Expr::Text(_), Some("token")) = (&rule.body, word) {
            rule.annotations.clear();
        }
        Ok(rule)
    }

    /// Fields, aliases and precedences say nothing of what matches.
    fn looked_through<'v>(&self, mut node: &'v Value) -> &'v Value {
        while let "FIELD" | "ALIAS" | "PREC" | "PREC_LEFT" | "PREC_RIGHT" | "PREC_DYNAMIC" | "RESERVED" = kind(node) {
            let Some(content) = node.get("content") else { break };
            node = content;
        }
        node
    }

    /// For each rule, the rules whose alternatives become its own: those with operators on it.
    fn inlined(&self) -> FxHashMap<String, Vec<String>> {
        let mut inlined: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for (name, node) in &self.whole.rules {
            for (_, alternative) in self.alternatives(node) {
                let Some(other) = symbol(self.looked_through(alternative)).filter(|other| *other != name) else {
                    continue;
                };
                let Some(body) = self.whole.rules.get(other) else { continue };
                let operators = self.alternatives(body);
                if operators.iter().any(|(precedence, node)| precedence.is_some() && self.is_operator(name, node)) {
                    inlined.entry(name.clone()).or_default().push(other.to_owned());
                }
            }
        }
        inlined
    }

    /// The alternatives of a rule with the precedence that each has.
    fn alternatives<'v>(&self, node: &'v Value) -> Vec<(Option<Precedence>, &'v Value)> {
        let mut found = Vec::new();
        let mut open = vec![(None, node)];
        while let Some((precedence, node)) = open.pop() {
            match (kind(node), node.get("content")) {
                ("CHOICE", _) => open.extend(members(node).iter().rev().map(|member| (precedence, member))),
                ("PREC" | "PREC_LEFT" | "PREC_RIGHT", Some(content)) => open.push((self.precedence(node), content)),
                ("FIELD" | "ALIAS" | "PREC_DYNAMIC" | "RESERVED", Some(content)) => open.push((precedence, content)),
                _ => found.push((precedence, node)),
            }
        }
        found
    }

    fn precedence(&self, node: &Value) -> Option<Precedence> {
        let level = match node.get("value")? {
            Value::String(name) => self.levels.get(name).copied().unwrap_or(0),
            value => value.as_i64().unwrap_or(0),
        };
        Some(Precedence { word: if kind(node) == "PREC_RIGHT" { "right" } else { "left" }, level })
    }

    /// Whether a sequence begins or ends with the rule.
    fn is_operator(&self, rule: &str, node: &Value) -> bool {
        let parts = members(node);
        // `x ("," x)*` is a list, which has no operator.
        let list = parts.get(1).is_some_and(|part| kind(self.looked_through(part)).starts_with("REPEAT"));
        let own = |part: Option<&Value>| part.is_some_and(|part| symbol(self.looked_through(part)) == Some(rule));
        kind(node) == "SEQ" && parts.len() > 1 && !list && (own(parts.first()) || own(parts.last()))
    }

    fn syntactic(
        &mut self,
        name: &str,
        node: &Value,
        inlined: &FxHashMap<String, Vec<String>>,
    ) -> Result<Expr, Diagnostic> {
        // Its operators' precedence is kept where its alternatives go.
        let goes = inlined.values().flatten().any(|inlined| inlined == name);
        let inlined = inlined.get(name).map_or(&[][..], Vec::as_slice);
        let mut alternatives = Vec::new();
        for (precedence, node) in self.alternatives(node) {
            let other = symbol(node).filter(|other| inlined.iter().any(|name| name == other));
            match other.and_then(|other| self.whole.rules.get(other)) {
                Some(body) => alternatives.extend(self.alternatives(body)),
                None => alternatives.push((precedence, node)),
            }
        }
        let is_operator: Vec<bool> = alternatives.iter().map(|(_, node)| self.is_operator(name, node)).collect();
        let ranked = alternatives.iter().zip(&is_operator).any(|((precedence, _), own)| precedence.is_some() && *own);
        let level = |precedence: &Option<Precedence>| precedence.map_or(0, |precedence| precedence.level);
        let lowest = alternatives.iter().map(|(precedence, _)| level(precedence)).min().unwrap_or(0).min(0);
        let mut exprs = Vec::new();
        for ((precedence, node), own) in alternatives.iter().zip(is_operator) {
            let expr = self.expr(node)?;
            if own && ranked {
                let word = precedence.map_or("left", |precedence| precedence.word);
                let said = format!("{word}({})", level(precedence).saturating_sub(lowest));
                exprs.push(Expr::Annotated(vec![Annotation::new(said, self.place.clone())], Box::new(expr)));
            } else {
                if precedence.is_some() && !goes {
                    self.losses.note(&PRECEDENCE, self.place.clone());
                }
                exprs.push(expr);
            }
        }
        Ok(match exprs.as_slice() {
            [Expr::Annotated(..)] => Expr::Choice(exprs),
            _ => Expr::choice(exprs),
        })
    }

    /// The recursion follows the JSON, which is read to a fixed depth only.
    fn expr(&mut self, node: &Value) -> Result<Expr, Diagnostic> {
        let node = {
            let inner = self.looked_through(node);
            if kind(node).starts_with("PREC") {
                self.losses.note(&PRECEDENCE, self.place.clone());
            }
            inner
        };
        match kind(node) {
            "SYMBOL" => Ok(Expr::Name(symbol(node).unwrap_or_default().to_owned(), self.place.clone())),
            "PATTERN" => {
                let body = self.token(node)?;
                Ok(self.named(body, false))
            }
            "TOKEN" => {
                let body = self.token(node)?;
                Ok(if let Expr::Text(_) = body { body } else { self.named(body, false) })
            }
            "IMMEDIATE_TOKEN" => {
                let body = self.token(node)?;
                Ok(self.named(body, true))
            }
            // Blanks are skipped, so one that is meant must be a token before which nothing is.
            "STRING" if text_of(node).starts_with(['\n', '\r']) => {
                Ok(self.named(Expr::Text(text_of(node).to_owned()), false))
            }
            _ => self.composed(node, Self::expr),
        }
    }

    /// What stands in a token.
    fn token(&mut self, node: &Value) -> Result<Expr, Diagnostic> {
        let node = self.looked_through(node);
        match kind(node) {
            "SYMBOL" => Ok(Expr::Name(symbol(node).unwrap_or_default().to_owned(), self.place.clone())),
            "PATTERN" => {
                let text = |key| node.get(key).and_then(Value::as_str).unwrap_or("");
                let flags = regex::Flags::default().with(text("flags"));
                let mut body = regex::read(text("value"), flags, &self.place, &mut self.losses)?;
                tidy::spell_out_cases(&mut body);
                Ok(body)
            }
            "TOKEN" | "IMMEDIATE_TOKEN" => {
                node.get("content").map_or(Ok(Expr::nothing()), |content| self.token(content))
            }
            _ => self.composed(node, Self::token),
        }
    }

    fn composed(
        &mut self,
        node: &Value,
        part: fn(&mut Self, &Value) -> Result<Expr, Diagnostic>,
    ) -> Result<Expr, Diagnostic> {
        let content =
            |reader: &mut Self| node.get("content").map_or(Ok(Expr::nothing()), |content| part(reader, content));
        Ok(match kind(node) {
            "STRING" => Expr::Text(text_of(node).to_owned()),
            "SEQ" => Expr::sequence(members(node).iter().map(|member| part(self, member)).collect::<Result<_, _>>()?),
            "CHOICE" => Expr::choice(members(node).iter().map(|member| part(self, member)).collect::<Result<_, _>>()?),
            "REPEAT" => Expr::repeat(content(self)?, 0, None),
            "REPEAT1" => Expr::repeat(content(self)?, 1, None),
            "BLANK" => Expr::nothing(),
            other => {
                let message = format!("there is no kind of node `{other}`");
                return Err(Diagnostic::error("malformed-json-grammar", message, self.place.clone(), "in this rule"));
            }
        })
    }

    /// A token gets a name; equal ones the same.
    fn named(&mut self, body: Expr, immediate: bool) -> Expr {
        let known = self.tokens.iter().find(|(other, is_immediate, _)| *other == body && *is_immediate == immediate);
        let name = known.map(|(_, _, name)| name.clone()).unwrap_or_else(|| {
            let mut number = self.tokens.len() + 1;
            while self.whole.rules.contains_key(&format!("_token_{number}")) {
                number += 1000;
            }
            let name = format!("_token_{number}");
            self.tokens.push((body, immediate, name.clone()));
            name
        });
        Expr::Name(name, self.place.clone())
    }

    /// What may stand between any two tokens.
    fn extras(&mut self, rules: &mut Vec<Rule>) -> Result<(), Diagnostic> {
        self.place = 0..0;
        for (number, extra) in self.whole.extras.iter().enumerate() {
            let extra = self.looked_through(extra);
            let Some(name) = symbol(extra) else {
                let body = self.token(extra)?;
                let annotations = vec![Annotation::new("skip", 0..0)];
                rules.push(Rule { name: format!("_extra_{}", number + 1), body, annotations, ..Rule::default() });
                continue;
            };
            let regular = is_regular(name, rules);
            let Some(rule) = rules.iter_mut().find(|rule| rule.name == name) else { continue };
            if regular {
                if rule.annotations.is_empty() {
                    blanks_between(&mut rule.body);
                }
                rule.annotations = vec![Annotation::new("skip", rule.span.clone())];
                tidy::spell_out_cases(&mut rule.body);
            } else {
                self.losses.note(&EXTRA, rule.span.clone());
            }
        }
        Ok(())
    }

    fn externals(&mut self, rules: &mut Vec<Rule>) {
        let mut never = Vec::new();
        for external in &self.whole.externals {
            let Some(name) = symbol(external) else { continue };
            if rules.iter().any(|rule| rule.name == name) {
                continue;
            }
            self.losses.note(&EXTERNAL, 0..0);
            let says = |words: &[&str]| words.iter().any(|word| name.to_ascii_lowercase().contains(word));
            if says(&["newline", "line_break", "line_ending"]) {
                let blank = Expr::Set(CharSet::from_ranges([(9, 9), (32, 32)]));
                let end = Expr::Sequence(vec![
                    Expr::repeat(blank, 0, None),
                    Expr::repeat(Expr::Text("\r".to_owned()), 0, Some(1)),
                    Expr::Text("\n".to_owned()),
                ]);
                let annotations = vec![Annotation::new("immediate", 0..0)];
                rules.push(Rule { name: name.to_owned(), body: end, annotations, ..Rule::default() });
            } else if says(&["indent", "dedent", "semicolon"]) {
                rules.push(Rule { name: name.to_owned(), ..Rule::default() });
            } else {
                never.push(name.to_owned());
            }
        }
        tidy::without(rules, never);
    }
}

/// Within an extra of several tokens, too, blanks are skipped, though not where it goes on with a line break.
fn blanks_between(body: &mut Expr) {
    let blank = Expr::repeat(Expr::Set(CharSet::from_ranges([(9, 9), (32, 32)])), 0, None);
    tidy::each(body, |expr| {
        if let Expr::Sequence(parts) = expr {
            let between = |part| [blank.clone(), part];
            *parts = std::mem::take(parts).into_iter().flat_map(between).skip(1).collect();
        }
    });
}

fn kind(node: &Value) -> &str {
    node.get("type").and_then(Value::as_str).unwrap_or("")
}

fn text_of(node: &Value) -> &str {
    node.get("value").and_then(Value::as_str).unwrap_or("")
}

/// Tokens that begin with a line break come before what is skipped, which would take it in: the blanks and comments before it
/// belong to the token.
fn line_breaks_are_not_skipped(rules: &mut [Rule]) {
    let says = |rule: &Rule, word: &str| rule.annotations.iter().any(|said| said.word == word);
    let breaks: FxHashSet<String> =
        rules.iter().filter(|rule| begins_with_line_break(&rule.body)).map(|rule| rule.name.clone()).collect();
    let skipped = rules.iter().filter(|rule| says(rule, "skip") && !rule.name.starts_with("_extra_"));
    // What ends with a line break itself has none left for the token.
    let comments =
        skipped.filter(|rule| !leads_to(rule, rules, &breaks)).map(|rule| Expr::Name(rule.name.clone(), 0..0));
    let blank = Expr::Set(CharSet::from_ranges([(9, 9), (11, 12), (32, 32)]));
    let before = Expr::repeat(Expr::choice([blank].into_iter().chain(comments).collect()), 0, None);
    for rule in rules
        .iter_mut()
        .filter(|rule| (says(rule, "token") || says(rule, "immediate")) && begins_with_line_break(&rule.body))
    {
        let body = std::mem::take(&mut rule.body);
        rule.body = Expr::Sequence(vec![before.clone(), body]);
        rule.annotations = vec![Annotation::new("immediate", rule.span.clone())];
    }
}

fn leads_to(rule: &Rule, rules: &[Rule], goals: &FxHashSet<String>) -> bool {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut open = vec![rule];
    while let Some(rule) = open.pop() {
        let mut names = FxHashSet::default();
        tidy::names(&rule.body, &mut names);
        if names.iter().any(|name| goals.contains(name)) {
            return true;
        }
        open.extend(rules.iter().filter(|rule| names.contains(&rule.name) && seen.insert(rule.name.clone())));
    }
    false
}

fn begins_with_line_break(expr: &Expr) -> bool {
    match expr {
        Expr::Text(text) => text.starts_with(['\n', '\r']),
        Expr::Set(set) => set.len() < 10 && (0..set.len()).all(|index| matches!(set.nth(index), Some(10 | 13))),
        Expr::Sequence(parts) => {
            for part in parts {
                match part {
                    Expr::Repeat { item, min: 0, .. } if begins_with_line_break(item) => {}
                    part => return begins_with_line_break(part),
                }
            }
            false
        }
        Expr::Choice(parts) => parts.iter().all(begins_with_line_break),
        Expr::Repeat { item, min, .. } => *min > 0 && begins_with_line_break(item),
        _ => false,
    }
}

fn members(node: &Value) -> &[Value] {
    node.get("members").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn symbol(node: &Value) -> Option<&str> {
    (kind(node) == "SYMBOL").then(|| node.get("name").and_then(Value::as_str)).flatten()
}

/// Whether a rule refers to nothing that leads back to it or to any other rule that is recursive.
fn is_regular(name: &str, rules: &[Rule]) -> bool {
    let bodies: FxHashMap<&str, &Expr> = rules.iter().map(|rule| (rule.name.as_str(), &rule.body)).collect();
    // Depth first: a name that is met while it is open is recursive.
    let mut open: Vec<(String, bool)> = vec![(name.to_owned(), false)];
    let mut path: FxHashSet<String> = FxHashSet::default();
    let mut done: FxHashSet<String> = FxHashSet::default();
    while let Some((name, leaving)) = open.pop() {
        if leaving {
            path.remove(&name);
            done.insert(name);
            continue;
        }
        if done.contains(&name) {
            continue;
        }
        if !path.insert(name.clone()) {
            return false;
        }
        let Some(body) = bodies.get(name.as_str()) else { return false };
        let mut names = FxHashSet::default();
        tidy::names(body, &mut names);
        open.push((name, true));
        for name in names {
            if path.contains(&name) {
                return false;
            }
            open.push((name, false));
        }
    }
    true
}

/// Rules that only stood where their alternatives now are.
fn drop_what_was_inlined(rules: &mut Vec<Rule>, inlined: &FxHashMap<String, Vec<String>>) {
    let candidates: FxHashSet<&String> = inlined.values().flatten().collect();
    let mut used: FxHashSet<String> = FxHashSet::default();
    for rule in rules.iter() {
        let mut names = FxHashSet::default();
        tidy::names(&rule.body, &mut names);
        names.remove(&rule.name);
        used.extend(names);
    }
    let first = rules.first().map(|rule| rule.name.clone());
    rules.retain(|rule| {
        !candidates.contains(&rule.name) || used.contains(&rule.name) || first.as_ref() == Some(&rule.name)
    });
}
