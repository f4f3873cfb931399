//! Lexer rules as tokens.
//!
//! ANTLR's lexer takes the longest match, and of equal ones that of the earlier rule. So a rule that is one word, such as
//! `IF : 'if';`, stands in parser rules as that word, which is a keyword where a later rule matches it as well.

use super::super::tidy;
use super::losses::{Loss, Losses};
use super::syntax::{Alternative, Atom, Element, RuleText};
use super::words::Word;
use crate::grammar::ast::{Annotation, Expr, Rule, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::diagnostic::Diagnostic;
use crate::grammar::regular;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// How often a recursive rule goes through itself at most.
const MAX_LEVELS: u32 = 3;

/// The tokens of a grammar, as parser rules may use them.
#[derive(Default)]
pub(super) struct Tokens {
    /// How a reference to each token is written in a parser rule.
    pub(super) forms: IndexMap<String, Expr>,
    /// Rules for tokens and their parts.
    pub rules: Vec<Rule>,
    /// Tokens without a rule.
    declared: IndexSet<String>,
    /// For the text of a word, the word and its form.
    pub(super) by_text: FxHashMap<String, (Word, Expr)>,
}

impl Tokens {
    /// A reference to a token, if there is one of that name.
    pub(super) fn reference(&self, name: &str) -> Option<Expr> {
        self.forms.get(name).cloned()
    }

    /// Whether it is declared, but has no rule.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// The token that a text in a parser rule is.
    pub(super) fn of_text(&self, text: &str, caseless: bool) -> Expr {
        let exact = self.by_text.get(text).filter(|(word, _)| word.caseless || !caseless);
        let found = exact.or_else(|| self.by_text.get(&text.to_lowercase()).filter(|(word, _)| word.caseless));
        let plain = || Word { text: text.to_owned(), caseless }.expr();
        found.map_or_else(plain, |(_, form)| form.clone())
    }

    /// All tokens that may stand in parser rules.
    pub(super) fn all(&self) -> impl Iterator<Item = &Expr> {
        self.forms.values()
    }
}

/// What a rule's commands say.
#[derive(Debug, Default)]
pub(super) struct Commands {
    pub skip: bool,
    pub more: bool,
    token: Option<String>,
    mode: Option<String>,
}

impl Commands {
    fn of(rule: &RuleText) -> Self {
        // Alternatives without any leave the token as it is.
        let skip = !rule.body.is_empty() && rule.body.iter().all(skips);
        let mut commands = Commands { skip, ..Commands::default() };
        for (command, argument) in rule.body.iter().flat_map(|alternative| &alternative.commands) {
            match command.as_str() {
                "more" => commands.more = true,
                "type" => commands.token.clone_from(argument),
                "mode" | "pushMode" => commands.mode.clone_from(argument),
                _ => {}
            }
        }
        if commands.mode.as_deref() == Some("DEFAULT_MODE") {
            commands.mode = Some(String::new());
        }
        commands
    }
}

fn skips(alternative: &Alternative) -> bool {
    let visible = |channel: &str| ["0", "DEFAULT_TOKEN_CHANNEL", "DEFAULT"].contains(&channel);
    alternative.commands.iter().any(|(command, argument)| match command.as_str() {
        "skip" => true,
        "channel" => !argument.as_deref().is_some_and(visible),
        _ => false,
    })
}

pub(super) struct Lexer<'a> {
    pub(super) rules: &'a [RuleText],
    commands: Vec<Commands>,
    pub(super) by_name: IndexMap<&'a str, &'a RuleText>,
    /// For each rule that refers to itself, the rules that it does so through.
    recursive: FxHashMap<&'a str, FxHashSet<&'a str>>,
    pub(super) words: FxHashMap<&'a str, Vec<Word>>,
    pub(super) bodies: IndexMap<String, Expr>,
    /// The rules that can match nothing at all.
    nullable: FxHashSet<String>,
    pub(super) steps: Cell<u32>,
    problems: Vec<Diagnostic>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Scope<'s> {
    rule: &'s RuleText,
    /// How often the rule may still go through itself.
    level: u32,
}

