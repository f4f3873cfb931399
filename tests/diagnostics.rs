//! Each kind of finding has a page in `docs/diagnostics`, whose example gives it.

use ddset::grammar::diagnostic::{Diagnostic, Severity};
use ddset::grammar::sources::Sources;
use ddset::grammar::{Format, Grammar};
use ddset::parse::parse;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Those whose example would take gigabytes.
const WITHOUT_EXAMPLE: [&str; 2] = ["input-too-large", "input-too-long"];

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The codes that the library makes findings with: `Diagnostic::error("code", …` and the like.
fn codes() -> BTreeSet<String> {
    let made = Regex::new(r#"(?:\b\w*(?:error|warning|problem)\(|\bcode:)\s*"([a-z][a-z0-9-]*)"\s*,"#).unwrap();
    let mut codes = BTreeSet::new();
    let mut folders = vec![root("src/grammar"), root("src/parse")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                codes.extend(made.captures_iter(&text).map(|found| found[1].to_owned()));
            }
        }
    }
    assert!(codes.contains("undefined-name") && codes.contains("input-syntax"), "{codes:?}");
    codes
}

/// The pages by code.
fn pages() -> BTreeMap<String, String> {
    let files = fs::read_dir(root("docs/diagnostics")).unwrap().map(|entry| entry.unwrap().path());
    let page =
        |path: PathBuf| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap());
    files.map(page).filter(|(name, _)| name != "README").collect()
}

/// The fenced blocks of a page: what stands behind the fence, and the text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").collect::<Vec<_>>();
    fenced.chunks(2).filter_map(|pair| pair.get(1)?.split_once('\n')).collect()
}

/// What is found in a page's example: a grammar in the notation that its fence names, and an input if there is one.
fn findings(code: &str, page: &str) -> Vec<Diagnostic> {
    let blocks = blocks(page);
    let (fence, grammar) =
        blocks.iter().find(|(fence, _)| *fence != "text").unwrap_or_else(|| panic!("{code}: no example"));
    let (notation, start) =
        fence.split_once(" start=").map_or((*fence, None), |(notation, start)| (notation, Some(start)));
    let known =
        || Format::ALL.iter().find(|(_, name)| *name == notation).unwrap_or_else(|| panic!("{code}: {notation}?"));
    let format = (notation != "unknown").then(|| known().0);
    let grammar = match Grammar::load(Sources::of("example", *grammar), format, start) {
        Ok(grammar) => grammar,
        Err(error) => return error.diagnostics,
    };
    match blocks.iter().find(|(fence, _)| *fence == "input") {
        Some((_, input)) => vec![parse(&grammar, input.as_bytes()).unwrap_err().diagnostic()],
        None => grammar.warnings().to_vec(),
    }
}

#[test]
fn each_code_has_a_page_and_each_page_a_code() {
    let pages = pages();
    assert_eq!(codes(), pages.keys().cloned().collect());
    let index = fs::read_to_string(root("docs/diagnostics/README.md")).unwrap();
    for (code, page) in pages {
        assert!(page.starts_with(&format!("# {code}\n\n")), "{code}: the page begins with something else");
        assert!(index.contains(&format!("[{code}]({code}.md)")), "{code}: not in the index");
    }
}

#[test]
fn examples_give_the_code_with_the_message_shown() {
    for (code, page) in pages() {
        if WITHOUT_EXAMPLE.contains(&code.as_str()) {
            continue;
        }
        let findings = findings(&code, &page);
        let found = findings.iter().filter(|finding| finding.code == code);
        let titles: Vec<String> = found
            .map(|finding| {
                let severity = if finding.severity == Severity::Error { "error" } else { "warning" };
                format!("{severity}[{code}]: {}", finding.message)
            })
            .collect();
        assert!(!titles.is_empty(), "{code}: its example gives {findings:?}");
        let blocks = blocks(&page);
        let (_, shown) =
            blocks.iter().find(|(fence, _)| *fence == "text").unwrap_or_else(|| panic!("{code}: no message"));
        assert!(
            titles.iter().any(|title| shown.starts_with(title)),
            "{code}: shown is\n{shown}\nbut it says {titles:?}"
        );
    }
}
