//! `ddset` as its users meet it: the command line, on real processes, each test in a folder of its own.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod algebra;
mod architecture;
mod assign;
mod diagnostics;
mod expr;
mod generate;
mod grammar_commands;
mod grammars;
mod harm;
mod jobs;
mod layout;
mod library;
mod no_grammar;
mod oracles;
mod property;
mod report;
mod resume;
mod support;
