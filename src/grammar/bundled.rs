//! The grammars that are compiled in.

use std::path::Path;

/// A grammar that `--grammar NAME` finds without a file.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Its name.
    pub name: &'static str,
    /// What it is a grammar of, in a few words.
    pub summary: &'static str,
    /// How the names of files in its language end.
    pub extensions: &'static [&'static str],
    /// Its text.
    pub source: &'static str,
}

impl Bundled {
    /// The specification that it was written from, as the comment at its head says after `Source:`.
    pub fn origin(&self) -> String {
        let head = self.source.split("*/").next().unwrap_or_default();
        let said = head.split_once("Source:").map_or("", |(_, said)| said);
        let said = said.split("Limits:").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        // The first sentence; what follows says how its names were changed, and the like.
        said.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
    }
}

macro_rules! bundled {
    ($($name:literal: $summary:literal, [$($extension:literal),*];)*) => {
        &[$(Bundled {
            name: $name,
            summary: $summary,
            extensions: &[$($extension),*],
            source: include_str!(concat!("../../grammars/", $name, ".ebnf")),
        }),*]
    };
}

/// All of them, by name.
pub const ALL: &[Bundled] = bundled! {
    "any": "any text, by its brackets, lines and words", [];
    "assign": "a little language of assignments", ["assign"];
    "c": "C (C11 and GNU C), preprocessed", ["c", "h", "i"];
    "clojure": "Clojure 1.11", ["clj", "cljc", "cljs", "edn"];
    "css": "CSS (Syntax Level 3, Selectors 4, nesting)", ["css"];
    "expr": "arithmetic expressions", ["expr"];
    "find": "command lines of GNU find", [];
    "graphql": "GraphQL (October 2021): operations and type definitions", ["graphql", "gql"];
    "grep": "command lines of GNU grep, with their patterns", [];
    "html": "HTML, as files are written (WHATWG)", ["html", "htm"];
    "javascript": "JavaScript (ECMAScript 2020, class fields)", ["js", "mjs", "cjs"];
    "json": "JSON (RFC 8259)", ["json"];
    "lua": "Lua 5.3", ["lua"];
    "markdown": "Markdown (CommonMark 0.31.2, what is context-free)", ["md", "markdown"];
    "python": "Python 3.12", ["py", "pyi"];
    "regex": "regular expressions of JavaScript (ECMAScript 2025)", [];
    "sql": "SQL (SQLite, the core of PostgreSQL, some of DuckDB)", ["sql"];
    "toml": "TOML 1.0", ["toml"];
    "url": "URLs (RFC 3986), relative ones and those of other letters too", [];
    "xml": "XML 1.0", ["xml", "svg", "xsd", "xsl"];
    "yaml": "YAML 1.2, a subset (indentation by even columns)", ["yaml", "yml"];
};

/// The one of that name.
pub fn find(name: &str) -> Option<&'static Bundled> {
    ALL.iter().find(|bundled| bundled.name == name)
}

/// The grammar of the language that a file is likely in, by how its name ends.
pub fn for_file(path: &Path) -> Option<&'static Bundled> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    ALL.iter().find(|bundled| bundled.extensions.contains(&extension.as_str()))
}

/// The grammar that every input is in: `any`.
pub fn any() -> &'static Bundled {
    find("any").unwrap_or(&ALL[0])
}
