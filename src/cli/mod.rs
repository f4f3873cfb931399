//! The command line: arguments in, results out. No logic of the engine is here.

pub(crate) mod args;
mod commands;
mod diagnostics;
mod exit;
mod explain;
mod job;
mod progress;
mod railroad;
mod report;
mod skeleton;

use args::{Cli, Command, OracleCommand};
pub(crate) use diagnostics::tell;
pub(crate) use exit::{Exit, Failure};
use std::io::Write;
use std::path::Path;

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::Parse(args) => commands::parse::run(&args),
        Command::Reduce(args) => commands::reduce::run(&args),
        Command::Abstract(args) => commands::generalize::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Grammar(command) => commands::grammar::run(&command, cli.message_format),
        Command::Oracle(OracleCommand::Check { oracle, input, format }) => {
            commands::oracle::check(&oracle, &input, format)
        }
    }
}

/// Writes a result to standard output. A reader that went away is no error: `ddset … | head` is a success.
fn write_out(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a result to a file, else to standard output.
fn write_to(file: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    let Some(file) = file else { return write_out(bytes) };
    std::fs::write(file, bytes)
        .map_err(|error| Failure::usage(format!("error: cannot write {}: {error}", file.display())))
}

/// Writes words for the user to standard error. If even that is gone, there is no one to tell.
fn say(words: &str) {
    let _ = writeln!(anstream::stderr(), "{words}");
}
