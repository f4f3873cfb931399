//! `ddset`: see the library for what it does, and `cli` for how it is told.

mod cli;

use clap::Parser;
use cli::Failure;
use std::io::Write;

fn main() -> std::process::ExitCode {
    let exit = match cli::run(cli::args::Cli::parse()) {
        Ok(exit) => exit,
        Err(Failure { exit, message }) => {
            let _ = writeln!(anstream::stderr(), "{message}");
            exit
        }
    };
    std::process::ExitCode::from(exit as u8)
}
