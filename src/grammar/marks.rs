//! Whether the marks of a grammar's layout are fit for use.

use super::ast::Rule;
use super::diagnostic::Diagnostic;
use super::{Kind, Mark, Symbol};

/// All marks or none, each a text of its own that holds no white space.
pub(super) fn check(symbols: &[Symbol], rules: &[Rule]) -> Vec<Diagnostic> {
    let marked: Vec<(Mark, &Symbol, &Rule)> =
        symbols.iter().zip(rules).filter_map(|(symbol, rule)| Some((symbol.role.mark?, symbol, rule))).collect();
    let mut problems = Vec::new();
    for (number, (mark, symbol, rule)) in marked.iter().enumerate() {
        let own = character(symbol, symbols);
        let mut problem = |code, message: &str, help| {
            let message = format!("`{}` {message}", rule.name);
            problems.push(Diagnostic::error(code, message, rule.span.clone(), "").with_help(help));
        };
        if marked[..number].iter().any(|(other, ..)| other == mark) {
            problem("duplicate-mark", "is a second token for the same mark", "remove the annotation from one of them");
        } else if own.is_none() {
            let help = "write a character that inputs do not have, each mark another: `#x1E`, `#xE`, `#xF`";
            problem("mark-not-a-character", "is a mark, but not one control character", help);
        } else if marked[..number].iter().any(|(_, other, _)| character(other, symbols) == own) {
            problem("duplicate-mark", "is the same character as another mark", "write another: `#x1E`, `#xE`, `#xF`");
        }
    }
    if let Some((.., rule)) = marked.first().filter(|_| marked.len() < Mark::ALL.len()) {
        let message = "layout needs three marks: @newline, @indent and @dedent";
        problems.push(
            Diagnostic::error("missing-mark", message, rule.span.clone(), "this is one of them")
                .with_help("annotate a token for each of the three, or none"),
        );
    }
    problems
}

/// The control character that a mark is: one byte, so that a mark weighs as much as the line break that it stands for.
fn character(mark: &Symbol, symbols: &[Symbol]) -> Option<u8> {
    let Kind::Choice(alternatives) = &mark.kind else { return None };
    let [[part]] = alternatives.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] else { return None };
    match &symbols[part.index()].kind {
        Kind::Literal(bytes) => match bytes[..] {
            [byte] if byte.is_ascii_control() && !byte.is_ascii_whitespace() => Some(byte),
            _ => None,
        },
        _ => None,
    }
}
