//! `ddset grammar coverage`

use super::grammar::counted;
use crate::cli::args::{CoverageArgs, Format, GivenGrammar};
use crate::cli::{Exit, Failure, job, write_out};
use ddset::grammar::Grammar;
use ddset::parse::{MEMORY_LIMIT, ParseError, Parser};
use ddset::tree::coverage::{Coverage, RuleCoverage};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn run(args: &CoverageArgs) -> Result<Exit, Failure> {
    let CoverageArgs { grammar, grammar_format, start, .. } = args;
    let given = GivenGrammar { files: vec![grammar.clone()], grammar_format: *grammar_format, start: start.clone() };
    let grammar = job::grammar(&given)?;
    let files = walked(&args.files, &args.extension)?;
    if files.is_empty() {
        return Err(Failure::usage("error: there is no such file: give other folders, or another --extension"));
    }
    let (parsed, coverage) = parse_all(&grammar, &files);
    let rules = coverage.rules(&grammar);
    let text = match args.format {
        Format::Text => text(&parsed, &rules),
        Format::Json => format!("{}\n", json(&args.grammar, &parsed, &rules)),
    };
    write_out(text.as_bytes())?;
    Ok(if parsed.iter().all(|file| file.problem.is_none()) { Exit::Done } else { Exit::Grammar })
}

/// The files, and all below the folders in the order of their names. Links in folders are not followed: they may lead back, or to
/// what is there already.
pub(super) fn walked(paths: &[PathBuf], extensions: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let wanted = |path: &Path| {
        let own = path.extension().and_then(|own| own.to_str()).unwrap_or("");
        extensions.is_empty() || extensions.iter().any(|wanted| wanted.trim_start_matches('.') == own)
    };
    let unreadable = |path: &Path, error| Failure::usage(format!("error: cannot read {}: {error}", path.display()));
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, bool)> = paths.iter().rev().map(|path| (path.clone(), path.is_dir())).collect();
    while let Some((path, is_folder)) = open.pop() {
        if !is_folder {
            if paths.contains(&path) || wanted(&path) {
                found.push(path);
            }
            continue;
        }
        let entries = std::fs::read_dir(&path).map_err(|error| unreadable(&path, error))?;
        let mut inner = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&path, error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&path, error))?;
            if kind.is_dir() || kind.is_file() {
                inner.push((entry.path(), kind.is_dir()));
            }
        }
        inner.sort_unstable_by(|one, other| other.cmp(one));
        open.extend(inner);
    }
    Ok(found)
}

/// What came of one file.
struct Parsed {
    name: String,
    bytes: usize,
    problem: Option<Problem>,
}

enum Problem {
    Unreadable(std::io::Error),
    Unparsed(ParseError),
}

impl Parsed {
    fn of(path: &Path, parser: &Parser<'_>, coverage: &mut Coverage) -> Parsed {
        let name = path.display().to_string();
        let input = match std::fs::read(path) {
            Ok(input) => input,
            Err(error) => return Parsed { name, bytes: 0, problem: Some(Problem::Unreadable(error)) },
        };
        let problem = match parser.parse(&input) {
            Ok(tree) => {
                coverage.add(parser.grammar(), &tree);
                None
            }
            Err(error) => Some(Problem::Unparsed(error)),
        };
        Parsed { name, bytes: input.len(), problem }
    }

    /// In one line, if it does not parse.
    fn line(&self) -> Option<String> {
        Some(match self.problem.as_ref()? {
            Problem::Unreadable(error) => format!("{}: cannot be read: {error}", self.name),
            Problem::Unparsed(ParseError::Syntax(error)) => format!("{}:{error}", self.name),
            Problem::Unparsed(error) => format!("{}: {error}", self.name),
        })
    }
}

/// Parses on all cores; what comes of each file stands in the place of the file.
fn parse_all(grammar: &Grammar, files: &[PathBuf]) -> (Vec<Parsed>, Coverage) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let parser = Parser::new(grammar).with_memory_limit(MEMORY_LIMIT / cores.max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut coverage = Coverage::new(grammar);
        let mut parsed = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(place) else { return (parsed, coverage) };
            parsed.push((place, Parsed::of(file, &parser, &mut coverage)));
        }
    };
    let mut all = Vec::new();
    let mut total = Coverage::new(grammar);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let (parsed, coverage) = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.extend(parsed);
            total.merge(&coverage);
        }
    });
    all.sort_by_key(|(place, _)| *place);
    (all.into_iter().map(|(_, parsed)| parsed).collect(), total)
}

/// Files that parse, and the bytes of all and of these.
fn counts(parsed: &[Parsed]) -> (usize, usize, usize) {
    let good = parsed.iter().filter(|file| file.problem.is_none());
    (good.clone().count(), parsed.iter().map(|file| file.bytes).sum(), good.map(|file| file.bytes).sum())
}

fn text(parsed: &[Parsed], rules: &[RuleCoverage]) -> String {
    let mut out = String::new();
    for line in parsed.iter().filter_map(Parsed::line) {
        let _ = writeln!(out, "{line}");
    }
    let (good, bytes, good_bytes) = counts(parsed);
    let share = 100.0 * good as f64 / parsed.len() as f64;
    let files = counted(parsed.len(), "file");
    let _ = writeln!(out, "parsed: {good} of {files} ({share:.1} %), {good_bytes} of {} bytes", bytes);
    // A rule without a choice is one thing to use.
    let units = |rule: &RuleCoverage| rule.choices.len().max(1);
    let used = |rule: &RuleCoverage| match rule.choices.as_slice() {
        [] => usize::from(rule.used > 0),
        choices => choices.iter().filter(|choice| choice.count > 0).count(),
    };
    let (used, units): (usize, usize) = rules.iter().fold((0, 0), |(a, b), rule| (a + used(rule), b + units(rule)));
    let _ = writeln!(out, "used:   {used} of {units} alternatives and optional parts");
    for rule in rules {
        let never: Vec<&str> =
            rule.choices.iter().filter(|choice| choice.count == 0).map(|choice| choice.label.as_str()).collect();
        if rule.used == 0 {
            let _ = writeln!(out, "never:  {}", rule.rule);
        } else if !never.is_empty() {
            let times = counted(rule.used as usize, "use");
            let _ = writeln!(out, "never:  in {} of {}: {}", times, rule.rule, never.join(" | "));
        }
    }
    out
}

fn json(grammar: &str, parsed: &[Parsed], rules: &[RuleCoverage]) -> Value {
    let failure = |file: &Parsed| {
        let mut value = json!({ "file": file.name, "message": file.line()? });
        if let Some(Problem::Unparsed(ParseError::Syntax(error))) = &file.problem {
            value["line"] = error.line.into();
            value["column"] = error.column.into();
            value["offset"] = error.offset.into();
        }
        Some(value)
    };
    let rule = |rule: &RuleCoverage| {
        let choices: Vec<Value> =
            rule.choices.iter().map(|choice| json!({ "alternative": choice.label, "count": choice.count })).collect();
        json!({ "rule": rule.rule, "used": rule.used, "alternatives": choices })
    };
    let (good, bytes, good_bytes) = counts(parsed);
    json!({
        "grammar": grammar,
        "files": parsed.len(), "parsed": good, "bytes": bytes, "parsed_bytes": good_bytes,
        "failures": parsed.iter().filter_map(failure).collect::<Vec<_>>(),
        "rules": rules.iter().map(rule).collect::<Vec<_>>(),
    })
}
