//! `ddset grammar`

use crate::cli::args::GivenGrammar;
use crate::cli::{Exit, Failure, diagnostics, job, say, write_out};
use ddset::grammar::bundled;

pub(crate) fn check(given: &GivenGrammar) -> Result<Exit, Failure> {
    let grammar = job::grammar(given)?;
    if !grammar.warnings().is_empty() {
        let files = diagnostics::files(grammar.sources());
        let rendered = diagnostics::render(grammar.warnings(), &files, job::colored());
        say(rendered.trim_end());
    }
    let tokens = grammar.rules().filter(|(_, id)| grammar.symbol(*id).role.token).count();
    let warnings = match grammar.warnings().len() {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    let name = given.files.join(" ");
    let start = grammar.label(grammar.start());
    write_out(
        format!("{name}: {} rules, {tokens} of them tokens, starts at {start}{warnings}\n", grammar.rules().count())
            .as_bytes(),
    )?;
    Ok(Exit::Done)
}

pub(crate) fn show(given: &GivenGrammar) -> Result<Exit, Failure> {
    write_out(job::grammar(given)?.to_ebnf().as_bytes())?;
    Ok(Exit::Done)
}

pub(crate) fn list() -> Result<Exit, Failure> {
    let width = bundled::ALL.iter().map(|bundled| bundled.name.len()).max().unwrap_or(0);
    let lines = bundled::ALL.iter().map(|bundled| format!("{:width$}  {}\n", bundled.name, bundled.summary));
    write_out(lines.collect::<String>().as_bytes())?;
    Ok(Exit::Done)
}
