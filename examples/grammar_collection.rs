//! How much of a collection of grammars with examples can be read: `grammar_collection FOLDER [--seconds N] [NAME...]`.
//!
//! Each folder below FOLDER that holds grammar files is one grammar. Its examples are the files in `examples` there, or beside
//! a `desc.xml` above it. Where `desc.xml` has an `<entry-point>`, the grammar starts there, and where it has `<inputs>` with
//! an extension, only such files are examples. An example `X` with a file `X.errors` is not meant to parse, and is counted
//! apart. With NAMEs, only folders whose path holds one of them are read.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, not part of the library")]

use ddset::grammar::Grammar;
use ddset::grammar::diagnostic::Severity;
use ddset::grammar::sources::Sources;
use ddset::parse::Parser;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The bytes that the chart of one example may take.
const MEMORY: usize = 1 << 30;

#[derive(Default)]
struct Totals {
    folders: usize,
    loaded: usize,
    examples: usize,
    parsed: usize,
    slow: usize,
    refused: usize,
    meant: usize,
}

fn main() {
    let mut seconds = 10;
    let mut words = std::env::args().skip(1);
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.next().and_then(|n| n.parse().ok()).unwrap_or(seconds),
            _ => plain.push(word),
        }
    }
    let Some((root, wanted)) = plain.split_first() else {
        eprintln!("usage: grammar_collection FOLDER [--seconds N] [NAME...]");
        std::process::exit(2);
    };
    let root = PathBuf::from(root);
    let mut totals = Totals::default();
    println!("{:<32} {:>6} {:>6} {:>9} {:>8}  first error", "folder", "rules", "load s", "parsed", "KB/s");
    for folder in grammars(&root) {
        let name = folder.strip_prefix(&root).unwrap_or(&folder).display().to_string();
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            totals.folder(&folder, &name, Duration::from_secs(seconds));
        }
    }
    let Totals { folders, loaded, examples, parsed, slow, refused, meant } = totals;
    println!(
        "{loaded} of {folders} folders load, {parsed} of {examples} examples parse ({slow} take too long or too much)"
    );
    println!("{refused} of {meant} examples that are not meant to parse are refused");
    std::process::exit(0);
}

impl Totals {
    fn folder(&mut self, folder: &Path, name: &str, limit: Duration) {
        self.folders += 1;
        let began = Instant::now();
        let found = examples(folder);
        let grammar = load(folder);
        let took = began.elapsed().as_secs_f64();
        let (plain, faulty): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|path| !PathBuf::from(format!("{}.errors", path.display())).exists());
        self.examples += plain.len();
        self.meant += faulty.len();
        let grammar = match grammar {
            Ok(grammar) => Arc::new(grammar),
            Err(message) => {
                return println!(
                    "{name:<32} {:>6} {took:>6.2} {:>4}/{:<4} {:>8}  LOAD {message}",
                    "-",
                    0,
                    plain.len(),
                    "-"
                );
            }
        };
        self.loaded += 1;
        let (mut parsed, mut slowest, mut first) = (0, f64::INFINITY, None);
        for path in &plain {
            let began = Instant::now();
            let size = std::fs::metadata(path).map_or(0, |data| data.len());
            match parse(&grammar, path, limit) {
                Ok(()) => {
                    parsed += 1;
                    slowest = slowest.min(size as f64 / 1000.0 / began.elapsed().as_secs_f64());
                }
                Err(Trouble::Limit(message)) => {
                    self.slow += 1;
                    first = first.or_else(|| Some(format!("{}: {message}", file_name(path))));
                }
                Err(Trouble::Syntax(message)) => {
                    first = first.or_else(|| Some(format!("{}: {message}", file_name(path))));
                }
            }
        }
        self.parsed += parsed;
        self.refused += faulty.iter().filter(|path| parse(&grammar, path, limit).is_err()).count();
        let rules = grammar.rules().count();
        let first = first.unwrap_or_default().replace('\n', " ");
        println!("{name:<32} {rules:>6} {took:>6.2} {parsed:>4}/{:<4} {slowest:>8.0}  {first}", plain.len());
    }
}

