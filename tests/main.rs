//! `ddset` as its users meet it: the command line, on real processes, each test in a folder of its own.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod architecture;
mod assign;
mod diagnostics;
mod expr;
mod generate;
mod grammar_commands;
mod grammars;
mod harm;
mod layout;
mod library;
mod oracles;
mod resume;
mod support;
