//! `ddset grammar`

use super::{coverage, sample};
use crate::cli::args::{GivenGrammar, GrammarCommand, MessageFormat, Target};
use crate::cli::diagnostics::Findings;
use crate::cli::{Exit, Failure, job, railroad, write_out, write_to};
use ddset::grammar::{Grammar, bundled};
use std::fmt::Write;
use std::path::Path;

pub(crate) fn run(command: &GrammarCommand, messages: MessageFormat) -> Result<Exit, Failure> {
    match command {
        GrammarCommand::Check { grammar } => check(grammar, messages),
        GrammarCommand::Show { grammar, rule, railroad, output } => {
            show(grammar, rule.as_deref(), *railroad, output.as_deref())
        }
        GrammarCommand::Convert { grammar, to, output } => convert(grammar, *to, output.as_deref(), messages),
        GrammarCommand::List => list(),
        GrammarCommand::Sample(args) => sample::run(args),
        GrammarCommand::Coverage(args) => coverage::run(args),
    }
}

fn check(given: &GivenGrammar, messages: MessageFormat) -> Result<Exit, Failure> {
    let grammar = job::grammar(given)?;
    Findings::of_grammar(&grammar).tell(messages);
    let tokens = grammar.rules().filter(|(_, id)| grammar.symbol(*id).role.token).count();
    let warnings = match grammar.warnings().len() {
        0 => String::new(),
        n => format!(", {}", counted(n, "warning")),
    };
    let (name, start) = (given.files.join(" "), grammar.label(grammar.start()));
    let rules = counted(grammar.rules().count(), "rule");
    let tokens = match tokens {
        0 => "without tokens".to_owned(),
        n => format!("of which {}", if n == 1 { "1 is a token".to_owned() } else { format!("{n} are tokens") }),
    };
    write_out(format!("{name}: {rules}, {tokens}, starts at {start}{warnings}\n").as_bytes())?;
    Ok(Exit::Done)
}

fn show(given: &GivenGrammar, rule: Option<&str>, drawn: bool, output: Option<&Path>) -> Result<Exit, Failure> {
    let mut grammar = job::grammar(given)?;
    if let Some(name) = rule {
        let sources = grammar.sources().clone();
        let Some(rule) = grammar.rule(name) else {
            // Says which names there are that are like this one.
            let error = Grammar::load(sources, given.grammar_format, Some(name)).err();
            return Err(error.map_or_else(
                || Failure::usage(format!("error: there is no rule `{name}`")),
                |error| Failure::findings(Findings::of_error(error)),
            ));
        };
        let part = grammar.to_ebnf_of(rule);
        if !drawn {
            write_to(output, part.as_bytes())?;
            return Ok(Exit::Done);
        }
        grammar = Grammar::read(&part, None).map_err(|error| Failure::findings(Findings::of_error(error)))?;
    }
    let text = if drawn { railroad::page(&grammar, &given.files.join(" ")) } else { grammar.to_ebnf() };
    write_to(output, text.as_bytes())?;
    Ok(Exit::Done)
}

/// What another notation cannot say, or a reader had to leave out, is told as warnings.
fn convert(given: &GivenGrammar, to: Target, output: Option<&Path>, messages: MessageFormat) -> Result<Exit, Failure> {
    let grammar = job::grammar(given)?;
    Findings::of_grammar(&grammar).tell(messages);
    let text = match to {
        Target::Ebnf => grammar.to_ebnf(),
        Target::Fuzzingbook => grammar.to_fuzzingbook(),
    };
    write_to(output, text.as_bytes())?;
    Ok(Exit::Done)
}

fn list() -> Result<Exit, Failure> {
    let width = bundled::ALL.iter().map(|bundled| bundled.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for bundled in bundled::ALL {
        let rules = Grammar::read(bundled.source, None).map_or(0, |grammar| grammar.rules().count());
        let _ = writeln!(out, "{:width$}  {}, {}", bundled.name, bundled.summary, counted(rules, "rule"));
        let _ = writeln!(out, "{:width$}  from {}", "", bundled.origin());
        if !bundled.extensions.is_empty() {
            let _ = writeln!(out, "{:width$}  taken for .{}", "", bundled.extensions.join(" ."));
        }
    }
    write_out(out.as_bytes())?;
    Ok(Exit::Done)
}

/// `1 rule`, `2 rules`.
pub(super) fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
