//! BNF as in the report on ALGOL 60: names in angle brackets, all else stands for itself. Quotes may keep a text together.

use crate::grammar::ast::{Document, Expr, Rule, Span};
use crate::grammar::diagnostic::Diagnostic;

/// How the empty text is spelled.
const EMPTY: [&str; 5] = ["ε", "λ", "<empty>", "<epsilon>", "<nothing>"];

#[derive(Debug, PartialEq)]
enum Token<'s> {
    Name(&'s str),
    /// `::=`
    Is,
    /// `|`
    Or,
    Text(&'s str),
}

pub(super) fn read(source: &str) -> Result<Document, Vec<Diagnostic>> {
    let tokens = tokens(source).map_err(|problem| vec![problem])?;
    let heads: Vec<usize> = (1..tokens.len()).filter(|at| tokens[*at].0 == Token::Is).collect();
    let mut document = Document::default();
    let mut problems = Vec::new();
    if heads.first() != Some(&1) && !tokens.is_empty() {
        return Err(vec![no_rule(tokens[0].1.clone())]);
    }
    let defined = |name: &str| heads.iter().any(|head| tokens[head - 1].0 == Token::Name(name));
    for (number, &is) in heads.iter().enumerate() {
        let end = heads.get(number + 1).map_or(tokens.len(), |next| next - 1);
        if end <= is {
            problems.push(no_rule(tokens[is].1.clone()));
            continue;
        }
        let (Token::Name(name), span) = &tokens[is - 1] else {
            problems.push(no_rule(tokens[is - 1].1.clone()));
            continue;
        };
        let alternatives = tokens[is + 1..end].split(|(token, _)| *token == Token::Or);
        let part = |(token, span): &(Token, Span)| match token {
            Token::Name(name) if !defined(name) && EMPTY.contains(&&source[span.clone()]) => Expr::nothing(),
            Token::Name(name) => Expr::Name(spaced(name), span.clone()),
            Token::Text(text) if EMPTY.contains(text) => Expr::nothing(),
            Token::Text(text) => Expr::Text((*text).to_owned()),
            Token::Is | Token::Or => Expr::nothing(),
        };
        let body = Expr::choice(alternatives.map(|parts| Expr::sequence(parts.iter().map(part).collect())).collect());
        document.rules.push(Rule { name: spaced(name), span: span.clone(), annotations: Vec::new(), body });
    }
    if problems.is_empty() { Ok(document) } else { Err(problems) }
}

/// A name with one blank for each gap in it.
fn spaced(name: &str) -> String {
    super::writable(&name.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn no_rule(span: Span) -> Diagnostic {
    Diagnostic::error("grammar-syntax", "this is no grammar rule", span, "expected `<name> ::=`")
        .with_help("a rule is `<name> ::= <other> text | …`")
}

fn tokens(source: &str) -> Result<Vec<(Token<'_>, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let (length, token) = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '|' => (1, Token::Or),
            _ if rest.starts_with("::=") => (3, Token::Is),
            '"' | '\'' => match closing(rest, c) {
                Some(end) => (end + 1, Token::Text(&rest[1..end])),
                None if rest[1..].starts_with(|c: char| c.is_whitespace()) || rest.len() == 1 => {
                    (1, Token::Text(&rest[..1]))
                }
                None => {
                    let help =
                        format!("close it with {c} in the same line; a quote that stands alone is a text itself");
                    return Err(Diagnostic::error("unterminated", "this text has no closing quote", at..at + 1, "")
                        .with_help(help));
                }
            },
            _ => match name(rest) {
                Some(end) => (end + 1, Token::Name(&rest[1..end])),
                None => {
                    let end = rest[c.len_utf8()..].find(|c: char| c.is_whitespace() || "<|\"".contains(c));
                    let word = &rest[..end.map_or(rest.len(), |end| end + c.len_utf8())];
                    (word.len(), Token::Text(word))
                }
            },
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

/// Where the quote closes, in the same line.
fn closing(rest: &str, quote: char) -> Option<usize> {
    let end = rest[1..].find([quote, '\n'])? + 1;
    rest[end..].starts_with(quote).then_some(end)
}

/// Where a name in angle brackets ends. `<` and `<=` are texts, since no name begins with a blank or a sign.
fn name(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('<')?;
    let end = inner.find(['>', '\n', '<', '|'])?;
    let begins = inner.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    (begins && inner[end..].starts_with('>')).then_some(end + 1)
}
