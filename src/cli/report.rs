//! Results in words and as JSON.

use ddset::layout::Layout;
use ddset::pattern::{Filling, Hole, Pattern};
use ddset::search::{Counts, Search};
use std::fmt::Write;

/// How many reasons and undecided parts are shown.
const SHOWN: usize = 5;
/// How many holes are told with their counts.
const HOLES: usize = 12;
/// How long a quoted part may be.
const QUOTED: usize = 60;

/// The runs by what they were for: `118 runs: 14 to reduce, 104 to abstract`.
pub(crate) fn runs(search: &Search<'_>) -> String {
    let phases: Vec<String> =
        search.phases().iter().map(|(phase, counts)| format!("{} {phase}", counts.total())).collect();
    let replayed = match search.replayed() {
        0 => String::new(),
        n => format!(", {n} of them known from before"),
    };
    format!("{} runs{replayed} ({})", search.runs(), phases.join(", "))
}

/// The same as data.
pub(crate) fn runs_json(search: &Search<'_>) -> serde_json::Value {
    let phases: serde_json::Map<String, serde_json::Value> = search
        .phases()
        .iter()
        .map(|(phase, Counts { fail, pass, unresolved })| {
            let counts = serde_json::json!({ "fail": fail, "pass": pass, "unresolved": unresolved });
            ((*phase).to_owned(), counts)
        })
        .collect();
    serde_json::json!({
        "total": search.runs(), "replayed": search.replayed(), "phases": phases,
        "known": search.hits(), "known_share": known_share(search),
        "jobs": search.jobs(), "wasted": search.wasted(), "per_second": per_second(search),
    })
}

/// How the runs went: `2 jobs, 19 runs a second, 3 more wasted; 44 questions (46 %) needed no run`.
pub(crate) fn pace(search: &Search<'_>) -> String {
    let jobs = match search.jobs() {
        1 => "1 job".to_owned(),
        jobs => format!("{jobs} jobs"),
    };
    let wasted = match search.wasted() {
        0 => String::new(),
        wasted => format!(", {wasted} more wasted (run ahead and not needed)"),
    };
    let (rate, share) = (per_second(search), 100.0 * known_share(search));
    format!("{jobs}, {rate:.1} runs a second{wasted}; {} questions ({share:.0} %) needed no run", search.hits())
}

/// The share of questions that were answered by what was known.
fn known_share(search: &Search<'_>) -> f64 {
    search.hits() as f64 / (search.hits() + search.runs()).max(1) as f64
}

fn per_second(search: &Search<'_>) -> f64 {
    (search.runs() - search.replayed()) as f64 / search.elapsed().as_secs_f64().max(0.001)
}

/// What supports a pattern, what its holes are, and why the rest is as it is.
pub(crate) fn evidence(pattern: &Pattern, wanted: u32, ended_early: bool) -> String {
    let mut out = String::new();
    let evidence = pattern.evidence;
    if ended_early {
        out.push_str("not verified: the search ended early, and little may be known of the remaining parts\n");
    } else if pattern.holes.is_empty() {
        out.push_str("no part of it could be abstracted: every part matters, or nothing could be found out\n");
    } else {
        let all = evidence.failed + evidence.passed + evidence.unresolved;
        let _ = writeln!(
            out,
            "verified: {} of {} valid inputs failed, all holes varied at once ({} tried, {} of them invalid)",
            evidence.failed,
            evidence.failed + evidence.passed,
            all,
            evidence.unresolved
        );
        if evidence.failed > 0 {
            let _ = writeln!(
                out,
                "          so at least {:.1} % of the valid inputs of this generator fail, with 95 % confidence",
                100.0 * evidence.bound()
            );
        }
        if evidence.failed < wanted && !evidence.exhausted {
            let _ = writeln!(
                out,
                "          {wanted} were wanted: too many inputs were invalid, or the search was cut short"
            );
        }
        if evidence.exhausted {
            out.push_str("          no more distinct inputs were found: the pattern has few\n");
        }
    }
    for (number, hole) in pattern.holes.iter().enumerate().take(HOLES) {
        let places = match hole.members.len() {
            1 => String::new(),
            places => format!(", at {places} places"),
        };
        let Hole { failed, unresolved, .. } = hole;
        let label = pattern.label(number);
        let _ = writeln!(out, "hole:     <{label}>{places}: {failed} failing inputs, {unresolved} invalid ones");
    }
    if pattern.holes.iter().any(|hole| hole.rarely_valid) {
        out.push_str(
            "          where most texts are invalid, `ddset generate` leaves the text (or give it --rarely-valid)\n",
        );
    }
    if pattern.free_space {
        out.push_str("space:    white space makes no difference\n");
    }
    for (part, instead) in reasons(pattern) {
        let _ = writeln!(out, "concrete: fails with {part}, not with {instead}");
    }
    for (part, label) in undecided(pattern) {
        let _ =
            writeln!(out, "open:     {part} ({label}): no valid replacement was found that says whether it matters");
    }
    out
}

