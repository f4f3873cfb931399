//! Which module may know which. The table is the architecture; what it does not list is not allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each module of the library, and the ones that it may import. A module may always import itself.
///
/// Two columns that meet in `reduce` and `abstraction`: what an input is (`grammar`, `tree`, …), and what a run says (`oracle`,
/// `search`), which knows bytes only. A pattern carries what was learned of validity, and makes its instances with `generate`.
const MAY_IMPORT: [(&str, &[&str]); 12] = [
    ("grammar", &[]),
    ("tree", &["grammar"]),
    ("parse", &["grammar", "tree"]),
    ("generate", &["grammar", "tree"]),
    ("layout", &["grammar", "oracle"]),
    ("algebra", &["generate", "grammar", "layout", "parse", "pattern", "tree"]),
    ("pattern", &["generate", "grammar", "layout", "tree"]),
    ("oracle", &[]),
    ("search", &["oracle"]),
    ("session", &["oracle", "search"]),
    ("reduce", &["grammar", "oracle", "search", "tree"]),
    ("abstraction", &["generate", "grammar", "oracle", "pattern", "search", "tree"]),
];

/// What a library must not do: print, or end the process.
const FORBIDDEN: [&str; 6] = ["println!", "eprintln!", "print!", "eprint!", "dbg!", "process::exit"];

struct Source {
    path: PathBuf,
    /// The module below the crate's root that it belongs to.
    module: String,
    /// The text without comments and without what is compiled for tests only.
    code: String,
}

/// All sources of the library. Tests are left out: they may use whatever makes an example.
fn library() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let within = path.strip_prefix(&root).unwrap().to_owned();
            let module = within.components().next().unwrap().as_os_str().to_str().unwrap();
            let module = module.trim_end_matches(".rs").to_owned();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if ["cli", "main", "lib"].contains(&module.as_str()) || name == "tests" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let code = code(&std::fs::read_to_string(&path).unwrap());
                sources.push(Source { path, module, code });
            }
        }
    }
    assert!(sources.len() > 40, "sources are read from the wrong folder: {} found", sources.len());
    sources
}

/// The text up to the tests at its end, without comments.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").filter(|at| text[*at..].lines().nth(1).is_some_and(|l| l.ends_with('{')));
    let lines = text[..end.unwrap_or(text.len())].lines();
    lines.map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The modules that `crate::…` paths name, also those in groups: `use crate::{grammar::Grammar, tree};`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(heads(group)),
            None => found.extend(word(rest)),
        }
    }
    found
}

/// The first word of each member of a group that was opened.
fn heads(group: &str) -> Vec<String> {
    let (mut depth, mut heads, mut begins) = (0, Vec::new(), true);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !char.is_whitespace() => {
                heads.extend(word(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    heads
}

fn word(text: &str) -> Option<String> {
    let word: String = text.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
    Some(word).filter(|word| !word.is_empty())
}

#[test]
fn imports_run_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.into_iter().collect();
    let mut wrong = Vec::new();
    for Source { path, module, code } in library() {
        let Some(allowed) = allowed.get(module.as_str()) else {
            wrong.push(format!("{}: the module `{module}` is not in the table", path.display()));
            continue;
        };
        for import in imports(&code).into_iter().filter(|import| *import != module) {
            if !allowed.contains(&import.as_str()) {
                wrong.push(format!("{}: `{module}` must not import `{import}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A permission that nothing uses would let a dependency creep in unseen.
#[test]
fn the_table_allows_no_more_than_is_used() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Source { module, code, .. } in library() {
        used.entry(module).or_default().extend(imports(&code));
    }
    for (module, allowed) in MAY_IMPORT {
        let used = used.get(module).unwrap_or_else(|| panic!("there is no module `{module}`"));
        let unused: Vec<_> = allowed.iter().filter(|import| !used.contains(**import)).collect();
        assert!(unused.is_empty(), "`{module}` does not import {unused:?}");
    }
}

#[test]
fn the_library_neither_prints_nor_exits() {
    for Source { path, code, .. } in library() {
        for forbidden in FORBIDDEN {
            assert!(!code.contains(forbidden), "{}: {forbidden}", path.display());
        }
    }
}

#[test]
fn imports_are_found_in_every_form() {
    let code = "use crate::tree::{self, Tree};\nuse crate::{\n    grammar::{Grammar, SymbolId},\n    oracle,\n};\nlet x: crate::parse::Parser;";
    assert_eq!(imports(code).into_iter().collect::<Vec<_>>(), ["grammar", "oracle", "parse", "tree"]);
}
