//! The notation of Lark. Names in capitals are tokens; what a rule of Lark makes of its tree (`?`, `!`, `_`, `->`) is looked through.

use super::losses::{Loss, Losses};
use super::{escaped, regex, span, syntax_error, tidy};
use crate::grammar::ast::{Annotation, Document, Expr, Rule as AstRule, Span};
use crate::grammar::charset::CharSet;
use crate::grammar::diagnostic::Diagnostic;
use indexmap::IndexMap;
use pest::Parser;
use pest::iterators::Pair;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

#[derive(pest_derive::Parser)]
#[grammar = "grammar/notation/lark.pest"]
struct Notation;

const COMMON: &str = include_str!("lark_common.lark");

const MAX_INSTANCES: usize = 2000;

const PRIORITY: Loss = Loss {
    code: "dropped-priority",
    one: "priority was dropped",
    many: "priorities were dropped",
    help: "of two tokens both are tried; write `/*@ keyword */` before one that shuts the others out",
};

const DECLARED: Loss = Loss {
    code: "external-token",
    one: "declared terminal has no definition: one for indentation is taken as nothing, any other never matches",
    many: "declared terminals have no definition: those for indentation are taken as nothing, all others never match",
    help: "define them in the grammar",
};

/// The files that are imported from, to be looked for beside the grammar.
pub(super) fn references(text: &str) -> Vec<String> {
    let mut files: Vec<String> = imports(text).into_iter().map(|(file, _)| file).collect();
    files.dedup();
    files
}

/// For each import from a file: the file, and the names.
fn imports(text: &str) -> Vec<(String, Vec<String>)> {
    let import = |line: &str| {
        let path = line.trim_start().strip_prefix("%import")?.trim_start().strip_prefix('.')?;
        let path = path.split("->").next().unwrap_or(path);
        let path = path.split("//").next().unwrap_or(path).trim();
        let up = path.len() - path.trim_start_matches('.').len();
        let (file, names) = match path[up..].split_once('(') {
            Some((file, names)) => (file.trim(), names.trim_end_matches(')')),
            None => path[up..].rsplit_once('.')?,
        };
        let names = names.split(',').map(|name| name.trim().to_owned()).collect();
        Some((format!("{}{}.lark", "../".repeat(up), file.replace('.', "/")), names))
    };
    text.lines().filter_map(import).collect()
}

/// What other files import from the file of that name; none if it is no file that is imported from.
pub(super) fn imported_names<'t>(texts: impl Iterator<Item = &'t str>, file: &Path) -> FxHashSet<String> {
    let imports = texts.flat_map(imports);
    imports.filter(|(path, _)| Path::new(path).file_name() == file.file_name()).flat_map(|(_, names)| names).collect()
}

