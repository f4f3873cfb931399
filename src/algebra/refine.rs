//! The product as a grammar in our notation.
//!
//! What the condition does not ask for stays as it was, rule for rule. A rule that is split is called `name.1`, `name.2`, and so on.
//! No ambiguity is added: of two alternatives that are made of one, no derivation is in both.

use super::product::{Arcs, Product};
use crate::grammar::{Grammar, Kind, Role, SymbolId};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A part of a rule that is made.
#[derive(Clone, Debug, PartialEq)]
enum Expr {
    /// No text at all, not even the empty one.
    Never,
    Nothing,
    /// As it is written.
    Written(String),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Star(Box<Expr>),
}

impl Expr {
    fn then(self, next: Expr) -> Expr {
        match (self, next) {
            (Expr::Never, _) | (_, Expr::Never) => Expr::Never,
            (Expr::Nothing, other) | (other, Expr::Nothing) => other,
            (first, second) => {
                let parts = |expr| if let Expr::Sequence(parts) = expr { parts } else { vec![expr] };
                Expr::Sequence(parts(first).into_iter().chain(parts(second)).collect())
            }
        }
    }

    fn any(alternatives: impl IntoIterator<Item = Expr>) -> Expr {
        let mut all: Vec<Expr> = Vec::new();
        for alternative in alternatives {
            let parts = match alternative {
                Expr::Never => continue,
                Expr::Choice(parts) => parts,
                other => vec![other],
            };
            all.extend(
                parts.into_iter().filter(|part| *part == Expr::Nothing || !all.contains(part)).collect::<Vec<_>>(),
            );
        }
        match all.len() {
            0 => Expr::Never,
            1 => all.remove(0),
            _ => Expr::Choice(all),
        }
    }

    fn write(&self, within: bool, out: &mut String) {
        match self {
            Expr::Never => out.push_str("[^#x0-#x10FFFF]"),
            Expr::Nothing => out.push_str("\"\""),
            Expr::Written(text) => out.push_str(text),
            Expr::Star(inner) => {
                inner.write(true, out);
                out.push('*');
            }
            Expr::Sequence(parts) => bracketed(parts, " ", within, out),
            Expr::Choice(parts) => bracketed(parts, " | ", within, out),
        }
    }
}

fn bracketed(parts: &[Expr], between: &str, within: bool, out: &mut String) {
    out.push_str(if within { "(" } else { "" });
    for (number, part) in parts.iter().enumerate() {
        out.push_str(if number > 0 { between } else { "" });
        part.write(true, out);
    }
    out.push_str(if within { ")" } else { "" });
}

/// The grammar of the derivations from the start that are in one of these classes; `None` if there are none.
pub(super) fn written(product: &Product<'_>, accepted: &BTreeSet<u32>) -> Option<String> {
    let grammar = product.grammar;
    let start = grammar.start();
    if accepted.is_empty() {
        return None;
    }
    let mut writer = Writer {
        product,
        rules: IndexMap::new(),
        whole: IndexSet::new(),
        helpers: 0,
        names: grammar.rules().map(|(name, _)| name.to_owned()).collect(),
    };
    let top = writer.some(start, accepted);
    let mut out = String::from("/* EBNF */\n");
    let whole_start = accepted.len() as u32 == product.width(start);
    if !whole_start {
        let name = writer.fresh(&format!("{}.start", grammar.label(start)));
        let mut text = String::new();
        top.write(false, &mut text);
        let _ = writeln!(out, "{name} ::= {text}");
    }
    let mut next = 0;
    let mut made: IndexMap<String, String> = IndexMap::new();
    while let Some((name, of)) = writer.rules.get_index(next).map(|(name, of)| (name.clone(), of.clone())) {
        next += 1;
        let text = match of {
            Made::Split(symbol, class) => writer.definition(symbol, class),
            Made::Helper(expr) => {
                let mut text = format!("{name} ::= ");
                expr.write(false, &mut text);
                text
            }
        };
        made.insert(name, text);
    }
    made.values().for_each(|text| _ = writeln!(out, "{text}"));
    // What is skipped, and what stands for layout, belongs to every grammar.
    let everywhere = grammar.rules().filter(|(_, id)| {
        let Role { skip, mark, .. } = grammar.symbol(*id).role;
        skip || mark.is_some()
    });
    let mut whole = writer.whole;
    whole.extend(everywhere.map(|(_, id)| id));
    out.push_str(&grammar.to_ebnf_of_all(&with_parts(grammar, &whole), whole_start.then_some(start)));
    Some(out)
}

/// All named symbols that these lead to, in the order of the grammar.
fn with_parts(grammar: &Grammar, symbols: &IndexSet<SymbolId>) -> Vec<SymbolId> {
    let mut found = symbols.clone();
    let mut next = 0;
    while let Some(symbol) = found.get_index(next).copied() {
        next += 1;
        found.extend(grammar.kind(symbol).parts());
    }
    grammar.rules().map(|(_, id)| id).filter(|id| found.contains(id)).collect()
}

