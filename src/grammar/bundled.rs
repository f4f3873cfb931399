//! The grammars that are compiled in.

/// A grammar that `--grammar NAME` finds without a file.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Its name.
    pub name: &'static str,
    /// What it is a grammar of, in a few words.
    pub summary: &'static str,
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
    ($($name:literal: $summary:literal,)*) => {
        &[$(Bundled {
            name: $name,
            summary: $summary,
            source: include_str!(concat!("../../grammars/", $name, ".ebnf")),
        }),*]
    };
}

/// All of them, by name.
pub const ALL: &[Bundled] = bundled! {
    "assign": "a little language of assignments",
    "c": "C (C11 and GNU C), preprocessed",
    "clojure": "Clojure 1.11",
    "css": "CSS (Syntax Level 3, Selectors 4, nesting)",
    "expr": "arithmetic expressions",
    "find": "command lines of GNU find",
    "graphql": "GraphQL (October 2021): operations and type definitions",
    "grep": "command lines of GNU grep, with their patterns",
    "html": "HTML, as files are written (WHATWG)",
    "javascript": "JavaScript (ECMAScript 2020, class fields)",
    "json": "JSON (RFC 8259)",
    "lua": "Lua 5.3",
    "markdown": "Markdown (CommonMark 0.31.2, what is context-free)",
    "python": "Python 3.12",
    "regex": "regular expressions of JavaScript (ECMAScript 2025)",
    "sql": "SQL (SQLite, the core of PostgreSQL, some of DuckDB)",
    "toml": "TOML 1.0",
    "url": "URLs (RFC 3986), relative ones and those of other letters too",
    "xml": "XML 1.0",
    "yaml": "YAML 1.2, a subset (indentation by even columns)",
};

/// The one of that name.
pub fn find(name: &str) -> Option<&'static Bundled> {
    ALL.iter().find(|bundled| bundled.name == name)
}
