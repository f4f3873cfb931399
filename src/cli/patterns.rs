//! Patterns as the command line gives them: files, or texts with holes.

use super::args::{GivenGrammar, GrammarOptions};
use super::{Failure, job};
use ddset::algebra::{Condition, pattern_of};
use ddset::grammar::Grammar;
use ddset::pattern::Pattern;
use std::path::Path;
use std::sync::Arc;

/// Patterns of one grammar, by name.
pub(crate) struct Named {
    pub names: Vec<String>,
    pub patterns: Vec<Pattern>,
}

impl Named {
    /// Each is `NAME=PATTERN`; without a name, it is called by its file, else A, B, C and so on.
    pub(crate) fn of(given: &[String], options: &GrammarOptions) -> Result<Named, Failure> {
        let mut named = Named { names: Vec::new(), patterns: Vec::new() };
        let mut texts = Vec::new();
        for (number, given) in given.iter().enumerate() {
            let (name, what) = match given.split_once('=').filter(|(name, _)| is_name(name)) {
                Some((name, what)) => (Some(name.to_owned()), what),
                None => (None, given.as_str()),
            };
            let path = Path::new(what);
            let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| path.is_file() && is_name(stem));
            let letter = || char::from(b'A' + (number % 26) as u8).to_string();
            let name = name.or(stem.map(str::to_owned)).unwrap_or_else(letter);
            if named.names.contains(&name) {
                return Err(Failure::usage(format!("error: two patterns are called `{name}`: write NAME=PATTERN")));
            }
            named.names.push(name);
            texts.push((path.is_file(), what));
        }
        let files = texts.iter().map(|(is_file, what)| is_file.then(|| read(Path::new(what))).transpose());
        let files = files.collect::<Result<Vec<Option<Pattern>>, Failure>>()?;
        let grammar = grammar(&files, options)?;
        for ((_, text), file) in texts.into_iter().zip(files) {
            named.patterns.push(match file {
                Some(pattern) if pattern.grammar.source() == grammar.source() => {
                    Pattern { grammar: grammar.clone(), ..pattern }
                }
                Some(_) => {
                    let message = format!("error: {text} is a pattern of another grammar: make all with the same one");
                    return Err(Failure::usage(message));
                }
                None => {
                    pattern_of(&grammar, text.as_bytes()).map_err(|error| Failure::usage(format!("error: {error}")))?
                }
            });
        }
        Ok(named)
    }

    pub(crate) fn patterns(&self) -> Vec<&Pattern> {
        self.patterns.iter().collect()
    }

    /// A condition on them.
    pub(crate) fn condition(&self, text: &str) -> Result<Condition, Failure> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Condition::read(text, &names).map_err(|error| Failure::usage(format!("error: {error}")))
    }

    /// Their grammar.
    pub(crate) fn grammar(&self) -> Option<&Arc<Grammar>> {
        self.patterns.first().map(|pattern| &pattern.grammar)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// The grammar that is given, else that of the first file.
fn grammar(files: &[Option<Pattern>], options: &GrammarOptions) -> Result<Arc<Grammar>, Failure> {
    if !options.grammar.is_empty() {
        return Ok(Arc::new(job::grammar(&GivenGrammar::of(options))?));
    }
    let first = files.iter().flatten().next().map(|pattern| pattern.grammar.clone());
    first.ok_or_else(|| Failure::usage("error: a pattern in words needs its grammar: add --grammar G"))
}

/// Whether a file holds a pattern.
pub(crate) fn is_pattern_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json") && path.is_file() && read(path).is_ok()
}

fn read(path: &Path) -> Result<Pattern, Failure> {
    let text = job::read(path)?;
    Pattern::from_json(&String::from_utf8_lossy(&text))
        .map_err(|error| Failure::usage(format!("error: {}: {error}", path.display())))
}
