//! `ddset grammar sample`

use super::grammar::counted;
use crate::cli::args::SampleArgs;
use crate::cli::{Exit, Failure, job, say, write_out};
use ddset::generate::Samples;
use ddset::parse::Parser;
use std::collections::HashSet;

/// How many derivations are made for each input that is wanted, before the language is taken for a small one.
const TRIES: usize = 20;

pub(crate) fn run(args: &SampleArgs) -> Result<Exit, Failure> {
    let grammar = job::grammar(&args.grammar)?;
    let parser = Parser::new(&grammar);
    let mut told = HashSet::new();
    for sample in Samples::new(&grammar, args.size.into(), args.seed).take(args.n.saturating_mul(TRIES)) {
        if told.len() == args.n {
            break;
        }
        // Two tokens may come to stand side by side that are read as others: what is shown is in the language.
        if told.contains(sample.text()) || parser.parse(sample.text()).is_err() {
            continue;
        }
        let mut out = sample.text().to_vec();
        told.insert(out.clone());
        out.push(if args.null { 0 } else { b'\n' });
        write_out(&out)?;
    }
    if told.len() < args.n {
        say(&format!("only {} found: the grammar has few inputs of this size", counted(told.len(), "distinct input")));
    }
    Ok(Exit::Done)
}
