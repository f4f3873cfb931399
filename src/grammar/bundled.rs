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
    "expr": "arithmetic expressions",
    "javascript": "JavaScript (ECMAScript 2020, class fields)",
    "json": "JSON (RFC 8259)",
    "lua": "Lua 5.3",
    "python": "Python 3.12",
};

/// The one of that name.
pub fn find(name: &str) -> Option<&'static Bundled> {
    ALL.iter().find(|bundled| bundled.name == name)
}
