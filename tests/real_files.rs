//! The bundled grammars on files that others wrote: those of `corpora/real-files.toml`, which `corpora/setup.sh files` fetches.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that panics has failed, and its table is for the README"
)]

use ddset::grammar::{Grammar, bundled};
use ddset::layout::Layout;
use ddset::parse::{MEMORY_LIMIT, Parser};
use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The engine of a test build is several times slower than that of a release.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, serde::Deserialize)]
struct List {
    files: Vec<Entry>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Entry {
    grammar: String,
    package: String,
    glob: String,
    exclude: Option<String>,
    parsed: Option<usize>,
    total: Option<usize>,
    at_least: Option<f64>,
}

impl Entry {
    fn folder(&self) -> PathBuf {
        if self.package == "python-stdlib" {
            let path = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
            return printed("python3", &["-c", path]).into();
        }
        let programs = std::env::var_os("DDSET_PROGRAMS").map(PathBuf::from);
        let programs =
            programs.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cache/ddset/programs"));
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' };
        programs.join("files").join(self.package.chars().map(plain).collect::<String>())
    }

    /// The files that are meant, by name.
    fn files(&self) -> Vec<PathBuf> {
        let root = self.folder();
        let (wanted, unwanted) = (matcher(&self.glob), self.exclude.as_deref().map(matcher));
        let mut files = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder);
            let entries =
                entries.unwrap_or_else(|error| panic!("{}: {error}: run corpora/setup.sh files", folder.display()));
            for entry in entries {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                let path = entry.path();
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file()
                    && wanted.is_match(&name)
                    && !unwanted.as_ref().is_some_and(|glob| glob.is_match(&name))
                {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }
}

/// What a program prints, in one line.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// `**/` is any folders, `*` and `?` do not reach over a `/`, `{a,b}` is one of them.
fn matcher(glob: &str) -> Regex {
    let mut regex = "^".to_owned();
    let mut rest = glob;
    while let Some(c) = rest.chars().next() {
        let (taken, written) = match c {
            '*' if rest.starts_with("**/") => (3, "(?:.*/)?".to_owned()),
            '*' if rest.starts_with("**") => (2, ".*".to_owned()),
            '*' => (1, "[^/]*".to_owned()),
            '?' => (1, "[^/]".to_owned()),
            '{' => (1, "(?:".to_owned()),
            '}' => (1, ")".to_owned()),
            ',' => (1, "|".to_owned()),
            c => (c.len_utf8(), regex::escape(&c.to_string())),
        };
        regex.push_str(&written);
        rest = &rest[taken..];
    }
    Regex::new(&(regex + "$")).unwrap()
}

/// Parses on all cores; gives the errors of the files that do not parse, and those that took too long.
fn failures(grammar: &Grammar, files: &[PathBuf]) -> (Vec<String>, Vec<String>) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parser = Parser::new(grammar).with_memory_limit(MEMORY_LIMIT / cores);
    let next = AtomicUsize::new(0);
    let (refused, late) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let input = fs::read(file).unwrap();
                    let began = Instant::now();
                    let input = match Layout::of(grammar).fold(&input) {
                        Ok(folded) => folded.text,
                        Err(error) => {
                            refused.lock().unwrap().push(format!("{}:{}", file.display(), error.diagnostic().message));
                            continue;
                        }
                    };
                    match parser.parse(&input) {
                        Ok(tree) => assert!(tree.text() == input, "{}: the tree spells another text", file.display()),
                        Err(error) => refused.lock().unwrap().push(format!("{}:{error}", file.display())),
                    }
                    if began.elapsed() > LIMIT {
                        late.lock().unwrap().push(format!("{}: {:?}", file.display(), began.elapsed()));
                    }
                }
            });
        }
    });
    let (mut refused, late) = (refused.into_inner().unwrap(), late.into_inner().unwrap());
    refused.sort();
    (refused, late)
}

#[test]
fn real_files_parse() {
    let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/real-files.toml")).unwrap();
    let list: List = toml::from_str(&list).unwrap();
    let mut wrong = Vec::new();
    let mut table: BTreeMap<&str, (usize, usize, Vec<&str>)> = BTreeMap::new();
    for entry in &list.files {
        let bundled = bundled::find(&entry.grammar).unwrap_or_else(|| panic!("there is no grammar {}", entry.grammar));
        let grammar = Grammar::read(bundled.source, None).unwrap();
        let files = entry.files();
        let (refused, late) = failures(&grammar, &files);
        let (parsed, total) = (files.len() - refused.len(), files.len());
        let row = table.entry(&entry.grammar).or_default();
        row.0 += parsed;
        row.1 += total;
        row.2.push(&entry.package);
        let enough = match (entry.parsed, entry.total, entry.at_least) {
            (Some(least), Some(exactly), None) => parsed >= least && total == exactly,
            (None, None, Some(share)) => total > 0 && 100.0 * parsed as f64 >= share * total as f64,
            _ => panic!("{}: either parsed and total, or at-least", entry.package),
        };
        if !enough {
            wrong
                .push(format!("{entry:?}: {parsed} of {total} parse\n{}", refused[..refused.len().min(10)].join("\n")));
        }
        wrong.extend(late);
    }
    println!("| grammar | real files that parse | of the packages |\n| --- | --- | --- |");
    for (grammar, (parsed, total, packages)) in table {
        println!("| {grammar} | {parsed} of {total} | {} |", packages.join(", "));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn globs() {
    assert!(matcher("**/*.css").is_match("a.css") && matcher("**/*.css").is_match("a/b/c.css"));
    assert!(!matcher("*.css").is_match("a/b.css") && !matcher("**/*.css").is_match("a.css.map"));
    assert!(
        matcher("a/**").is_match("a/b/c") && matcher("?.{js,mjs}").is_match("a.mjs") && !matcher("a.c").is_match("abc")
    );
}
