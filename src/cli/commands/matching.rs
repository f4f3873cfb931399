//! `ddset match`: which inputs have which patterns.

use super::coverage::walked;
use crate::cli::args::{Format, MatchArgs};
use crate::cli::patterns::{Named, is_pattern_file};
use crate::cli::report::quoted;
use crate::cli::{Exit, Failure, job, write_out};
use ddset::algebra::{Condition, Matcher};
use ddset::grammar::Grammar;
use ddset::layout::{Folded, Layout};
use ddset::tree::Tree;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was found in a file.
#[derive(Debug, Serialize)]
struct Found {
    file: String,
    /// Why it is no input of the grammar.
    error: Option<String>,
    occurrences: Vec<Occurred>,
    /// For each pattern that it has not: what is nearest.
    near: Vec<Near>,
    /// Whether the condition holds, if one was given.
    holds: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Occurred {
    pattern: String,
    line: usize,
    column: usize,
    start: usize,
    end: usize,
}

#[derive(Debug, Serialize)]
struct Near {
    pattern: String,
    line: usize,
    column: usize,
    found: String,
    wanted: String,
}

pub(crate) fn run(args: &MatchArgs) -> Result<Exit, Failure> {
    let leading = args.inputs.iter().take_while(|path| is_pattern_file(path)).count();
    let (patterns, files) = args.inputs.split_at(leading);
    let given: Vec<String> =
        args.patterns.iter().cloned().chain(patterns.iter().map(|path| path.display().to_string())).collect();
    if given.is_empty() {
        return Err(Failure::usage(
            "error: no pattern was given: name a pattern.json first, or use -p 'PATTERN' --grammar G",
        ));
    }
    if files.is_empty() {
        return Err(Failure::usage("error: no input was given: name files or folders after the patterns"));
    }
    let named = Named::of(&given, &args.grammar)?;
    let condition = args.condition.as_ref().map(|text| named.condition(text)).transpose()?;
    let files = walked(files, &args.extension)?;
    let found = all(&named, condition.as_ref(), &files)?;
    let text = match (args.format, &condition) {
        (Format::Json, _) => found.iter().map(|found| format!("{}\n", serde_json::json!(found))).collect(),
        (Format::Text, Some(_)) => {
            let holding = found.iter().filter(|found| found.holds == Some(true));
            holding.map(|found| format!("{}\n", found.file)).collect()
        }
        (Format::Text, None) => table(&named, &found),
    };
    write_out(text.as_bytes())?;
    let good = match condition {
        Some(_) => found.iter().any(|found| found.holds == Some(true)),
        None => found.iter().all(|found| !found.occurrences.is_empty()),
    };
    Ok(if good { Exit::Done } else { Exit::DoesNotFail })
}

/// All files, on all processors, in their order.
fn all(named: &Named, condition: Option<&Condition>, files: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut matcher = Matcher::new(&named.patterns());
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(file), Some(matcher)) = (files.get(at), &mut matcher) else { return found };
            found.push((at, one(named, matcher, condition, file)));
        }
    };
    let mut found = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, found)| found).collect()
}

fn one(named: &Named, matcher: &mut Matcher, condition: Option<&Condition>, file: &Path) -> Result<Found, Failure> {
    let input = job::read(file)?;
    let grammar = matcher.grammar().clone();
    let shown = file.display().to_string();
    let mut found = Found { file: shown, error: None, occurrences: Vec::new(), near: Vec::new(), holds: None };
    let (folded, tree) = match parsed(&grammar, &input) {
        Ok(parsed) => parsed,
        Err(error) => {
            found.error = Some(error);
            found.holds = condition.map(|_| false);
            return Ok(found);
        }
    };
    let span = |at: usize| {
        let end = tree.node(at).end as usize;
        let start = end - tree.lexeme(at).len();
        (folded.source_offset(start), folded.source_offset(end))
    };
    let place = |offset: usize| {
        let before = &input[..offset.min(input.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        (line, String::from_utf8_lossy(&before[begin..]).chars().count() + 1)
    };
    let occurrences = matcher.occurrences(&tree);
    for occurrence in &occurrences {
        let (start, end) = span(occurrence.at);
        let (line, column) = place(start);
        let pattern = named.names[occurrence.pattern].clone();
        found.occurrences.push(Occurred { pattern, line, column, start, end });
    }
    for (number, name) in named.names.iter().enumerate() {
        if occurrences.iter().any(|occurrence| occurrence.pattern == number) {
            continue;
        }
        if let Some(near) = matcher.near_miss(number, &tree) {
            let (line, column) = place(span(near.differs).0);
            let text = quoted(tree.lexeme(near.differs));
            found.near.push(Near { pattern: name.clone(), line, column, found: text, wanted: near.wanted });
        }
    }
    found.holds = condition.map(|condition| matcher.holds(condition, &tree));
    Ok(found)
}

fn parsed(grammar: &Grammar, input: &[u8]) -> Result<(Folded, Tree), String> {
    let folded = Layout::of(grammar).fold(input).map_err(|error| error.to_string())?;
    let tree = ddset::parse::parse(grammar, &folded.text).map_err(|error| error.to_string())?;
    Ok((folded, tree))
}

fn table(named: &Named, found: &[Found]) -> String {
    let mut out = String::new();
    for Found { file, error, occurrences, near, .. } in found {
        if let Some(error) = error {
            let _ = writeln!(out, "{file}: is no input of the grammar: {error}");
        } else if occurrences.is_empty() {
            let nearest = near.iter().map(|near| {
                let Near { pattern, line, column, found, wanted } = near;
                format!("; {pattern} but for {line}:{column}, {found} where {wanted} is wanted")
            });
            let _ = writeln!(out, "{file}: none{}", nearest.collect::<String>());
        } else {
            let places = occurrences.iter().map(|o| format!("{} at {}:{}", o.pattern, o.line, o.column));
            let _ = writeln!(out, "{file}: {}", places.collect::<Vec<_>>().join(", "));
        }
    }
    let width = named.names.iter().map(String::len).max().unwrap_or(0).max(4);
    let _ = writeln!(out);
    for name in &named.names {
        let count = found.iter().filter(|found| found.occurrences.iter().any(|o| o.pattern == *name)).count();
        let _ = writeln!(out, "{name:width$}  in {count} of {} files", found.len());
    }
    let none = found.iter().filter(|found| found.error.is_none() && found.occurrences.is_empty()).count();
    let unread = found.iter().filter(|found| found.error.is_some()).count();
    let _ = writeln!(out, "{:width$}  in {none}; {unread} are no inputs of the grammar", "none");
    out
}
