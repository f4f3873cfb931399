//! `ddset`: see the library for what it does, and `cli` for how it is told.

mod cli;

use clap::Parser;
use cli::Failure;

fn main() -> std::process::ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == ddset::oracle::GUARD) {
        return ddset::oracle::guard(words).into();
    }
    ddset::oracle::limits::inherit();
    let arguments = cli::args::Cli::parse();
    let format = arguments.message_format;
    let exit = match cli::run(arguments) {
        Ok(exit) => exit,
        Err(Failure { exit, message }) => {
            cli::tell(&message, format);
            exit
        }
    };
    std::process::ExitCode::from(exit as u8)
}