#[derive(Clone, Debug)]
enum Made {
    /// A class of a symbol.
    Split(SymbolId, u32),
    /// A part of a rule that is too entangled to be written in its place.
    Helper(Expr),
}

struct Writer<'w, 'g> {
    product: &'w Product<'g>,
    /// The rules that are made, by name.
    rules: IndexMap<String, Made>,
    /// Symbols that stand as they are.
    whole: IndexSet<SymbolId>,
    helpers: u32,
    names: IndexSet<String>,
}

impl Writer<'_, '_> {
    fn fresh(&mut self, wanted: &str) -> String {
        let mut name: String = wanted.chars().filter(|c| c.is_ascii_alphanumeric() || "_.-".contains(*c)).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert_str(0, "part");
        }
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// A derivation of the symbol in one of these classes.
    fn some(&mut self, symbol: SymbolId, classes: &BTreeSet<u32>) -> Expr {
        let grammar = self.product.grammar;
        if classes.len() as u32 == self.product.width(symbol) {
            self.whole.insert(symbol);
            let named = grammar.symbol(symbol).name.is_some() || grammar.is_leaf(symbol);
            let label = grammar.label(symbol);
            return Expr::Written(if named { label } else { format!("({label})") });
        }
        let one = |writer: &mut Self, class: u32| match &grammar.symbol(symbol).name {
            None => writer.inline(symbol, class),
            Some(name) => {
                let known =
                    |(_, made): &(&String, &Made)| matches!(made, Made::Split(s, c) if (*s, *c) == (symbol, class));
                let known = writer.rules.iter().find(known).map(|(name, _)| name.clone());
                Expr::Written(known.unwrap_or_else(|| {
                    let name = writer.fresh(&format!("{name}.{}", class + 1));
                    writer.rules.insert(name.clone(), Made::Split(symbol, class));
                    name
                }))
            }
        };
        Expr::any(classes.iter().map(|class| one(self, *class)).collect::<Vec<_>>())
    }

    /// A rule that is a class of a symbol, with the annotations of the whole.
    fn definition(&mut self, symbol: SymbolId, class: u32) -> String {
        let grammar = self.product.grammar;
        let Role { token, identifier, keyword, immediate, .. } = grammar.symbol(symbol).role;
        let words = [(identifier, "identifier"), (keyword, "keyword"), (immediate, "immediate")];
        let mut words: Vec<&str> = words.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
        if token && words.is_empty() {
            words.push("token");
        }
        let mut out = if words.is_empty() { String::new() } else { format!("/*@ {} */\n", words.join(" ")) };
        let made = |made: &Made| matches!(made, Made::Split(s, c) if (*s, *c) == (symbol, class));
        let name = self.rules.iter().find(|(_, of)| made(of)).map_or(String::new(), |(name, _)| name.clone());
        let _ = write!(out, "{name} ::= ");
        self.inline(symbol, class).write(false, &mut out);
        out
    }

    fn inline(&mut self, symbol: SymbolId, class: u32) -> Expr {
        let grammar = self.product.grammar;
        if grammar.is_leaf(symbol) {
            return self.leaf(symbol, class);
        }
        match grammar.kind(symbol) {
            Kind::Repeat { .. } => self.repetition(symbol, class),
            _ => {
                let begins = self.product.begins.get(&symbol).cloned().unwrap_or_default();
                let mut known = FxHashMap::default();
                Expr::any(begins.into_iter().map(|at| self.path(at, class, &mut known)).collect::<Vec<_>>())
            }
        }
    }

    /// A token's texts, or all others.
    fn leaf(&mut self, symbol: SymbolId, class: u32) -> Expr {
        let product = self.product;
        let texts = product.automaton.texts(symbol);
        let mut automaton = product.automaton.clone();
        let class_of = |state| product.classes[symbol.index()].get(&state).copied();
        let other = class_of(automaton.leaf(symbol, None)) == Some(class);
        let (inside, outside): (Vec<_>, Vec<_>) =
            texts.into_iter().partition(|text| class_of(automaton.leaf(symbol, Some(text))) == Some(class));
        let quoted = |texts: &[Vec<u8>]| {
            texts.iter().map(|text| crate::grammar::quoted_text(text)).collect::<Vec<_>>().join(" | ")
        };
        if !other {
            return Expr::Written(format!("({})", quoted(&inside)));
        }
        self.whole.insert(symbol);
        Expr::Written(format!("({} - ({}))", product.grammar.label(symbol), quoted(&outside)))
    }