/// The tokens that lexer rules come to.
pub(super) fn tokens(
    rules: &[RuleText],
    texts: &[&str],
    declared: &[(String, Span)],
    losses: &mut Losses,
) -> Result<Tokens, Vec<Diagnostic>> {
    let by_name = rules.iter().map(|rule| (rule.name.as_str(), rule)).collect();
    let commands = rules.iter().map(Commands::of).collect();
    let mut lexer = Lexer {
        rules,
        commands,
        by_name,
        recursive: FxHashMap::default(),
        words: FxHashMap::default(),
        bodies: IndexMap::new(),
        nullable: FxHashSet::default(),
        steps: Cell::new(0),
        problems: Vec::new(),
    };
    lexer.find_recursion(losses);
    lexer.find_words();
    lexer.convert();
    lexer.find_nullable();
    if !lexer.problems.is_empty() {
        return Err(lexer.problems);
    }
    Ok(lexer.tokens(texts, declared, losses))
}

impl<'a> Lexer<'a> {
    fn find_recursion(&mut self, losses: &mut Losses) {
        let used: FxHashMap<&str, Vec<&'a str>> = self
            .by_name
            .iter()
            .map(|(name, rule)| {
                let mut names = Vec::new();
                references(&rule.body, &mut names);
                names.retain(|name| self.by_name.contains_key(name));
                (*name, names)
            })
            .collect();
        let reached = |from: &str| {
            let mut seen: FxHashSet<&'a str> = FxHashSet::default();
            let mut open: Vec<&'a str> = used.get(from).cloned().unwrap_or_default();
            while let Some(name) = open.pop() {
                if seen.insert(name) {
                    open.extend(used.get(name).into_iter().flatten());
                }
            }
            seen
        };
        let reached: FxHashMap<&'a str, FxHashSet<&'a str>> =
            self.by_name.keys().map(|name| (*name, reached(name))).collect();
        for (name, rule) in &self.by_name {
            if reached[name].contains(name) {
                let mates = reached[name].iter().copied().filter(|other| reached[other].contains(name));
                self.recursive.insert(name, mates.collect());
                losses.note(Loss::Recursion, rule.span.clone());
            }
        }
    }

    /// How deep a recursive rule is unfolded: each level multiplies the automaton by the number of references.
    fn depth(&self, rule: &RuleText) -> u32 {
        let Some(mates) = self.recursive.get(rule.name.as_str()) else { return 0 };
        let mut names = Vec::new();
        mates.iter().filter_map(|name| self.by_name.get(name)).for_each(|rule| references(&rule.body, &mut names));
        match names.iter().filter(|name| mates.contains(*name)).count() {
            0..=1 => MAX_LEVELS,
            2..=3 => 2,
            _ => 1,
        }
    }

    /// Gives each rule an expression; recursive ones one for each level, the innermost first.
    fn convert(&mut self) {
        let depths: Vec<u32> = self.rules.iter().map(|rule| self.depth(rule)).collect();
        for level in 0..=depths.iter().copied().max().unwrap_or(0) {
            for (rule, depth) in self.rules.iter().zip(&depths).filter(|(_, depth)| level <= **depth) {
                if let Some(body) = self.choice(&rule.body, Scope { rule, level }) {
                    self.bodies
                        .insert(if level == *depth { rule.name.clone() } else { inner(&rule.name, level) }, body);
                }
            }
        }
    }

    /// `None` for what can match nothing, not even the empty text.
    fn choice(&mut self, body: &[Alternative], scope: Scope) -> Option<Expr> {
        let alternatives: Vec<Expr> =
            body.iter().filter_map(|alternative| self.sequence(&alternative.elements, scope)).collect();
        (!alternatives.is_empty()).then(|| Expr::choice(alternatives))
    }

