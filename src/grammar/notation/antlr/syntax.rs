//! Grammar files of ANTLR as they are written.

use super::escape;
use super::losses::{Loss, Losses};
use crate::grammar::ast::Span;
use crate::grammar::charset::CharSet;
use crate::grammar::diagnostic::Diagnostic;
use crate::grammar::notation::syntax_error;
use pest::Parser;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/antlr/antlr.pest"]
struct Notation;

/// A file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub name: String,
    pub imports: Vec<String>,
    pub vocabulary: Option<String>,
    pub caseless: bool,
    /// Tokens declared without a rule.
    pub tokens: Vec<String>,
    pub rules: Vec<RuleText>,
    pub losses: Losses,
}

/// A rule of either kind.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RuleText {
    pub name: String,
    pub span: Span,
    pub fragment: bool,
    pub caseless: bool,
    /// Whether it has a predicate.
    pub guarded: bool,
    /// The mode of a lexer rule; empty for the default one.
    pub mode: String,
    pub body: Vec<Alternative>,
}

impl RuleText {
    pub(super) fn is_lexical(&self) -> bool {
        is_token(&self.name)
    }
}

/// Whether the name is that of a token: it begins with an upper-case letter.
pub(super) fn is_token(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Alternative {
    /// Whether it says `<assoc=right>`.
    pub right: bool,
    pub elements: Vec<Element>,
    pub commands: Vec<(String, Option<String>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    pub atom: Atom,
    pub min: u32,
    pub max: Option<u32>,
    pub lazy: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    Text(String),
    Set(CharSet),
    Name(String),
    Any,
    Not(Box<Atom>),
    Block(Vec<Alternative>),
    /// `EOF`.
    End,
}

/// Names of files that a file refers to, by their grammars' names.
pub(super) fn references(text: &str) -> Vec<String> {
    match read(text, 0) {
        Ok(file) => file.imports.into_iter().chain(file.vocabulary).collect(),
        Err(_) => Vec::new(),
    }
}

/// Reads a file whose first byte counts as `base`.
pub(super) fn read(text: &str, base: usize) -> Result<File, Vec<Diagnostic>> {
    let parsed = Notation::parse(Rule::file, text);
    let mut pairs =
        parsed.map_err(|error| vec![syntax_error(&error, text, expectation).moved(base).with_help(HELP)])?;
    let mut reader =
        Reader { base, file: File::default(), mode: String::new(), right: false, guarded: false, problems: Vec::new() };
    pairs.next().into_iter().flat_map(Pair::into_inner).for_each(|pair| reader.part(pair));
    let Reader { file, problems, .. } = reader;
    if problems.is_empty() { Ok(file) } else { Err(problems) }
}

const HELP: &str = "ANTLR 4 rules are `name : alternatives ;`; grammars of ANTLR 3 are not read";

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::name | Rule::rule_name | Rule::dotted | Rule::reference => "a name",
        Rule::rule | Rule::mode | Rule::modifier => "a rule",
        Rule::text => "a quoted text",
        Rule::element | Rule::operand | Rule::atom | Rule::alternative | Rule::choice => "a name, text or group",
        Rule::suffix => "`?`, `*` or `+`",
        Rule::commands => "`->`",
        Rule::action => "`{`",
        Rule::EOI => "the end",
        _ => "",
    }
}

struct Reader {
    base: usize,
    file: File,
    mode: String,
    /// Whether the alternative that is being read says `<assoc=right>`.
    right: bool,
    /// Whether the rule that is being read has a predicate.
    guarded: bool,
    problems: Vec<Diagnostic>,
}

impl Reader {
    fn span(&self, pair: &Pair<Rule>) -> Span {
        let span = super::super::span(pair);
        span.start + self.base..span.end + self.base
    }

    fn lose(&mut self, loss: Loss, pair: &Pair<Rule>) {
        let span = self.span(pair);
        self.file.losses.note(loss, span);
    }

    fn part(&mut self, pair: Pair<Rule>) {
        match pair.as_rule() {
            Rule::name => pair.as_str().clone_into(&mut self.file.name),
            Rule::options => {
                for (name, value, pair) in options(pair) {
                    match name.as_str() {
                        "tokenVocab" => self.file.vocabulary = Some(value.trim_matches('\'').to_owned()),
                        "caseInsensitive" => self.file.caseless = value == "true",
                        "superClass" => self.lose(Loss::SuperClass, &pair),
                        _ => {}
                    }
                }
            }
            Rule::import => {
                let imported = pair.into_inner().filter(|part| part.as_rule() == Rule::imported);
                let name = |part: Pair<Rule>| part.into_inner().last().map(|name| name.as_str().to_owned());
                self.file.imports.extend(imported.filter_map(name));
            }
            Rule::tokens => self.file.tokens.extend(pair.into_inner().map(|name| name.as_str().to_owned())),
            Rule::host => self.lose(Loss::Action, &pair),
            Rule::mode => {
                let name = pair.into_inner().last().map_or("", |name| name.as_str());
                self.mode = if name == "DEFAULT_MODE" { String::new() } else { name.to_owned() };
            }
            Rule::rule => self.rule(pair),
            _ => {}
        }
    }