/// Of an imported file, what was asked for and what that needs, which is named after the file.
pub(super) fn imported(mut document: Document, file: &Path, wanted: &FxHashSet<String>) -> Document {
    let stem = file.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let own: FxHashMap<String, usize> =
        document.rules.iter().enumerate().map(|(index, rule)| (rule.name.clone(), index)).collect();
    let mut needed: FxHashSet<String> = FxHashSet::default();
    let mut open: Vec<String> = wanted.iter().cloned().collect();
    while let Some(name) = open.pop() {
        if let Some(index) = own.get(&name).filter(|_| needed.insert(name.clone())) {
            let mut names = FxHashSet::default();
            tidy::names(&document.rules[*index].body, &mut names);
            open.extend(names);
        }
    }
    document.rules.retain(|rule| needed.contains(&rule.name));
    let renamed = |name: &str| (own.contains_key(name) && !wanted.contains(name)).then(|| format!("{stem}__{name}"));
    for rule in &mut document.rules {
        rule.annotations.retain(|said| said.word == "token");
        let is_text = matches!(rule.body, Expr::Text(_) | Expr::Caseless(_));
        if rule.annotations.is_empty() && wanted.contains(&rule.name) && is_terminal(&rule.name) && !is_text {
            rule.annotations.push(Annotation::new("token", rule.span.clone()));
        }
        tidy::each(&mut rule.body, |expr| {
            if let Expr::Name(name, _) = expr {
                *name = renamed(name).unwrap_or_else(|| std::mem::take(name));
            }
        });
        rule.name = renamed(&rule.name).unwrap_or_else(|| std::mem::take(&mut rule.name));
    }
    document
}

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let mut definitions = Definitions::default();
    let mut problems = Vec::new();
    let items = parsed(source)?;
    for item in items {
        if let Err(problem) = definitions.add(item) {
            problems.push(problem);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let common = parsed(COMMON)?;
    definitions.import_common(common);
    let mut reader = Reader { definitions: &definitions, ..Reader::new(&definitions) };
    reader.read().map_err(|problem| vec![problem])
}

fn parsed(source: &str) -> Result<Vec<Pair<'_, Rule>>, Vec<Diagnostic>> {
    let mut pairs = Notation::parse(Rule::grammar, source).map_err(|e| vec![syntax_error(&e, source, expectation)])?;
    Ok(pairs.next().into_iter().flat_map(Pair::into_inner).filter(|pair| pair.as_rule() != Rule::EOI).collect())
}

fn expectation(expected: &Rule) -> &'static str {
    match expected {
        Rule::rule | Rule::name => "a name",
        Rule::text => "a quoted text",
        Rule::regex => "a regular expression",
        Rule::suffix | Rule::mark => "`?`, `*`, `+` or `~ n`",
        Rule::atom | Rule::term | Rule::sequence | Rule::alternative | Rule::choice => "a name, text or group",
        Rule::ignore | Rule::import | Rule::declare | Rule::replaced | Rule::extend => "a directive",
        Rule::path => "what is imported",
        Rule::integer => "a number",
        Rule::EOI => "the end",
        _ => "",
    }
}

/// A rule or terminal as written.
#[derive(Default)]
struct Definition<'i> {
    params: Vec<String>,
    bodies: Vec<Pair<'i, Rule>>,
    span: Span,
    /// For what comes from a library, the place of its import.
    imported: Option<Span>,
    /// For what comes from a library, what its names are called here.
    names: FxHashMap<String, String>,
}

#[derive(Default)]
struct Definitions<'i> {
    rules: IndexMap<String, Definition<'i>>,
    /// Rules that are written once more by mistake.
    again: Vec<(String, Span)>,
    ignored: Vec<Pair<'i, Rule>>,
    declared: Vec<(String, Span)>,
    priorities: Vec<Span>,
    /// From the library: the name there, the name here, the place.
    common: Vec<(String, String, Span)>,
    /// From other files: the name there, the name here, the place.
    renamed: Vec<(String, String, Span)>,
}

impl<'i> Definitions<'i> {
    fn add(&mut self, item: Pair<'i, Rule>) -> Result<(), Diagnostic> {
        match item.as_rule() {
            Rule::rule => self.rule(item, false, false),
            Rule::replaced => item.into_inner().for_each(|rule| self.rule(rule, true, false)),
            Rule::extend => item.into_inner().for_each(|rule| self.rule(rule, false, true)),
            Rule::ignore => self.ignored.extend(item.into_inner()),
            Rule::declare => {
                self.declared.extend(item.into_inner().map(|name| (name.as_str().to_owned(), span(&name))))
            }
            _ => self.import(item)?,
        }
        Ok(())
    }