    fn sequence(&mut self, elements: &[Element], scope: Scope) -> Option<Expr> {
        let parts = elements.iter().map(|element| self.element(element, scope)).collect::<Option<Vec<Expr>>>()?;
        Some(Expr::sequence(parts))
    }

    fn element(&mut self, element: &Element, scope: Scope) -> Option<Expr> {
        let Element { atom, min, max, lazy, .. } = element;
        let Some(item) = self.atom(atom, element, scope) else { return (*min == 0).then(Expr::nothing) };
        if (*min, *max) == (1, Some(1)) {
            return Some(item);
        }
        let repeat = Expr::repeat(item, *min, *max);
        Some(if *lazy { Expr::Lazy(Box::new(repeat)) } else { repeat })
    }

    fn atom(&mut self, atom: &Atom, element: &Element, scope: Scope) -> Option<Expr> {
        match atom {
            Atom::Text(text) if scope.rule.caseless => Some(cased(text)),
            Atom::Text(text) => Some(Expr::Text(text.clone())),
            Atom::Name(name) => self.name(name, element, scope),
            Atom::Block(body) => self.choice(body, scope),
            Atom::End => Some(Expr::Lazy(Box::default())),
            Atom::Any => Some(Expr::any()),
            Atom::Set(_) | Atom::Not(_) => {
                let set = self.set(atom, scope.rule, 0);
                if set.is_none() {
                    let message = "in a lexer rule `~` stands before a set of characters only";
                    let problem = Diagnostic::error("negated-text", message, element.span.clone(), "")
                        .with_help("write the characters that may not follow, as in `~[\\r\\n]`");
                    self.problems.push(problem);
                }
                set.filter(|set| !set.is_empty()).map(Expr::Set)
            }
        }
    }

    fn name(&mut self, name: &str, element: &Element, scope: Scope) -> Option<Expr> {
        if let Some([word]) = self.words.get(name).map(Vec::as_slice) {
            return Some(if word.caseless { cased(&word.text) } else { Expr::Text(word.text.clone()) });
        }
        let mates = self.recursive.get(scope.rule.name.as_str());
        match mates.is_some_and(|mates| mates.contains(name)) {
            true => {
                let inner = inner(name, scope.level.checked_sub(1)?);
                self.bodies.contains_key(&inner).then(|| Expr::Name(inner, element.span.clone()))
            }
            false => Some(Expr::Name(name.to_owned(), element.span.clone())),
        }
    }

    /// The rules that are no fragments.
    pub(super) fn visible(&self) -> impl Iterator<Item = (&'a RuleText, &Commands)> {
        self.rules.iter().zip(&self.commands).filter(|(rule, _)| !rule.fragment)
    }

    fn tokens(mut self, texts: &[&str], declared: &[(String, Span)], losses: &mut Losses) -> Tokens {
        let modes: IndexSet<&str> = self.rules.iter().map(|rule| rule.mode.as_str()).collect();
        for mode in modes.iter().filter(|mode| !mode.is_empty()) {
            let first = self.rules.iter().find(|rule| rule.mode == **mode);
            losses.note(Loss::Mode, first.map_or(0..0, |rule| rule.span.clone()));
        }
        let mut sources: IndexMap<String, Vec<&'a RuleText>> = IndexMap::new();
        for (rule, commands) in self.visible().filter(|(_, commands)| !commands.more) {
            let token = commands.token.clone().unwrap_or_else(|| rule.name.clone());
            sources.entry(token).or_default().push(rule);
        }
        self.set_apart(&sources);
        let mut tokens = Tokens::default();
        let shadows = self.shadows(losses);
        for (name, rules) in &sources {
            self.token(name, rules, &shadows, &mut tokens, losses);
        }
        let of_modes = self.restrict_skips(texts, &mut tokens, losses);
        self.skip_before(&of_modes, &sources, &mut tokens);
        for (name, _) in declared {
            if !tokens.forms.contains_key(name) {
                tokens.declared.insert(name.clone());
            }
        }
        let emitted: FxHashSet<String> = tokens.rules.iter().map(|rule| rule.name.clone()).collect();
        for (name, body) in std::mem::take(&mut self.bodies) {
            if !emitted.contains(&name) {
                let span = self.by_name.get(name.as_str()).map_or(0..0, |rule| rule.span.clone());
                tokens.rules.push(Rule { name, span, annotations: Vec::new(), body });
            }
        }
        tokens
    }

