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
        let problem = |code, message: String| Diagnostic::error(code, message, rule.span.clone(), "");
        if marked[..number].iter().any(|(other, ..)| other == mark) {
            problems.push(
                problem("duplicate-mark", format!("`{}` is a second token for the same mark", rule.name))
                    .with_help("remove the annotation from one of them"),
            );
        } else if !is_one_character(symbol, symbols) {
            problems.push(
                problem("mark-not-a-character", format!("`{}` is a mark, but not one control character", rule.name))
                    .with_help("write one that inputs do not have: `#x1E`, `#xE`, `#xF`"),
            );
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

/// A control character, which is one byte, so that a mark weighs as much as the line break that it stands for.
fn is_one_character(symbol: &Symbol, symbols: &[Symbol]) -> bool {
    let Kind::Choice(alternatives) = &symbol.kind else { return false };
    let [part] = alternatives.iter().flatten().collect::<Vec<_>>()[..] else { return false };
    match &symbols[part.index()].kind {
        Kind::Literal(bytes) => matches!(bytes[..], [byte] if byte.is_ascii_control() && !byte.is_ascii_whitespace()),
        _ => false,
    }
}