    fn rule(&mut self, pair: Pair<'i, Rule>, replaces: bool, extends: bool) {
        let mut name = String::new();
        let mut found = Definition { span: span(&pair), ..Definition::default() };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => (name, found.span) = (part.as_str().to_owned(), span(&part)),
                Rule::params => found.params = part.into_inner().map(|name| name.as_str().to_owned()).collect(),
                Rule::priority => self.priorities.push(span(&part)),
                Rule::choice => found.bodies.push(part),
                _ => {}
            }
        }
        match self.rules.get_mut(&name) {
            Some(first) if extends => first.bodies.append(&mut found.bodies),
            Some(_) if !replaces => self.again.push((name, found.span)),
            _ => _ = self.rules.insert(name, found),
        }
    }

    fn import(&mut self, pair: Pair<'i, Rule>) -> Result<(), Diagnostic> {
        let place = span(&pair);
        let mut path = "";
        let mut names = Vec::new();
        let renames = pair.as_str().contains("->");
        for part in pair.into_inner() {
            if part.as_rule() == Rule::path {
                path = part.as_str()
            } else {
                names.push((part.as_str().to_owned(), span(&part)))
            }
        }
        let (library, single) = match path.rsplit_once('.') {
            Some((library, name)) if renames || names.is_empty() => (library, Some(name)),
            _ => (path, None),
        };
        let pairs: Vec<(String, String, Span)> = match single {
            Some(name) => {
                let (own, place) = names.pop().unwrap_or((name.to_owned(), place.clone()));
                vec![(name.to_owned(), own, place)]
            }
            None => names.into_iter().map(|(name, place)| (name.clone(), name, place)).collect(),
        };
        match library.trim_start_matches('.') {
            "common" => self.common.extend(pairs),
            _ if path.starts_with('.') => {
                self.renamed.extend(pairs.into_iter().filter(|(there, here, _)| there != here))
            }
            library => {
                let message = format!("there is no library `{library}` here");
                return Err(Diagnostic::error("unknown-library", message, place, "").with_help(
                    "`common` is known; define what else is needed, or import it from a file beside this one",
                ));
            }
        }
        Ok(())
    }

    /// Adds what is imported from the library, with what that needs. The library's names mean what they mean there, whatever the
    /// grammar calls by them.
    fn import_common(&mut self, items: Vec<Pair<'i, Rule>>) {
        let mut library = Definitions::default();
        items.into_iter().for_each(|item| _ = library.add(item));
        let mut wanted: Vec<(String, String, Span)> = std::mem::take(&mut self.common);
        let mut called: FxHashMap<String, String> = FxHashMap::default();
        for (there, here, _) in &wanted {
            if !self.rules.contains_key(here) {
                called.entry(there.clone()).or_insert_with(|| here.clone());
            }
        }
        wanted.reverse();
        while let Some((there, here, place)) = wanted.pop() {
            let Some(found) = library.rules.get(&there) else {
                self.renamed.push((there, here, place));
                continue;
            };
            if self.rules.contains_key(&here) {
                continue;
            }
            let bodies = found.bodies.clone();
            let mut names = FxHashMap::default();
            let mut open = bodies.clone();
            while let Some(pair) = open.pop() {
                if pair.as_rule() == Rule::name && library.rules.contains_key(pair.as_str()) {
                    let name = pair.as_str().to_owned();
                    let taken = self.rules.contains_key(&name) || called.values().any(|here| *here == name);
                    let own = || if taken { format!("COMMON__{name}") } else { name.clone() };
                    let here = called.entry(name.clone()).or_insert_with(own).clone();
                    wanted.insert(0, (name.clone(), here.clone(), place.clone()));
                    names.insert(name, here);
                }
                open.extend(pair.into_inner());
            }
            let definition =
                Definition { bodies, span: place.clone(), imported: Some(place), names, ..Definition::default() };
            self.rules.insert(here, definition);
        }
    }
}

/// An instance of a template that is to be read: its name, the template, what its parameters stand for.
struct Instance {
    name: String,
    template: String,
    arguments: FxHashMap<String, Expr>,
}