    /// In a lexer rule a name is that rule's, also where `-> type(NAME)` lets others make the token of that name.
    fn set_apart(&mut self, sources: &IndexMap<String, Vec<&'a RuleText>>) {
        for token in
            sources.iter().filter(|(token, rules)| rules.iter().any(|rule| rule.name != **token)).map(|(t, _)| t)
        {
            let Some(own) = self.bodies.get(token).cloned() else { continue };
            let mut alone = format!("{token}_alone");
            while self.by_name.contains_key(alone.as_str()) {
                alone.push('_');
            }
            self.bodies.insert(alone.clone(), own);
            if self.nullable.contains(token) {
                self.nullable.insert(alone.clone());
            }
            for body in self.bodies.values_mut() {
                tidy::each(body, |expr| {
                    if let Expr::Name(name, _) = expr
                        && *name == *token
                    {
                        name.clone_from(&alone);
                    }
                });
            }
        }
    }

    /// One token, made by one or more lexer rules.
    fn token(
        &mut self,
        name: &str,
        rules: &[&'a RuleText],
        shadows: &FxHashMap<String, Shadow>,
        tokens: &mut Tokens,
        losses: &mut Losses,
    ) {
        let Some(first) = rules.first() else { return };
        let span = first.span.clone();
        let skip = self.visible().any(|(rule, commands)| rule.name == first.name && commands.skip);
        let reference = Expr::Name(name.to_owned(), span.clone());
        let mut annotations = vec![Annotation::new(if skip { "skip" } else { "token" }, span.clone())];
        let bodies: Vec<Expr> = rules.iter().filter_map(|rule| self.prefixed(rule, name)).collect();
        if bodies.is_empty() {
            tokens.declared.insert(name.to_owned());
            return;
        }
        // Several rules may make one token of the same word, each in its own mode.
        let same = |rule: &&RuleText| self.words.get(rule.name.as_str()) == self.words.get(first.name.as_str());
        let alone = |rule: &&RuleText| self.before(rule) == (Vec::new(), Vec::new());
        let words = self.words.get(first.name.as_str()).filter(|_| rules.iter().all(|rule| same(rule) && alone(rule)));
        if let Some(words) = words.filter(|_| !skip) {
            let shadow = words.iter().find_map(|word| shadows.get(&word.text));
            let all_plain = words.iter().all(Word::is_plain);
            let form = match words.as_slice() {
                [word] if shadow.is_none() && word.is_plain() => word.expr(),
                _ => reference.clone(),
            };
            if let [word] = words.as_slice() {
                tokens.by_text.entry(word.text.clone()).or_insert_with(|| (word.clone(), form.clone()));
            }
            match shadow {
                None if words.len() > 1 && all_plain => {
                    annotations.clear();
                    let body = Expr::choice(words.iter().map(Word::expr).collect());
                    tokens.rules.push(Rule { name: name.to_owned(), span, annotations, body });
                    tokens.forms.insert(name.to_owned(), form);
                    return;
                }
                None if words.len() == 1 && all_plain => {
                    tokens.forms.insert(name.to_owned(), form);
                    return;
                }
                None => annotations = vec![Annotation::new("keyword", span.clone())],
                Some(_) => {}
            }
        } else if is_identifier(name) && !skip {
            annotations = vec![Annotation::new("identifier", span.clone())];
        }
        let body = self.finished(name, Expr::choice(bodies), &span, losses);
        tokens.rules.push(Rule { name: name.to_owned(), span, annotations, body });
        tokens.forms.insert(name.to_owned(), reference);
        if skip {
            tokens.forms.shift_remove(name);
        }
    }

    /// A token's expression with lazy repetitions worked out, and without the empty text. A recursive rule that becomes too
    /// large is unfolded less deep.
    fn finished(&self, name: &str, body: Expr, span: &Span, losses: &mut Losses) -> Expr {
        let rule = |name: &str| self.bodies.get(name);
        let mut body = body;
        if self.any(&body, |expr| matches!(expr, Expr::Lazy(_))) {
            let shallower = (0..MAX_LEVELS).rev().filter_map(|level| self.bodies.get(&inner(name, level)));
            let mut scanned = std::iter::once(&body).chain(shallower).map(|body| regular::scanned(body, rule));
            match scanned.find(|scanned| !matches!(scanned, Err(regular::Irregular::TooLarge))) {
                Some(Ok(scanned)) => body = scanned,
                // An undefined name: reported where the rules are put together.
                Some(Err(_)) => {}
                None => losses.note(Loss::Greedy, span.clone()),
            }
        }
        if self.is_nullable(&body) {
            losses.note(Loss::EmptyToken, span.clone());
            return Expr::Except(Box::new(body), Box::default(), span.clone());
        }
        body
    }

    /// The rules with `-> more` after which the lexer is in the rule's mode: those of other modes, and of the same.
    pub(super) fn before(&self, rule: &RuleText) -> (Vec<&'a RuleText>, Vec<&'a RuleText>) {
        let more = self.visible().filter(|(_, commands)| commands.more);
        let leads = more.filter(|(other, commands)| *commands.mode.as_ref().unwrap_or(&other.mode) == rule.mode);
        leads.map(|(other, _)| other).partition(|other| other.mode != rule.mode)
    }

    /// What a rule matches, after what rules with `-> more` have matched before it.
    fn prefixed(&self, rule: &'a RuleText, token: &str) -> Option<Expr> {
        let own = self.bodies.get(&rule.name)?.clone();
        let own = if rule.name == token { own } else { Expr::Name(rule.name.clone(), rule.span.clone()) };
        let (entries, inside) = self.before(rule);
        if entries.is_empty() && inside.is_empty() {
            return Some(own);
        }
        let one_of = |rules: Vec<&RuleText>| {
            Expr::choice(rules.iter().map(|rule| Expr::Name(rule.name.clone(), rule.span.clone())).collect())
        };
        let mut parts = Vec::new();
        if !entries.is_empty() {
            parts.push(one_of(entries));
        }
        if !inside.is_empty() {
            parts.push(Expr::Lazy(Box::new(Expr::repeat(one_of(inside), 0, None))));
        }
        parts.push(own);
        Some(Expr::Sequence(parts))
    }

    /// Words that are no keywords, though other rules match them.
    fn shadows(&self, losses: &mut Losses) -> FxHashMap<String, Shadow> {
        let mut words: Vec<(usize, &str, &RuleText)> = Vec::new();
        for (place, rule) in self.rules.iter().enumerate().filter(|(_, rule)| !rule.fragment) {
            let own = self.words.get(rule.name.as_str()).into_iter().flatten();
            words.extend(own.map(|word| (place, word.text.as_str(), rule)));
        }
        let texts: Vec<&str> = words.iter().map(|(_, text, _)| *text).collect();
        let mut shadows = FxHashMap::default();
        let mut never: IndexMap<&str, Span> = IndexMap::new();
        for (place, rule) in self.rules.iter().enumerate().filter(|(_, rule)| !rule.fragment) {
            let commands = &self.commands[place];
            if self.words.contains_key(rule.name.as_str()) || commands.more || commands.skip {
                continue;
            }
            let Some(body) = self.bodies.get(&rule.name).filter(|_| !texts.is_empty()) else { continue };
            let Ok(derived) = regular::derives(body, &texts, |name| self.bodies.get(name)) else { continue };
            for ((other, text, word), _) in words.iter().zip(derived).filter(|(_, derived)| *derived) {
                // Where a predicate decides, or the mode, either may be meant.
                if word.mode != rule.mode || rule.guarded {
                    shadows.insert((*text).to_owned(), Shadow);
                } else if place < *other {
                    shadows.insert((*text).to_owned(), Shadow);
                    never.insert(&word.name, word.span.clone());
                }
            }
        }
        never.into_values().for_each(|span| losses.note(Loss::Unmatched, span));
        shadows
    }

    fn find_nullable(&mut self) {
        loop {
            let more =
                self.bodies.iter().filter(|(name, body)| !self.nullable.contains(*name) && self.is_nullable(body));
            let more: Vec<String> = more.map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                return;
            }
            self.nullable.extend(more);
        }
    }

