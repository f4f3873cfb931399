//! The grammars of *The Fuzzing Book* and of DDSet as JSON: `{"<start>": [["<a>", "x"], "y <b>"]}`.
//!
//! An alternative is a list of tokens, or one text with names in it. What stands in angle brackets is a name if a rule has it,
//! and text otherwise: there is no other way to write a `<`.

use super::losses::{Loss, Losses};
use crate::grammar::ast::{Annotation, Document, Expr, Rule, Span};
use crate::grammar::diagnostic::Diagnostic;
use indexmap::IndexMap;
use serde_json::Value;

const TEXT: Loss = Loss {
    code: "name-taken-as-text",
    one: "name in angle brackets has no rule, and is taken as text",
    many: "names in angle brackets have no rule, and are taken as text",
    help: "if a rule is meant, define it",
};

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let whole: IndexMap<String, Value> =
        serde_json::from_str(source).map_err(|error| vec![super::json_error(source, &error)])?;
    let (start, rules) = match whole.get("[grammar]") {
        Some(rules) => {
            let rules = ordered(source, rules).map_err(|problem| vec![problem])?;
            (whole.get("[start]").and_then(Value::as_str).map(str::to_owned), rules)
        }
        None => (None, whole),
    };
    let mut reader = Reader { source, rules: &rules, losses: Losses::default() };
    let mut document = Document::default();
    let mut problems = Vec::new();
    let mut after = source.find("\"[grammar]\"").unwrap_or(0);
    for (key, alternatives) in &rules {
        let span = reader.key(key, after);
        after = span.end.max(after);
        match reader.alternatives(alternatives, &span) {
            Ok(body) => {
                let is_start = start.as_ref() == Some(key) || start.is_none() && key == "<start>";
                let annotations = is_start.then(|| Annotation::new("start", span.clone())).into_iter().collect();
                document.rules.push(Rule { name: name(key), span, annotations, body });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(start) = start.filter(|start| !rules.contains_key(start)) {
        let place = reader.place(&start);
        problems.push(Diagnostic::error(
            "undefined-start",
            format!("there is no rule `{start}` to start at"),
            place,
            "",
        ));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    document.warnings = reader.losses.warnings();
    Ok(document)
}

/// The rules in the order in which they are written, which a JSON value has lost.
fn ordered(source: &str, rules: &Value) -> Result<IndexMap<String, Value>, Diagnostic> {
    #[derive(serde::Deserialize)]
    struct Whole {
        #[serde(rename = "[grammar]")]
        rules: IndexMap<String, Value>,
    }
    let whole: Result<Whole, _> = serde_json::from_str(source);
    whole.map(|whole| whole.rules).map_err(|error| {
        let _ = rules;
        super::json_error(source, &error)
    })
}

struct Reader<'a> {
    source: &'a str,
    rules: &'a IndexMap<String, Value>,
    losses: Losses,
}

impl Reader<'_> {
    fn alternatives(&mut self, alternatives: &Value, span: &Span) -> Result<Expr, Diagnostic> {
        let Value::Array(alternatives) = alternatives else {
            return Err(malformed(span, "the alternatives of a rule are a list"));
        };
        alternatives
            .iter()
            .map(|alternative| self.alternative(alternative, span))
            .collect::<Result<_, _>>()
            .map(Expr::choice)
    }

    fn alternative(&mut self, alternative: &Value, span: &Span) -> Result<Expr, Diagnostic> {
        match alternative {
            Value::String(text) => Ok(self.embedded(text, span)),
            Value::Array(tokens) => match tokens.as_slice() {
                // A text with options, which say with what probability it is taken.
                [Value::String(text), Value::Object(_)] => Ok(self.embedded(text, span)),
                tokens => tokens
                    .iter()
                    .map(|token| match token {
                        Value::String(token) => Ok(self.token(token, span)),
                        _ => Err(malformed(span, "a token is a text")),
                    })
                    .collect::<Result<_, _>>()
                    .map(Expr::sequence),
            },
            _ => Err(malformed(span, "an alternative is a text or a list of texts")),
        }
    }

    fn token(&mut self, token: &str, span: &Span) -> Expr {
        if self.rules.contains_key(token) {
            return Expr::Name(name(token), span.clone());
        }
        if is_name(token) {
            let place = self.place(token);
            self.losses.note(&TEXT, place);
        }
        Expr::Text(token.to_owned())
    }

    /// A text with names in it.
    fn embedded(&mut self, text: &str, span: &Span) -> Expr {
        let mut parts = Vec::new();
        let mut plain = 0;
        let mut at = 0;
        while let Some(begin) = text[at..].find('<').map(|found| at + found) {
            // The name is the shortest there is: `<<a>` is a `<` and a name.
            let Some(end) = text[begin..].find('>').map(|found| begin + found + 1) else { break };
            let begin = text[begin..end].rfind('<').map_or(begin, |last| begin + last);
            let token = &text[begin..end];
            if self.rules.contains_key(token) {
                if begin > plain {
                    parts.push(Expr::Text(text[plain..begin].to_owned()));
                }
                parts.push(Expr::Name(name(token), span.clone()));
                plain = end;
            } else if is_name(token) {
                let place = self.place(token);
                self.losses.note(&TEXT, place);
            }
            at = end;
        }
        if plain < text.len() {
            parts.push(Expr::Text(text[plain..].to_owned()));
        }
        Expr::sequence(parts)
    }

    /// Where a key stands, the first place after `from` where it may.
    fn key(&self, key: &str, from: usize) -> Span {
        let written = serde_json::to_string(key).unwrap_or_default();
        let is_key = |at: &usize| self.source[*at + written.len()..].trim_start().starts_with(':');
        let rest = self.source[from..].match_indices(&written).map(|(at, _)| from + at);
        rest.take(1000).find(is_key).map_or(0..0, |at| at..at + written.len())
    }

    fn place(&self, token: &str) -> Span {
        let written = serde_json::to_string(token).unwrap_or_default();
        let written = written.trim_matches('"');
        self.source.find(written).map_or(0..0, |at| at..at + written.len())
    }
}

fn is_name(token: &str) -> bool {
    let inner = token.strip_prefix('<').and_then(|token| token.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>', ' ']))
}

/// A rule's name without its angle brackets, as our notation can write it.
fn name(key: &str) -> String {
    super::writable(key.strip_prefix('<').and_then(|key| key.strip_suffix('>')).unwrap_or(key))
}

fn malformed(span: &Span, message: &str) -> Diagnostic {
    Diagnostic::error("malformed-json-grammar", message, span.clone(), "in this rule")
        .with_help("a rule is `\"<name>\": [[\"<part>\", \"text\"], \"text with a <part>\"]`")
}