/// The innermost concrete parts for which a replacement is known that makes the input pass: one for each text.
fn reasons(pattern: &Pattern) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = Vec::new();
    let mut parts: Vec<&ddset::pattern::Reason> = pattern.reasons.iter().filter(|reason| reason.at != 0).collect();
    parts.sort_by_key(|reason| (pattern.tree.lexeme(reason.at).len(), reason.at));
    for reason in parts {
        let entry = (quoted(&lexeme(pattern, reason.at)), quoted(&laid_out(pattern, &reason.passes_with)));
        if !told.iter().any(|known| known.0 == entry.0) {
            told.push(entry);
        }
    }
    told.truncate(SHOWN);
    told
}

fn undecided(pattern: &Pattern) -> Vec<(String, String)> {
    let entry = |at: &usize| (quoted(&lexeme(pattern, *at)), pattern.grammar.label(pattern.tree.node(*at).symbol));
    pattern.undecided.iter().map(entry).take(SHOWN).collect()
}

/// A part of the pattern's input as its readers see it.
fn lexeme(pattern: &Pattern, at: usize) -> Vec<u8> {
    laid_out(pattern, pattern.tree.lexeme(at))
}

fn laid_out(pattern: &Pattern, folded: &[u8]) -> Vec<u8> {
    Layout::of(&pattern.grammar).unfold(folded).into_owned()
}

/// Text in backquotes, shortened, on one line.
pub(crate) fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace('\n', "\\n");
    if text.is_empty() {
        return "nothing".to_owned();
    }
    if text.chars().count() <= QUOTED {
        return format!("`{text}`");
    }
    let begin: String = text.chars().take(QUOTED).collect();
    format!("`{begin}…`")
}

/// A pattern and its evidence as data.
pub(crate) fn pattern_json(pattern: &Pattern) -> serde_json::Value {
    let layout = Layout::of(&pattern.grammar);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let holes: Vec<serde_json::Value> = pattern
        .holes
        .iter()
        .enumerate()
        .map(|(number, hole)| {
            let node = pattern.tree.node(hole.members[0]);
            let kind = match &hole.filling {
                Filling::Any => "any",
                Filling::Same => "same",
                Filling::OneOf(_) => "one of",
            };
            let words = match &hole.filling {
                Filling::OneOf(words) => Some(words.iter().map(|word| text(word.lexeme(0))).collect::<Vec<_>>()),
                _ => None,
            };
            let places: Vec<(usize, usize)> = hole
                .members
                .iter()
                .map(|at| {
                    let end = pattern.tree.node(*at).end as usize;
                    let begin = end - pattern.tree.lexeme(*at).len();
                    let place = layout.unfolded_range(pattern.tree.text(), begin..end);
                    (place.start, place.end)
                })
                .collect();
            serde_json::json!({
                "symbol": pattern.grammar.label(node.symbol), "kind": kind, "words": words, "failed": hole.failed,
                "label": pattern.label(number), "unresolved": hole.unresolved, "rarely_valid": hole.rarely_valid,
                "places": places, "text": text(&lexeme(pattern, hole.members[0])),
            })
        })
        .collect();
    let mut reasons: Vec<serde_json::Value> = Vec::new();
    for reason in &pattern.reasons {
        let (part, instead) = (text(&lexeme(pattern, reason.at)), text(&laid_out(pattern, &reason.passes_with)));
        let entry = serde_json::json!({ "part": part, "passes_with": instead });
        if !reasons.contains(&entry) {
            reasons.push(entry);
        }
    }
    let undecided: Vec<String> = pattern.undecided.iter().map(|at| text(&lexeme(pattern, *at))).collect();
    serde_json::json!({
        "pattern": text(&pattern.text()),
        "input": text(&laid_out(pattern, pattern.tree.text())),
        "holes": holes,
        "evidence": {
            "failed": pattern.evidence.failed, "passed": pattern.evidence.passed,
            "unresolved": pattern.evidence.unresolved, "exhausted": pattern.evidence.exhausted,
            "bound": pattern.evidence.bound(),
        },
        "concrete": reasons,
        "undecided": undecided,
        "free_space": pattern.free_space,
    })
}

/// What a reduction came to.
pub(crate) fn reduction(before: usize, after: usize, proven: bool) -> String {
    let share = if before == 0 { 0.0 } else { 100.0 * (1.0 - after as f64 / before as f64) };
    let proof = if proven { ", and no single step makes it smaller (1-tree-minimal)" } else { "; not proven minimal" };
    format!("reduced: {before} to {after} bytes, {share:.0} % less{proof}")
}