enum Trouble {
    Syntax(String),
    Limit(String),
}

/// Parses a file in a thread of its own, which is left behind when the time is over.
fn parse(grammar: &Arc<Grammar>, path: &Path, limit: Duration) -> Result<(), Trouble> {
    let input = std::fs::read(path).map_err(|error| Trouble::Syntax(error.to_string()))?;
    let grammar = Arc::clone(grammar);
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let result = Parser::new(&grammar).with_memory_limit(MEMORY).parse(&input);
        let _ = send.send(result.map(|_| ()).map_err(|error| match error {
            ddset::parse::ParseError::Syntax(_) => Trouble::Syntax(error.to_string()),
            _ => Trouble::Limit(error.to_string()),
        }));
    });
    receive.recv_timeout(limit).unwrap_or_else(|_| Err(Trouble::Limit(format!("more than {limit:?}"))))
}

fn load(folder: &Path) -> Result<Grammar, String> {
    let name = folder.to_string_lossy().into_owned();
    let sources = Sources::open(&[name]).map_err(|error| error.to_string())?;
    let start = entry_point(folder);
    Grammar::load(sources, None, start.as_deref()).map_err(|error| {
        let errors = error.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let place = |offset| {
            error
                .sources
                .locate(offset)
                .map(|(file, at)| (file.name.clone(), file.text[..at].matches('\n').count() + 1))
        };
        let shown = errors.take(3).map(|found| {
            let at = found.labels.first().and_then(|label| place(label.span.start));
            let at = at.map_or(String::new(), |(file, line)| format!(" ({}:{line})", file_name(Path::new(&file))));
            let label = found.labels.first().map_or("", |label| label.text.as_str());
            format!("{}: {}{at} {label}", found.code, found.message)
        });
        shown.collect::<Vec<_>>().join("; ")
    })
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folder itself, and those above it up to one with a description.
fn described(folder: &Path) -> Option<&Path> {
    folder.ancestors().take(3).find(|above| above.join("desc.xml").exists())
}

fn entry_point(folder: &Path) -> Option<String> {
    description(folder, "entry-point")
}

/// What the description of a grammar says in an element.
fn description(folder: &Path, element: &str) -> Option<String> {
    let text = std::fs::read_to_string(described(folder)?.join("desc.xml")).ok()?;
    let (_, rest) = text.split_once(&format!("<{element}>"))?;
    Some(rest.split_once("</")?.0.trim().to_owned())
}

/// All folders below that hold grammar files.
fn grammars(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = entries(&folder);
        if entries.iter().any(|path| path.extension().is_some_and(|extension| extension == "g4")) {
            found.push(folder);
        }
        open.extend(entries.into_iter().filter(|path| path.is_dir() && file_name(path) != "examples"));
    }
    found.sort();
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The example inputs of a grammar, also those in folders below.
fn examples(folder: &Path) -> Vec<PathBuf> {
    let places = [Some(folder), described(folder)].into_iter().flatten().map(|place| place.join("examples"));
    let mut open: Vec<PathBuf> = places.filter(|place| place.is_dir()).take(1).collect();
    let mut found = Vec::new();
    while let Some(place) = open.pop() {
        let (folders, files): (Vec<_>, Vec<_>) = entries(&place).into_iter().partition(|path| path.is_dir());
        open.extend(folders);
        let other = |path: &PathBuf| ["errors", "tree"].iter().any(|kind| path.extension().is_some_and(|e| e == *kind));
        found.extend(files.into_iter().filter(|path| !other(path)));
    }
    if let Some((_, ending)) = description(folder, "inputs").as_deref().and_then(|inputs| inputs.rsplit_once('*')) {
        found.retain(|path| file_name(path).ends_with(ending));
    }
    found.sort();
    found
}