struct Reader<'a, 'i> {
    definitions: &'a Definitions<'i>,
    /// What a library's names are called here, while its rules are read.
    names: Option<&'a FxHashMap<String, String>>,
    arguments: FxHashMap<String, Expr>,
    instances: Vec<Instance>,
    known: FxHashSet<String>,
    /// Tokens without a name, by what they are.
    patterns: Vec<(Expr, String)>,
    /// Where all that is read is said to stand.
    place: Option<Span>,
    lexical: bool,
    losses: Losses,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn new(definitions: &'a Definitions<'i>) -> Self {
        Reader {
            definitions,
            names: None,
            arguments: FxHashMap::default(),
            instances: Vec::new(),
            known: FxHashSet::default(),
            patterns: Vec::new(),
            place: None,
            lexical: false,
            losses: Losses::default(),
        }
    }

    fn read(&mut self) -> Result<Document, Diagnostic> {
        let definitions = self.definitions;
        definitions.priorities.iter().for_each(|place| self.losses.note(&PRIORITY, place.clone()));
        let mut rules = Vec::new();
        for (name, definition) in definitions.rules.iter().filter(|(_, definition)| definition.params.is_empty()) {
            rules.push(self.rule(name, definition)?);
        }
        let mut next = 0;
        while next < self.instances.len() {
            let Instance { name, template, arguments } = &self.instances[next];
            let (name, definition) = (name.clone(), definitions.rules.get(template));
            self.arguments = arguments.clone();
            if let Some(definition) = definition {
                rules.push(self.rule(&name, definition)?);
            }
            next += 1;
        }
        self.arguments.clear();
        let mut ignored = Vec::new();
        for (number, pair) in definitions.ignored.iter().enumerate() {
            self.lexical = true;
            match self.choice(pair.clone())? {
                Expr::Name(name, _) => ignored.push(name),
                body => {
                    let name = format!("IGNORED_{}", number + 1);
                    ignored.push(name.clone());
                    rules.push(AstRule { name, span: span(pair), annotations: Vec::new(), body });
                }
            }
        }
        rules.extend(definitions.renamed.iter().map(|(there, here, place)| AstRule {
            name: here.clone(),
            span: place.clone(),
            annotations: Vec::new(),
            body: Expr::Name(there.clone(), place.clone()),
        }));
        let patterns = std::mem::take(&mut self.patterns);
        rules.extend(patterns.into_iter().map(|(body, name)| AstRule { name, body, ..AstRule::default() }));
        annotate(&mut rules, &ignored);
        self.declared(&mut rules);
        for (name, place) in &definitions.again {
            rules.push(AstRule { name: name.clone(), span: place.clone(), ..AstRule::default() });
        }
        tidy::tokens_are_not_empty(&mut rules);
        Ok(Document { rules, warnings: std::mem::take(&mut self.losses).warnings() })
    }

    fn declared(&mut self, rules: &mut Vec<AstRule>) {
        let mut never = Vec::new();
        for (name, place) in &self.definitions.declared {
            self.losses.note(&DECLARED, place.clone());
            if name.contains("DENT") {
                rules.push(AstRule { name: name.clone(), span: place.clone(), ..AstRule::default() });
            } else {
                never.push(name.clone());
            }
        }
        if !never.is_empty() {
            tidy::without(rules, never);
        }
    }

    fn rule(&mut self, name: &str, definition: &'a Definition<'i>) -> Result<AstRule, Diagnostic> {
        self.place = definition.imported.clone();
        self.names = Some(&definition.names);
        self.lexical = is_terminal(name);
        let bodies = definition.bodies.iter().map(|body| self.choice(body.clone())).collect::<Result<Vec<_>, _>>()?;
        let mut annotations = Vec::new();
        if name == "start" {
            annotations.push(Annotation::new("start", definition.span.clone()));
        }
        (self.place, self.names) = (None, None);
        Ok(AstRule { name: name.to_owned(), span: definition.span.clone(), annotations, body: Expr::choice(bodies) })
    }