    pub(super) fn is_nullable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Text(text) | Expr::Caseless(text) => text.is_empty(),
            Expr::Set(_) | Expr::Defect(_) => false,
            Expr::Name(name, _) => self.nullable.contains(name),
            Expr::Sequence(parts) => parts.iter().all(|part| self.is_nullable(part)),
            Expr::Choice(parts) => parts.iter().any(|part| self.is_nullable(part)),
            Expr::Repeat { item, min, .. } => *min == 0 || self.is_nullable(item),
            Expr::Annotated(_, inner) | Expr::Lazy(inner) => self.is_nullable(inner),
            Expr::Except(included, ..) => self.is_nullable(included),
        }
    }

    /// Whether some part of an expression, also by name, is as wanted.
    fn any(&self, expr: &Expr, wanted: impl Fn(&Expr) -> bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if wanted(expr) {
                return true;
            }
            match expr {
                Expr::Text(_) | Expr::Caseless(_) | Expr::Set(_) | Expr::Defect(_) => {}
                Expr::Name(name, _) => {
                    if seen.insert(name) {
                        open.extend(self.bodies.get(name));
                    }
                }
                Expr::Sequence(parts) | Expr::Choice(parts) => open.extend(parts),
                Expr::Repeat { item: inner, .. } | Expr::Annotated(_, inner) | Expr::Lazy(inner) => open.push(inner),
                Expr::Except(included, excluded, _) => open.extend([&**included, &**excluded]),
            }
        }
        false
    }
}

