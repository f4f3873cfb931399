//! Grammars of ANTLR 4: lexer and parser grammars, apart or combined, in one file or several.
//!
//! What a grammar accepts is kept, as far as it is written in rules; host code is not. The parser here has no lexer that goes
//! before it: at each place the tokens that can stand there are tried, so modes need no imitation.

mod escape;
mod lexer;
mod losses;
mod parser;
mod skips;
mod syntax;
#[cfg(test)]
mod tests;
mod words;

use super::super::ast::{Annotation, Document, Expr, Rule};
use super::super::diagnostic::Diagnostic;
use super::super::sources::Source;
use losses::{Loss, Losses};
use rustc_hash::FxHashSet;
use syntax::{Alternative, Atom, File, RuleText};

/// The names of the files that a file imports or takes tokens from.
pub(super) fn references(text: &str) -> Vec<String> {
    syntax::references(text).into_iter().map(|name| format!("{name}.g4")).collect()
}

/// Whether a text is a grammar of ANTLR: its first words, comments apart, are `grammar name;`.
pub(super) fn is_antlr(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let end = match rest.get(..2) {
            Some("//") => "\n",
            Some("/*") => "*/",
            _ => break,
        };
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after.trim_start();
    }
    let mut words = rest.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or("");
    let head = if ["lexer", "parser"].contains(&first) { words.next().unwrap_or("") } else { first };
    head == "grammar" && words.next().is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// What brackets do not count in: texts, and sets of characters.
const QUOTES: [(u8, u8); 3] = [(b'\'', b'\''), (b'"', b'"'), (b'[', b']')];

/// Reads files that make one grammar.
pub(super) fn read(sources: &[&Source]) -> Result<Document, Vec<Diagnostic>> {
    let mut files = Vec::new();
    let mut problems = Vec::new();
    for source in sources {
        match super::check_depth(&source.text, &QUOTES).map_err(|deep| vec![deep.moved(source.start)]) {
            Ok(()) => match syntax::read(&source.text, source.start) {
                Ok(file) => files.push(file),
                Err(found) => problems.extend(found),
            },
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    // What is imported comes after what imports it, which has the first word.
    let imported: FxHashSet<String> = files.iter().flat_map(|file| file.imports.clone()).collect();
    files.sort_by_key(|file| imported.contains(&file.name));
    joined(files, &imported)
}

fn joined(files: Vec<File>, imported: &FxHashSet<String>) -> Result<Document, Vec<Diagnostic>> {
    let mut losses = Losses::default();
    let mut declared = Vec::new();
    let (mut lexical, mut syntactic): (Vec<RuleText>, Vec<RuleText>) = (Vec::new(), Vec::new());
    let mut names: FxHashSet<String> = FxHashSet::default();
    for file in files {
        losses.append(file.losses);
        declared.extend(file.tokens.into_iter().map(|name| (name, 0..0)));
        for rule in file.rules {
            if !names.insert(rule.name.clone()) && imported.contains(&file.name) {
                continue;
            }
            if rule.is_lexical() { lexical.push(rule) } else { syntactic.push(rule) }
        }
    }
    let written: Vec<(&str, bool)> = texts(&syntactic).collect();
    let texts: Vec<&str> = written.iter().map(|(text, _)| *text).collect();
    let mut tokens = lexer::tokens(&lexical, &texts, &declared, &mut losses)?;
    let mut any: Vec<Expr> = tokens.all().cloned().collect();
    any.extend(written.iter().map(|(text, caseless)| tokens.of_text(text, *caseless)));
    let mut seen: Vec<Expr> = Vec::new();
    any.retain(|token| {
        let new = !seen.contains(token);
        if new {
            seen.push(token.clone());
        }
        new
    });
    let mut rules: Vec<Rule> = if syntactic.is_empty() {
        vec![sequence_of(any, &lexical)]
    } else {
        let mut converter = parser::Converter { tokens: &tokens, any, losses: &mut losses };
        syntactic.iter().map(|rule| converter.rule(rule)).collect()
    };
    let start = start(&syntactic, &rules);
    if let Some(start) = rules.get_mut(start) {
        start.annotations.push(Annotation::new("start", start.span.clone()));
    }
    rules.append(&mut tokens.rules);
    let is_skip = |rule: &Rule| rule.annotations.iter().any(|said| said.word == "skip");
    let used = used(&rules, |place, rule| place < syntactic.len().max(1) || is_skip(rule));
    for rule in lexical.iter().filter(|rule| !rule.fragment && !used.contains(&rule.name)) {
        if rules.iter().any(|made| made.name == rule.name && !made.annotations.is_empty()) {
            losses.note(Loss::Unused, rule.span.clone());
        }
    }
    rules.retain(|rule| used.contains(&rule.name));
    Ok(Document { rules, warnings: losses.warnings() })
}

/// Which rule whole inputs are of. One that ends with `EOF` is meant for them; of several such the one that leads to most
/// rules. Else it is the first.
fn start(rules: &[RuleText], converted: &[Rule]) -> usize {
    let is_whole = |rule: &RuleText| {
        let last = |alternative: &Alternative| alternative.elements.last().map(|element| element.atom.clone());
        rule.body.iter().any(|alternative| matches!(last(alternative), Some(Atom::End)))
    };
    let whole = (0..rules.len()).rev().filter(|place| is_whole(&rules[*place]));
    whole.max_by_key(|place| used(converted, |other, _| other == *place).len()).unwrap_or(0)
}

/// A lexer alone: any sequence of its tokens.
fn sequence_of(tokens: Vec<Expr>, lexical: &[RuleText]) -> Rule {
    let span = lexical.first().map_or(0..0, |rule| rule.span.clone());
    let body = Expr::repeat(Expr::choice(tokens), 0, None);
    Rule { name: "tokens".to_owned(), span, annotations: Vec::new(), body }
}

/// The texts that stand in rules, and whether in any case.
fn texts(rules: &[RuleText]) -> impl Iterator<Item = (&str, bool)> {
    rules.iter().flat_map(|rule| {
        let mut texts = Vec::new();
        let mut open: Vec<&Atom> =
            rule.body.iter().flat_map(|alternative| &alternative.elements).map(|element| &element.atom).collect();
        while let Some(atom) = open.pop() {
            match atom {
                Atom::Text(text) => texts.push((text.as_str(), rule.caseless)),
                Atom::Not(inner) => open.push(inner),
                Atom::Block(body) => open.extend(body.iter().flat_map(|a| &a.elements).map(|element| &element.atom)),
                Atom::Name(_) | Atom::Set(_) | Atom::Any | Atom::End => {}
            }
        }
        texts.reverse();
        texts
    })
}

/// The rules that some lead to.
fn used(rules: &[Rule], is_root: impl Fn(usize, &Rule) -> bool) -> FxHashSet<String> {
    let by_name: rustc_hash::FxHashMap<&str, &Rule> = rules.iter().map(|rule| (rule.name.as_str(), rule)).collect();
    let roots = rules.iter().enumerate().filter(|(place, rule)| is_root(*place, rule));
    let mut used: FxHashSet<String> = FxHashSet::default();
    let mut open: Vec<&Rule> = roots.map(|(_, rule)| rule).collect();
    while let Some(rule) = open.pop() {
        if !used.insert(rule.name.clone()) {
            continue;
        }
        open.extend(rule.body.names().filter_map(|name| by_name.get(name)));
    }
    used
}