    /// What may stand from a place of a choice on, so that the whole is in the class.
    fn path(&mut self, at: usize, class: u32, known: &mut FxHashMap<u32, Expr>) -> Expr {
        let product = self.product;
        if let Some(expr) = known.get(&product.place_classes[at]) {
            return expr.clone();
        }
        let (place, arcs) = (product.places.get_index(at).map(|(place, _)| *place), &product.places[at]);
        let found = match (place, &arcs.next) {
            (Some(place), None) => match arcs.end {
                Some(state) if product.classes[place.symbol.index()].get(&state) == Some(&class) => Expr::Nothing,
                _ => Expr::Never,
            },
            _ => {
                let groups = self.groups(arcs);
                let all = groups.into_iter().map(|(to, part, classes)| {
                    let rest = self.path(to, class, known);
                    if rest == Expr::Never { Expr::Never } else { self.some(part, &classes).then(rest) }
                });
                Expr::any(all.collect::<Vec<_>>())
            }
        };
        known.insert(product.place_classes[at], found.clone());
        found
    }

    /// The next part's classes, together where they lead to the same.
    fn groups(&self, arcs: &Arcs) -> Vec<(usize, SymbolId, BTreeSet<u32>)> {
        let product = self.product;
        let Some((part, arcs)) = &arcs.next else { return Vec::new() };
        let mut groups: IndexMap<u32, (usize, SymbolId, BTreeSet<u32>)> = IndexMap::new();
        for (state, to) in arcs {
            let group = groups.entry(product.place_classes[*to]).or_insert_with(|| (*to, *part, BTreeSet::new()));
            group.2.extend(product.classes[part.index()].get(state));
        }
        groups.into_values().collect()
    }

    /// A repetition, as a regular expression over its items if no two of its places lead to each other, else as rules.
    fn repetition(&mut self, symbol: SymbolId, class: u32) -> Expr {
        let Some(begin) = self.product.begins.get(&symbol).and_then(|begins| begins.first()).copied() else {
            return Expr::Never;
        };
        // Places by class, with what leads from each to which.
        let mut rows: IndexMap<u32, (bool, Vec<(Expr, usize)>)> = IndexMap::new();
        let mut open = vec![begin];
        while let Some(at) = open.pop() {
            let class_at = self.product.place_classes[at];
            if rows.contains_key(&class_at) {
                continue;
            }
            let (ends, arcs) = self.items(at, class);
            open.extend(arcs.iter().map(|(_, to)| *to));
            rows.insert(class_at, (ends, arcs));
        }
        let class_of = |at: usize| self.product.place_classes[at];
        let mut order: Vec<u32> = Vec::new();
        let mut left: Vec<u32> = rows.keys().copied().collect();
        while let Some(at) = left.iter().position(|class| {
            rows[class].1.iter().all(|(_, to)| class_of(*to) == *class || order.contains(&class_of(*to)))
        }) {
            order.push(left.remove(at));
        }
        if left.is_empty() {
            let mut made: FxHashMap<u32, Expr> = FxHashMap::default();
            for class in order {
                let (ends, arcs) = &rows[&class];
                let (loops, on): (Vec<_>, Vec<_>) = arcs.iter().partition(|(_, to)| class_of(*to) == class);
                let again = Expr::any(loops.into_iter().map(|(expr, _)| expr.clone()));
                let rest = on.into_iter().map(|(expr, to)| expr.clone().then(made[&class_of(*to)].clone()));
                let rest = Expr::any(rest.chain(ends.then_some(Expr::Nothing)));
                made.insert(class, if again == Expr::Never { rest } else { Expr::Star(Box::new(again)).then(rest) });
            }
            return made.remove(&class_of(begin)).unwrap_or(Expr::Never);
        }
        let names: FxHashMap<u32, String> = rows
            .keys()
            .map(|class| {
                self.helpers += 1;
                (*class, format!("list.{}", self.helpers))
            })
            .collect();
        let names: FxHashMap<u32, String> = names.into_iter().map(|(class, name)| (class, self.fresh(&name))).collect();
        for (class, (ends, arcs)) in &rows {
            let on = arcs.iter().map(|(expr, to)| {
                let to = self.product.place_classes[*to];
                expr.clone().then(Expr::Written(names[&to].clone()))
            });
            let body = Expr::any(on.chain(ends.then_some(Expr::Nothing)));
            self.rules.insert(names[class].clone(), Made::Helper(body));
        }
        Expr::Written(names[&self.product.place_classes[begin]].clone())
    }

    /// The items that may come next in a repetition, each with the separator before it; and whether the class allows the end.
    fn items(&mut self, at: usize, class: u32) -> (bool, Vec<(Expr, usize)>) {
        let product = self.product;
        let Some((place, arcs)) = product.places.get_index(at) else { return (false, Vec::new()) };
        let ends = arcs.end.and_then(|state| product.classes[place.symbol.index()].get(&state)) == Some(&class);
        let mut found = Vec::new();
        for (to, part, classes) in self.groups(arcs) {
            if !place.after_item {
                found.push((self.some(part, &classes), to));
                continue;
            }
            for (after, item, item_classes) in self.groups(&product.places[to]) {
                found.push((self.some(part, &classes).then(self.some(item, &item_classes)), after));
            }
        }
        (ends, found)
    }
}
