//! Trees for people and programs to look at.

use super::Tree;
use crate::grammar::Grammar;
use std::fmt::Write;

/// One node a line, indented by depth; leaves with their text.
pub fn to_outline(grammar: &Grammar, tree: &Tree) -> String {
    let mut out = String::new();
    visit(tree, |at, depth| {
        let _ = write!(out, "{:indent$}{}", "", grammar.label(tree.node(at).symbol), indent = 2 * depth);
        if tree.is_leaf(grammar, at) {
            let _ = write!(out, " {:?}", String::from_utf8_lossy(tree.lexeme(at)));
        }
        out.push('\n');
    });
    out
}

/// Nested parentheses: `(expr (term (factor (number "1"))))`.
pub fn to_sexp(grammar: &Grammar, tree: &Tree) -> String {
    let mut out = String::new();
    let mut last = 0;
    visit(tree, |at, depth| {
        if at > 0 {
            out.push_str(&")".repeat(last + 1 - depth));
            out.push(' ');
        }
        last = depth;
        let label = grammar.label(tree.node(at).symbol);
        let plain = label.chars().all(|c| c.is_alphanumeric() || c == '_');
        let _ = if plain { write!(out, "({label}") } else { write!(out, "({label:?}") };
        if tree.is_leaf(grammar, at) {
            let _ = write!(out, " {:?}", String::from_utf8_lossy(tree.lexeme(at)));
        }
    });
    out.push_str(&")".repeat(last + 1));
    out
}

/// Nodes in preorder: `{"nodes":[{"symbol":…,"alternative":…,"start":…,"end":…,"size":…}, …]}`. A flat list, since nested
/// JSON is as deep as the input, and most readers bound the depth. `start` and `end` are byte offsets; `text` is on leaves.
pub fn to_json(grammar: &Grammar, tree: &Tree) -> serde_json::Value {
    let nodes: Vec<serde_json::Value> = (0..tree.len())
        .map(|at| {
            let node = tree.node(at);
            let mut value = serde_json::json!({
                "symbol": grammar.label(node.symbol), "alternative": node.alternative,
                "start": node.start, "end": node.end, "size": node.size,
            });
            if tree.is_leaf(grammar, at) {
                value["skipped"] = node.trivia.into();
                value["text"] = String::from_utf8_lossy(tree.lexeme(at)).into();
            }
            value
        })
        .collect();
    serde_json::json!({ "nodes": nodes })
}

/// A graph for Graphviz.
pub fn to_dot(grammar: &Grammar, tree: &Tree) -> String {
    let mut out = String::from("digraph tree {\n  node [shape=plain];\n");
    let parents = tree.parents();
    for (at, parent) in parents.iter().enumerate() {
        let mut label = grammar.label(tree.node(at).symbol);
        if tree.is_leaf(grammar, at) {
            label = String::from_utf8_lossy(tree.lexeme(at)).into_owned();
        }
        let _ = writeln!(out, "  n{at} [label={}];", quoted(&label));
        if at > 0 {
            let _ = writeln!(out, "  n{parent} -> n{at};");
        }
    }
    out.push_str("}\n");
    out
}

fn quoted(label: &str) -> String {
    let escaped = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// Calls `f` with each place and its depth, in preorder.
fn visit(tree: &Tree, mut f: impl FnMut(usize, usize)) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..tree.len() {
        while open.last().is_some_and(|end| *end <= at) {
            open.pop();
        }
        f(at, open.len());
        open.push(tree.after(at));
    }
}
