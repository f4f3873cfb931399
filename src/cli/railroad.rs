//! A grammar as a page of railroad diagrams.

use ddset::grammar::{Grammar, Kind, SymbolId};
use railroad::{
    Choice, Comment, Diagram, Empty, Link, Node, NonTerminal, Optional, Repeat, Sequence, SimpleEnd, SimpleStart,
    Stylesheet, Terminal,
};
use std::fmt::Write;

/// One HTML page that needs no other file: a diagram for each rule, where the name of another rule leads to its diagram.
pub(crate) fn page(grammar: &Grammar, title: &str) -> String {
    let title = escaped(title);
    let (light, dark) = (Stylesheet::Light.stylesheet(), Stylesheet::Dark.stylesheet());
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Grammar {title}</title>\n\
         <style>\n{PAGE_CSS}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>\n</head>\n<body>\n\
         <h1>Grammar {title}</h1>\n<nav>"
    );
    for (name, id) in grammar.rules() {
        let _ = writeln!(out, "<a href=\"#{}\">{}</a>", anchor(id), escaped(name));
    }
    out.push_str("</nav>\n");
    let users = users(grammar);
    for (name, id) in grammar.rules() {
        let _ = writeln!(out, "<section id=\"{}\">\n<h2>{}{}</h2>", anchor(id), escaped(name), words(grammar, id));
        let _ = writeln!(out, "<div>{}</div>", diagram(grammar, id));
        let links: Vec<String> = users[id.index()]
            .iter()
            .map(|(name, id)| format!("<a href=\"#{}\">{}</a>", anchor(*id), escaped(name)))
            .collect();
        if !links.is_empty() {
            let _ = writeln!(out, "<p>used by {}</p>", links.join(", "));
        }
        out.push_str("</section>\n");
    }
    out.push_str("</body>\n</html>\n");
    out
}

const PAGE_CSS: &str = "\
:root { color-scheme: light dark; }
body { font-family: sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
nav a { display: inline-block; margin-right: 1em; }
section div { overflow-x: auto; }
h2 { font-size: 1.1em; margin: 2em 0 0.5em; }
h2 small { font-weight: normal; }
p { font-size: 0.85em; margin: 0.3em 0; }
";

fn anchor(id: SymbolId) -> String {
    format!("rule-{}", id.0)
}

/// What its annotations say.
fn words(grammar: &Grammar, id: SymbolId) -> String {
    let role = grammar.symbol(id).role;
    let words = [
        (id == grammar.start(), "start"),
        (role.token && !role.skip, "token"),
        (role.identifier, "identifier"),
        (role.keyword, "keyword"),
        (role.skip, "skipped between tokens"),
        (role.immediate, "immediate"),
    ];
    let said: Vec<&str> = words.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
    if said.is_empty() { String::new() } else { format!(" <small>({})</small>", said.join(", ")) }
}

/// For each rule, the rules that mention it.
fn users(grammar: &Grammar) -> Vec<Vec<(&str, SymbolId)>> {
    let mut users = vec![Vec::new(); grammar.len()];
    for (name, id) in grammar.rules() {
        let mut seen = vec![false; grammar.len()];
        let mut open = grammar.kind(id).parts();
        while let Some(part) = open.pop() {
            if std::mem::replace(&mut seen[part.index()], true) {
                continue;
            }
            if grammar.symbol(part).name.is_some() {
                users[part.index()].push((name, id));
            } else {
                open.extend(grammar.kind(part).parts());
            }
        }
    }
    users
}

fn diagram(grammar: &Grammar, id: SymbolId) -> String {
    let parts: Vec<Box<dyn Node>> = vec![Box::new(SimpleStart), definition(grammar, id), Box::new(SimpleEnd)];
    Diagram::new(Sequence::new(parts)).to_string()
}

/// A symbol where another mentions it. The recursion follows anonymous symbols, which are as deep as the grammar's text.
fn reference(grammar: &Grammar, id: SymbolId) -> Box<dyn Node> {
    match &grammar.symbol(id).name {
        Some(name) => Box::new(Link::new(NonTerminal::new(name.clone()), format!("#{}", anchor(id)))),
        None => definition(grammar, id),
    }
}

fn definition(grammar: &Grammar, id: SymbolId) -> Box<dyn Node> {
    if grammar.is_literal(id) {
        return Box::new(Terminal::new(grammar.label(id)));
    }
    match grammar.kind(id) {
        Kind::Literal(_) | Kind::Set(_) => Box::new(Terminal::new(grammar.label(id))),
        Kind::Choice(alternatives) => {
            let mut ways: Vec<Box<dyn Node>> = alternatives.iter().map(|parts| sequence(grammar, parts)).collect();
            if ways.len() == 1 { ways.remove(0) } else { Box::new(Choice::new(ways)) }
        }
        Kind::Repeat { item, separator, min, max } => {
            let item = reference(grammar, *item);
            let times = counts(*min, *max);
            let between: Box<dyn Node> = match separator {
                Some(separator) => reference(grammar, *separator),
                None => Box::new(Empty),
            };
            let repeated: Box<dyn Node> = match times {
                _ if *max == Some(1) => item,
                None => Box::new(Repeat::new(item, between)),
                Some(times) => {
                    let parts: Vec<Box<dyn Node>> = vec![between, Box::new(Comment::new(times))];
                    Box::new(Repeat::new(item, Sequence::new(parts)))
                }
            };
            if *min == 0 { Box::new(Optional::new(repeated)) } else { repeated }
        }
    }
}

fn sequence(grammar: &Grammar, parts: &[SymbolId]) -> Box<dyn Node> {
    match parts {
        [] => Box::new(Empty),
        [only] => reference(grammar, *only),
        parts => Box::new(Sequence::new(parts.iter().map(|part| reference(grammar, *part)).collect::<Vec<_>>())),
    }
}

/// Counts that the rails do not show.
fn counts(min: u32, max: Option<u32>) -> Option<String> {
    match (min, max) {
        (0 | 1, None) => None,
        (min, None) => Some(format!("at least {min} times")),
        (min, Some(max)) if min == max => Some(format!("{min} times")),
        (0, Some(max)) => Some(format!("at most {max} times")),
        (min, Some(max)) => Some(format!("{min} to {max} times")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
