//! `ddset grammar`

use crate::cli::{Exit, Failure, diagnostics, job, say, write_out};
use ddset::grammar::bundled;

pub(crate) fn check(name: &str, start: Option<&str>) -> Result<Exit, Failure> {
    let grammar = job::grammar(name, start)?;
    if !grammar.warnings().is_empty() {
        let rendered = diagnostics::render(grammar.warnings(), grammar.source().as_bytes(), name, job::colored());
        say(rendered.trim_end());
    }
    let tokens = grammar.rules().filter(|(_, id)| grammar.symbol(*id).role.token).count();
    let warnings = match grammar.warnings().len() {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    let start = grammar.label(grammar.start());
    write_out(
        format!("{name}: {} rules, {tokens} of them tokens, starts at {start}{warnings}\n", grammar.rules().count())
            .as_bytes(),
    )?;
    Ok(Exit::Done)
}

pub(crate) fn show(name: &str) -> Result<Exit, Failure> {
    write_out(job::grammar(name, None)?.to_ebnf().as_bytes())?;
    Ok(Exit::Done)
}

pub(crate) fn list() -> Result<Exit, Failure> {
    let width = bundled::ALL.iter().map(|bundled| bundled.name.len()).max().unwrap_or(0);
    let lines = bundled::ALL.iter().map(|bundled| format!("{:width$}  {}\n", bundled.name, bundled.summary));
    write_out(lines.collect::<String>().as_bytes())?;
    Ok(Exit::Done)
}