    fn at(&self, pair: &Pair<Rule>) -> Span {
        self.place.clone().unwrap_or_else(|| span(pair))
    }

    fn choice(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        // What an alternative's tree is called says nothing of its texts.
        super::choice(pair, |alternative| {
            let sequence = alternative.into_inner().next();
            sequence.map_or(Ok(Expr::nothing()), |sequence| super::sequence(sequence, |term| self.term(term)))
        })
    }

    fn term(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        let mut parts = pair.into_inner();
        let atom = parts.next().map_or(Ok(Expr::nothing()), |atom| self.atom(atom))?;
        let Some(suffix) = parts.next() else { return Ok(atom) };
        let place = self.at(&suffix);
        let mut numbers = Vec::new();
        for part in suffix.into_inner() {
            match part.as_rule() {
                Rule::mark => {
                    let (min, max) = super::counts(part.as_str(), &place)?;
                    return Ok(Expr::repeat(atom, min, max));
                }
                _ => numbers.push(super::count(part.as_str(), self.at(&part))?),
            }
        }
        let min = numbers.first().copied().unwrap_or(0);
        let max = numbers.last().copied().unwrap_or(min);
        if max < min {
            return Err(Diagnostic::error("reversed-range", "the greatest count is below the least", place, ""));
        }
        Ok(Expr::repeat(atom, min, Some(max)))
    }

    fn atom(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        let Some(inner) = pair.into_inner().next() else { return Ok(Expr::nothing()) };
        let place = self.at(&inner);
        Ok(match inner.as_rule() {
            Rule::choice => self.choice(inner)?,
            Rule::option => {
                let inner = inner.into_inner().next().map_or(Ok(Expr::nothing()), |inner| self.choice(inner))?;
                Expr::repeat(inner, 0, Some(1))
            }
            Rule::range => {
                let ends = inner.into_inner().map(|end| {
                    let place = self.at(&end);
                    let quoted = end.into_inner().next();
                    escaped::character(quoted.map_or("", |quoted| quoted.as_str()), place.start + 1)
                });
                let ends = ends.collect::<Result<Vec<_>, _>>()?;
                let range = (ends.first().copied().unwrap_or(0), ends.last().copied().unwrap_or(0));
                let set = CharSet::from_ranges([range]).intersection(&CharSet::default().complement());
                if set.is_empty() {
                    return Err(Diagnostic::error("reversed-range", "the range runs backwards", place, "")
                        .with_help("write the lower character first"));
                }
                self.token(Expr::Set(set))
            }
            Rule::text => self.text(inner)?,
            Rule::regex => {
                let mut parts = inner.into_inner();
                let pattern = parts.next().map_or("", |part| part.as_str());
                let flags = regex::Flags { unicode: true, ..regex::Flags::default() };
                let flags = flags.with(parts.next().map_or("", |part| part.as_str()));
                let body = regex::read(pattern, flags, &place, &mut self.losses)?;
                self.token(body)
            }
            Rule::call => self.call(inner)?,
            _ => {
                let name = inner.as_str();
                let name = self.names.and_then(|names| names.get(name)).map_or(name, String::as_str);
                self.arguments.get(name).cloned().unwrap_or_else(|| Expr::Name(name.to_owned(), place))
            }
        })
    }

    fn text(&self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        let place = self.at(&pair);
        let mut parts = pair.into_inner();
        let text = escaped::text(parts.next().map_or("", |part| part.as_str()), place.start + 1)?;
        Ok(match parts.next() {
            None => Expr::Text(text),
            Some(_) => Expr::Caseless(text),
        })
    }

