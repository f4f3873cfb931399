//! The command line: arguments in, results out. No logic of the engine is here.

pub(crate) mod args;
mod commands;
mod diagnostics;
mod exit;
mod explain;
mod job;
mod patterns;
mod progress;
mod railroad;
mod report;
mod skeleton;
mod trial;

use args::{Cli, Command, OracleCommand};
pub(crate) use diagnostics::tell;
pub(crate) use exit::{Exit, Failure};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether only results and errors are wanted.
static QUIET: AtomicBool = AtomicBool::new(false);

fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Result<Exit, Failure> {
    QUIET.store(cli.quiet, Ordering::Relaxed);
    match cli.command {
        Command::Parse(args) => commands::parse::run(&args),
        Command::Reduce(args) => commands::reduce::run(&args),
        Command::Abstract(args) => commands::generalize::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Match(args) => commands::matching::run(&args),
        Command::Combine(args) => commands::combine::run(&args),
        Command::Contains(args) => commands::combine::contains(&args),
        Command::Report(args) => commands::report::run(&args),
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

/// Writes words for the user to standard error, unless it is to be quiet. If even that is gone, there is no one to tell.
fn say(words: &str) {
    if !is_quiet() {
        tell_error(words);
    }
}

/// Writes what is wrong to standard error.
fn tell_error(words: &str) {
    let _ = writeln!(anstream::stderr(), "{words}");
}
