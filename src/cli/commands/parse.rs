//! `ddset parse`

use crate::cli::args::{AmbiguityFormat, ParseArgs, TreeFormat};
use crate::cli::{Exit, Failure, job, write_out};
use ddset::grammar::{Grammar, SymbolId, code};
use ddset::layout::Folded;
use ddset::parse::{Ambiguity, Parser, Step};
use ddset::tree;
use std::fmt::Write;
use std::ops::Range;

/// Of a text in a report, at most so many characters at each end.
const SHOWN: usize = 20;

pub(crate) fn run(args: &ParseArgs) -> Result<Exit, Failure> {
    let (grammar, input, shown) = job::grammar_and_input(&args.grammar, &args.input)?;
    let mut text = match args.ambiguity {
        None => outline(&grammar, &job::parse(&grammar, &input, &shown)?, args.format),
        Some(AmbiguityFormat::Report) => {
            let folded = job::fold(&grammar, &input, &shown)?;
            let found = Parser::new(&grammar).ambiguities(&folded.text);
            let mut found = found.map_err(|error| job::parse_failure(&folded, &error, &input, &shown))?;
            found.iter_mut().for_each(|ambiguity| in_source(&folded, ambiguity));
            report(&grammar, &input, &found)
        }
        Some(AmbiguityFormat::Count) => {
            let folded = job::fold(&grammar, &input, &shown)?;
            let count = Parser::new(&grammar).count(&folded.text);
            match count.map_err(|error| job::parse_failure(&folded, &error, &input, &shown))? {
                None => "infinitely many derivations".to_owned(),
                Some(1) => "1 derivation".to_owned(),
                Some(u128::MAX) => format!("more than {} derivations", u128::MAX),
                Some(count) => format!("{count} derivations"),
            }
        }
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    write_out(text.as_bytes())?;
    Ok(Exit::Done)
}

/// What was found in the folded text, with its places in the input.
fn in_source(folded: &Folded, ambiguity: &mut Ambiguity) {
    let in_source = |span: &mut Range<usize>| *span = folded.source_offset(span.start)..folded.source_offset(span.end);
    in_source(&mut ambiguity.span);
    let steps = [&mut ambiguity.taken, &mut ambiguity.other];
    steps.into_iter().flat_map(|step| &mut step.parts).for_each(|(_, span)| in_source(span));
}

fn outline(grammar: &Grammar, tree: &tree::Tree, format: TreeFormat) -> String {
    match format {
        TreeFormat::Text => tree::to_outline(grammar, tree),
        TreeFormat::Sexp => tree::to_sexp(grammar, tree),
        TreeFormat::Dot => tree::to_dot(grammar, tree),
        TreeFormat::Json => tree::to_json(grammar, tree).to_string(),
    }
}

fn report(grammar: &Grammar, input: &[u8], found: &[Ambiguity]) -> String {
    let mut out = String::new();
    for Ambiguity { symbol, span, taken, other } in found {
        let (from, to) = (position(input, span.start), position(input, span.end));
        let text = text(input, span);
        let _ = writeln!(out, "{from} to {to}: {} has several derivations of {text}", grammar.label(*symbol));
        let _ = writeln!(out, "  taken: {}", step(grammar, input, *symbol, taken));
        let _ = writeln!(out, "  other: {}", step(grammar, input, *symbol, other));
    }
    match found.len() {
        0 => out + "not ambiguous",
        1 => out + "1 place is ambiguous",
        many => out + &format!("{many} places are ambiguous"),
    }
}

/// The parts of a step, each with its text if that is not what the part is called.
fn step(grammar: &Grammar, input: &[u8], symbol: SymbolId, step: &Step) -> String {
    let part = |(part, span): &(SymbolId, Range<usize>)| {
        if grammar.is_literal(*part) {
            return grammar.label(*part);
        }
        format!("{} = {}", grammar.label(*part), text(input, span))
    };
    let parts: Vec<String> = step.parts.iter().map(part).collect();
    let parts = parts.join(", ");
    match grammar.alternatives(symbol) {
        0 | 1 => parts,
        _ => format!("alternative {}: {parts}", step.alternative + 1),
    }
}

/// Line and column, from 1, as in messages on syntax.
fn position(input: &[u8], offset: usize) -> String {
    let before = &input[..offset];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    format!("{line}:{}", code::decode(&before[line_start..]).count() + 1)
}

/// A text in quotes, on one line, without its middle if it is long.
fn text(input: &[u8], span: &Range<usize>) -> String {
    let text: Vec<char> = String::from_utf8_lossy(&input[span.clone()]).chars().collect();
    let short: String = match text.len() {
        length if length <= 2 * SHOWN => text.iter().collect(),
        length => text[..SHOWN].iter().chain(&['…']).chain(&text[length - SHOWN..]).collect(),
    };
    format!("{short:?}")
}