    /// What is a token in a rule gets a name; in a token it is a part like any other.
    fn token(&mut self, body: Expr) -> Expr {
        if self.lexical {
            return body;
        }
        if let Expr::Text(_) = body {
            return body;
        }
        let known = self.patterns.iter().find(|(other, _)| *other == body).map(|(_, name)| name.clone());
        let name = known.unwrap_or_else(|| {
            let mut number = self.patterns.len() + 1;
            while self.definitions.rules.contains_key(&format!("PATTERN_{number}")) {
                number += 1000;
            }
            let name = format!("PATTERN_{number}");
            self.patterns.push((body, name.clone()));
            name
        });
        Expr::Name(name, 0..0)
    }

    fn call(&mut self, pair: Pair<Rule>) -> Result<Expr, Diagnostic> {
        let place = self.at(&pair);
        let mut parts = pair.into_inner();
        let template = parts.next().map_or("", |name| name.as_str()).to_owned();
        let mut arguments = Vec::new();
        for argument in parts {
            let argument = argument.into_inner().next();
            arguments.push(argument.map_or(Ok(Expr::nothing()), |argument| self.choice(argument))?);
        }
        let Some(definition) = self.definitions.rules.get(&template) else { return Ok(Expr::Name(template, place)) };
        if definition.params.len() != arguments.len() {
            let message = format!("`{template}` has {} parameters, not {}", definition.params.len(), arguments.len());
            return Err(Diagnostic::error("template-arguments", message, place, "")
                .with_label(definition.span.clone(), "defined here"));
        }
        let labels: Vec<String> = arguments.iter().map(label).collect();
        let name = super::writable(&format!("{template}{{{}}}", labels.join(", ")));
        if self.known.insert(name.clone()) {
            if self.instances.len() >= MAX_INSTANCES || name.len() > 1000 {
                let message = format!("the template `{template}` has instances without end");
                return Err(Diagnostic::error("endless-template", message, place, ""));
            }
            let arguments = definition.params.iter().cloned().zip(arguments).collect();
            self.instances.push(Instance { name: name.clone(), template, arguments });
        }
        Ok(Expr::Name(name, place))
    }
}

/// An argument as it is named in the name of an instance.
fn label(argument: &Expr) -> String {
    match argument {
        Expr::Name(name, _) => name.clone(),
        Expr::Text(text) => format!("\"{text}\""),
        Expr::Sequence(parts) => parts.iter().map(label).collect::<Vec<_>>().join(" "),
        Expr::Choice(parts) => format!("({})", parts.iter().map(label).collect::<Vec<_>>().join(" | ")),
        Expr::Repeat { item, min, max } => format!("({}){{{min},{max:?}}}", label(item)),
        other => format!("{other:?}"),
    }
}

fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase())
}

/// Terminals that rules use are tokens, except for plain texts, which are what they are everywhere; parts of tokens are none.
fn annotate(rules: &mut [AstRule], ignored: &[String]) {
    let mut used: FxHashSet<String> = FxHashSet::default();
    let mut within: FxHashSet<String> = FxHashSet::default();
    for rule in rules.iter() {
        tidy::names(&rule.body, if is_terminal(&rule.name) { &mut within } else { &mut used });
    }
    // A file with terminals only is there to be imported from.
    let only_terminals = rules.iter().all(|rule| is_terminal(&rule.name));
    let first = rules.first().map(|rule| rule.name.clone());
    let terminals = rules.iter_mut().filter(|rule| is_terminal(&rule.name) || ignored.contains(&rule.name));
    for rule in terminals {
        let is_used = used.contains(&rule.name)
            || only_terminals && !within.contains(&rule.name)
            || first.as_ref() == Some(&rule.name);
        let is_text = matches!(rule.body, Expr::Text(_) | Expr::Caseless(_));
        if ignored.contains(&rule.name) {
            rule.annotations.push(Annotation::new("skip", rule.span.clone()));
        } else if is_used && !is_text {
            rule.annotations.push(Annotation::new("token", rule.span.clone()));
        }
        if !rule.annotations.is_empty() || !is_text {
            tidy::spell_out_cases(&mut rule.body);
        }
    }
}