    fn rule(&mut self, pair: Pair<Rule>) {
        let mut rule = RuleText { mode: self.mode.clone(), ..RuleText::default() };
        let mut own = None;
        self.guarded = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::modifier => rule.fragment |= part.as_str() == "fragment",
                Rule::name => (rule.name, rule.span) = (part.as_str().to_owned(), self.span(&part)),
                Rule::options => {
                    let caseless = |(name, value, _): (String, String, _)| (name == "caseInsensitive").then_some(value);
                    own = options(part).filter_map(caseless).last().or(own);
                }
                Rule::choice => rule.body = self.choice(part),
                _ => self.lose(Loss::Action, &part),
            }
        }
        rule.guarded = self.guarded;
        rule.caseless = own.map_or(self.file.caseless, |own| own == "true");
        self.file.rules.push(rule);
    }

    fn choice(&mut self, pair: Pair<Rule>) -> Vec<Alternative> {
        pair.into_inner().map(|part| self.alternative(part)).collect()
    }

    fn alternative(&mut self, pair: Pair<Rule>) -> Alternative {
        let outer = std::mem::take(&mut self.right);
        let mut alternative = Alternative::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::hints => self.right |= is_right(&part),
                Rule::element => alternative.elements.extend(self.element(part)),
                Rule::commands => alternative.commands = part.into_inner().map(command).collect(),
                _ => {}
            }
        }
        alternative.right = std::mem::replace(&mut self.right, outer);
        alternative
    }

    fn element(&mut self, pair: Pair<Rule>) -> Option<Element> {
        let span = self.span(&pair);
        let is_predicate = pair.clone().into_inner().any(|part| part.as_rule() == Rule::predicate);
        self.guarded |= is_predicate;
        let mut atom = None;
        let (mut min, mut max, mut lazy) = (1, Some(1), false);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::action => self.lose(if is_predicate { Loss::Predicate } else { Loss::Action }, &part),
                Rule::operand => atom = self.operand(part),
                Rule::suffix => {
                    (min, max) = match &part.as_str()[..1] {
                        "?" => (0, Some(1)),
                        "*" => (0, None),
                        _ => (1, None),
                    };
                    lazy = part.as_str().len() > 1;
                }
                _ => {}
            }
        }
        Some(Element { atom: atom?, min, max, lazy, span })
    }

    fn operand(&mut self, pair: Pair<Rule>) -> Option<Atom> {
        let mut negated = false;
        let mut atom = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::not => negated = true,
                Rule::hints => self.right |= is_right(&part),
                _ => atom = self.atom(part.into_inner().next()?),
            }
        }
        if negated { atom.map(|atom| Atom::Not(Box::new(atom))) } else { atom }
    }

    fn atom(&mut self, pair: Pair<Rule>) -> Option<Atom> {
        let span = self.span(&pair);
        let read = match pair.as_rule() {
            Rule::text => escape::text(super::super::unquoted(pair.as_str()), &span).map(Atom::Text),
            Rule::set => {
                escape::set(super::super::unquoted(pair.as_str()), &span).and_then(|set| match set.is_empty() {
                    true => Err(Diagnostic::error("empty-set", "no character is in this set", span.clone(), "")),
                    false => Ok(Atom::Set(set)),
                })
            }
            Rule::range => range(pair, &span).map(Atom::Set),
            Rule::any => Ok(Atom::Any),
            Rule::block => Ok(Atom::Block(self.block(pair))),
            _ => {
                let mut parts = pair.into_inner();
                let name = parts.next()?.as_str();
                parts.for_each(|arguments| self.lose(Loss::Action, &arguments));
                Ok(if name == "EOF" { Atom::End } else { Atom::Name(name.to_owned()) })
            }
        };
        read.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn block(&mut self, pair: Pair<Rule>) -> Vec<Alternative> {
        let mut body = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::choice => body = self.choice(part),
                Rule::host => self.lose(Loss::Action, &part),
                _ => {}
            }
        }
        body
    }
}

fn options(pair: Pair<'_, Rule>) -> impl Iterator<Item = (String, String, Pair<'_, Rule>)> {
    pair.into_inner().filter_map(|option| {
        let mut parts = option.clone().into_inner();
        let (name, value) = (parts.next()?, parts.next()?);
        Some((name.as_str().to_owned(), value.as_str().trim().to_owned(), option))
    })
}

fn command(pair: Pair<Rule>) -> (String, Option<String>) {
    let mut parts = pair.into_inner().map(|part| part.as_str().to_owned());
    (parts.next().unwrap_or_default(), parts.next())
}

fn is_right(hints: &Pair<Rule>) -> bool {
    let said = |hint: Pair<Rule>| hint.as_str().split('=').map(str::trim).eq(["assoc", "right"]);
    hints.clone().into_inner().any(said)
}

fn range(pair: Pair<Rule>, span: &Span) -> Result<CharSet, Diagnostic> {
    let mut ends = Vec::new();
    for part in pair.into_inner() {
        ends.extend(escape::text(super::super::unquoted(part.as_str()), span)?.chars());
    }
    match ends.as_slice() {
        [low, high] => escape::range(*low, *high, span),
        _ => Err(Diagnostic::error("reversed-range", "a range has one character at each end", span.clone(), "")
            .with_help("write `'a'..'z'`")),
    }
}
