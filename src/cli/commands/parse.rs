//! `ddset parse`

use crate::cli::args::{ParseArgs, TreeFormat};
use crate::cli::{Exit, Failure, job, write_out};
use ddset::tree;

pub(crate) fn run(args: &ParseArgs) -> Result<Exit, Failure> {
    let (grammar, input, shown) = job::grammar_and_input(&args.grammar, &args.input)?;
    let tree = job::parse(&grammar, &input, &shown)?;
    let mut text = match args.format {
        TreeFormat::Text => tree::to_outline(&grammar, &tree),
        TreeFormat::Sexp => tree::to_sexp(&grammar, &tree),
        TreeFormat::Dot => tree::to_dot(&grammar, &tree),
        TreeFormat::Json => tree::to_json(&grammar, &tree).to_string(),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    write_out(text.as_bytes())?;
    Ok(Exit::Done)
}
