//! `--explain`: what was tried at each part of an input, and what it cost.

use super::report::quoted;
use ddset::abstraction::Trial;
use ddset::layout::Layout;
use ddset::oracle::Outcome;
use ddset::pattern::Pattern;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Examples of each outcome.
const EXAMPLES: usize = 3;

/// A paragraph for each part at which something was tried, in the order of the input.
pub(crate) fn text(pattern: &Pattern, trials: &[Trial]) -> String {
    let layout = Layout::of(&pattern.grammar);
    let mut parts: BTreeMap<usize, Vec<&Trial>> = BTreeMap::new();
    trials.iter().for_each(|trial| parts.entry(trial.at).or_default().push(trial));
    let mut out = String::from("tried:\n");
    for (at, trials) in parts {
        let symbol = pattern.grammar.label(pattern.tree.node(at).symbol);
        let shown = |text: &[u8]| quoted(&layout.unfold(text));
        let _ = writeln!(out, "  {} ({symbol}): {} runs", shown(pattern.tree.lexeme(at)), trials.len());
        for (outcome, verb) in
            [(Outcome::Fail, "fails"), (Outcome::Pass, "does not fail"), (Outcome::Unresolved, "says nothing")]
        {
            let mut texts: Vec<&[u8]> =
                trials.iter().filter(|trial| trial.outcome == outcome).map(|trial| trial.text.as_slice()).collect();
            if texts.is_empty() {
                continue;
            }
            texts.sort_by_key(|text| (text.len(), *text));
            texts.dedup();
            let more = match texts.len().saturating_sub(EXAMPLES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let examples: Vec<String> = texts.into_iter().take(EXAMPLES).map(shown).collect();
            let _ = writeln!(out, "    {verb} with {}{more}", examples.join(", "));
        }
    }
    out
}

/// The same as data.
pub(crate) fn json(pattern: &Pattern, trials: &[Trial]) -> serde_json::Value {
    let layout = Layout::of(&pattern.grammar);
    let shown = |text: &[u8]| String::from_utf8_lossy(&layout.unfold(text)).into_owned();
    let entry = |trial: &Trial| {
        serde_json::json!({
            "part": shown(pattern.tree.lexeme(trial.at)), "symbol": pattern.grammar.label(pattern.tree.node(trial.at).symbol),
            "instead": shown(&trial.text), "outcome": trial.outcome,
        })
    };
    trials.iter().map(entry).collect()
}
