//! What is wrong with the rules of a grammar taken together, and what is likely not meant.

use super::analysis::Analysis;
use super::ast::{Expr, Rule};
use super::diagnostic::{Diagnostic, Severity};
use super::lexicon::Lexicon;
use super::{Kind, Symbol, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// How many rules of a cycle are named.
const NAMED: usize = 5;

/// Each finding once: errors first, then by place.
pub(super) fn in_order(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |finding: &Diagnostic| finding.labels.first().map_or(0, |label| label.span.start);
    findings.sort_by_key(|finding| (finding.severity == Severity::Warning, place(finding)));
    let mut seen = FxHashSet::default();
    findings.retain(|finding| seen.insert((finding.code, place(finding), finding.message.clone())));
    findings
}

/// Rules that derive no finite text by their own fault, not by that of a rule in them.
pub(super) fn unproductive(symbols: &[Symbol], rules: &[Rule], analysis: &Analysis) -> Vec<Diagnostic> {
    let endless = |id: SymbolId| {
        let parts = parts(&symbols[id.index()].kind);
        parts.into_iter().filter(|part| analysis.is_endless(*part)).collect()
    };
    let huge = named(rules).filter(|id| analysis.is_huge(*id)).map(|id| {
        let Rule { name, span, .. } = &rules[id.index()];
        let message = format!("even the shortest text of rule `{name}` is longer than 16 MB");
        Diagnostic::error("count-too-large", message, span.clone(), "").with_help("use smaller counts")
    });
    let at_fault = named(rules).filter(|id| analysis.is_endless(*id) && way_back(*id, endless).is_some());
    at_fault
        .map(|id| {
            let Rule { name, span, .. } = &rules[id.index()];
            let message = format!("rule `{name}` never ends: every alternative leads back to a rule that never ends");
            Diagnostic::error("unproductive-rule", message, span.clone(), "")
                .with_help("give it an alternative without recursion")
        })
        .chain(huge)
        .collect()
}

/// Rules that derive themselves and nothing else, so that a text has any number of derivations.
pub(super) fn cyclic(symbols: &[Symbol], rules: &[Rule], analysis: &Analysis) -> Vec<Diagnostic> {
    let alone = |id: SymbolId| alone(&symbols[id.index()].kind, analysis);
    let mut found = Vec::new();
    let mut reported = FxHashSet::default();
    let circular = circular(symbols.len(), alone);
    for id in named(rules).filter(|id| circular[id.index()] && !analysis.is_endless(*id)) {
        if reported.contains(&id) {
            continue;
        }
        let Some(way) = way_back(id, alone) else { continue };
        reported.extend(way.iter().copied());
        let mut names: Vec<&str> = way.iter().filter_map(|id| symbols[id.index()].name.as_deref()).collect();
        if names.len() > NAMED {
            names.truncate(NAMED);
            names.push("…");
        }
        let Rule { name, span, .. } = &rules[id.index()];
        let message = format!("rule `{name}` derives itself and nothing else: {} → {name}", names.join(" → "));
        let label = "each of its texts has any number of derivations";
        found.push(
            Diagnostic::warning("cyclic-rule", message, span.clone(), label)
                .with_help("remove the alternative that leads back to it without adding a text"),
        );
    }
    found
}

/// Rules that no input has any use for. What stands in an exception is used.
pub(super) fn unreachable(rules: &[Rule], start: SymbolId) -> Vec<Diagnostic> {
    // Where a whole rule cannot be read, it is not known what it uses.
    if rules.iter().any(|rule| matches!(rule.body, Expr::Defect(_))) {
        return Vec::new();
    }
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for (place, rule) in rules.iter().enumerate() {
        places.entry(&rule.name).or_insert(place);
    }
    let skipped = |rule: &Rule| rule.annotations.iter().any(|said| said.word == "skip");
    let mut seen = vec![false; rules.len()];
    let mut open: Vec<usize> = (0..rules.len()).filter(|place| skipped(&rules[*place])).collect();
    open.push(start.index());
    while let Some(place) = open.pop() {
        if !std::mem::replace(&mut seen[place], true) {
            open.extend(rules[place].body.names().filter_map(|name| places.get(name)));
        }
    }
    // A second rule of a name is an error of its own.
    let unseen = rules.iter().enumerate().filter(|(place, rule)| !seen[*place] && places[rule.name.as_str()] == *place);
    unseen
        .map(|(_, rule)| {
            let message = format!("rule `{}` is not reachable from the start", rule.name);
            Diagnostic::warning("unreachable-rule", message, rule.span.clone(), "").with_help(
                "use it in a rule, mark it with @skip if it is white space, or remove it; --start NAME starts elsewhere",
            )
        })
        .collect()
}

/// Tokens that match the same texts, so that there is no telling which one is meant.
pub(super) fn shadowed(symbols: &[Symbol], rules: &[Rule], lexicon: &Lexicon) -> Vec<Diagnostic> {
    let token = |id: &SymbolId| symbols[id.index()].role.token && !symbols[id.index()].role.skip;
    let tokens: Vec<SymbolId> = named(rules).filter(token).collect();
    let same = lexicon.same(&tokens).into_iter();
    same.map(|(first, second)| {
        let (first, second) = (&rules[first.index()], &rules[second.index()]);
        let message = format!("tokens `{}` and `{}` match the same texts", first.name, second.name);
        Diagnostic::warning("shadowed-token", message, second.span.clone(), "where both may stand, the first is taken")
            .with_label(first.span.clone(), "the same here")
            .with_help("use one of them in both places")
    })
    .collect()
}

fn named(rules: &[Rule]) -> impl Iterator<Item = SymbolId> + use<> {
    (0..rules.len() as u32).map(SymbolId)
}

fn parts(kind: &Kind) -> Vec<SymbolId> {
    match kind {
        Kind::Choice(alternatives) => alternatives.iter().flatten().copied().collect(),
        Kind::Repeat { item, separator, min, .. } => {
            separator.iter().filter(|_| *min > 1).chain([item]).copied().collect()
        }
        Kind::Literal(_) | Kind::Set(_) => Vec::new(),
    }
}

/// The parts of which a whole text of the symbol can be made, all others being empty.
fn alone(kind: &Kind, analysis: &Analysis) -> Vec<SymbolId> {
    let nullable = |id: &SymbolId| analysis.nullable.contains(id.index());
    match kind {
        Kind::Choice(alternatives) => {
            let of = |parts: &Vec<SymbolId>| {
                let solid: Vec<usize> = (0..parts.len()).filter(|place| !nullable(&parts[*place])).collect();
                match solid.as_slice() {
                    [] => parts.clone(),
                    [only] => vec![parts[*only]],
                    _ => Vec::new(),
                }
            };
            alternatives.iter().flat_map(of).collect()
        }
        Kind::Repeat { item, separator, min, max } => {
            let mut parts = Vec::new();
            let apart = separator.as_ref().is_none_or(nullable);
            parts.extend((*min <= 1 || nullable(item) && apart).then_some(*item));
            parts.extend(separator.filter(|_| nullable(item) && *min <= 2 && *max != Some(1)));
            parts
        }
        Kind::Literal(_) | Kind::Set(_) => Vec::new(),
    }
}

/// Those from which the steps lead on without end: what they never leave is taken away again and again.
fn circular(symbols: usize, steps: impl Fn(SymbolId) -> Vec<SymbolId>) -> Vec<bool> {
    let mut users = vec![Vec::new(); symbols];
    let mut left = vec![0; symbols];
    for id in (0..symbols as u32).map(SymbolId) {
        let to = steps(id);
        left[id.index()] = to.len();
        to.into_iter().for_each(|to| users[to.index()].push(id.index()));
    }
    let mut ended: Vec<usize> = (0..symbols).filter(|at| left[*at] == 0).collect();
    while let Some(at) = ended.pop() {
        for &user in &users[at] {
            left[user] -= 1;
            if left[user] == 0 {
                ended.push(user);
            }
        }
    }
    left.into_iter().map(|left| left > 0).collect()
}

/// A shortest way from a symbol back to itself by such steps, the symbol first.
fn way_back(start: SymbolId, steps: impl Fn(SymbolId) -> Vec<SymbolId>) -> Option<Vec<SymbolId>> {
    let mut before: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
    let mut level = vec![start];
    while !level.is_empty() {
        let mut next = Vec::new();
        for from in level {
            for to in steps(from) {
                if to == start {
                    let mut way = vec![from];
                    while let Some(earlier) =
                        way.last().filter(|last| **last != start).and_then(|last| before.get(last))
                    {
                        way.push(*earlier);
                    }
                    way.reverse();
                    return Some(way);
                }
                if let Entry::Vacant(unseen) = before.entry(to) {
                    unseen.insert(from);
                    next.push(to);
                }
            }
        }
        level = next;
    }
    None
}