/// A word that another rule takes.
struct Shadow;

/// The copy of a recursive rule that may go through itself `level` more times.
fn inner(name: &str, level: u32) -> String {
    format!("{name}_{level}")
}

/// A text in any case, inside of a token.
fn cased(text: &str) -> Expr {
    let letters = text.chars().map(|c| {
        let set = CharSet::from_ranges(regular::cases(c).map(|code| (code, code)));
        if set.len() == 1 { Expr::Text(c.to_string()) } else { Expr::Set(set) }
    });
    Expr::sequence(letters.collect())
}

/// Whether a token of that name is likely the one of names.
fn is_identifier(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
    let whole = ["id", "ident", "name", "symbol", "var", "variable", "varname", "ncname", "simplename", "regularid"];
    whole.contains(&plain.as_str()) || plain.ends_with("identifier") || plain.ends_with("ident")
}

/// All names in alternatives.
pub(super) fn references<'b>(body: &'b [Alternative], names: &mut Vec<&'b str>) {
    let mut open: Vec<&Atom> = body.iter().flat_map(|alternative| &alternative.elements).map(|e| &e.atom).collect();
    while let Some(atom) = open.pop() {
        match atom {
            Atom::Name(name) => names.push(name),
            Atom::Not(inner) => open.push(inner),
            Atom::Block(body) => open.extend(body.iter().flat_map(|a| &a.elements).map(|element| &element.atom)),
            Atom::Text(_) | Atom::Set(_) | Atom::Any | Atom::End => {}
        }
    }
}
