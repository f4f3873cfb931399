//! `ddset combine` and `ddset contains`: grammars of conditions on patterns.

use crate::cli::args::{CombineArgs, ContainsArgs, Target};
use crate::cli::patterns::Named;
use crate::cli::{Exit, Failure, say, write_out, write_to};
use ddset::algebra::{Condition, RefineError, Where, refine};
use ddset::grammar::Grammar;
use ddset::layout::Layout;
use ddset::tree::least;

/// How many inputs are made in search of a witness, where a grammar alone cannot tell.
const SEARCHED: usize = 200;

pub(crate) fn run(args: &CombineArgs) -> Result<Exit, Failure> {
    let named = Named::of(&args.patterns, &args.grammar)?;
    let condition = named.condition(&args.condition)?;
    let Some(grammar) = named.grammar() else { return Err(Failure::usage("error: no pattern was given")) };
    if grammar.ids().any(|id| !grammar.symbol(id).operators.is_empty()) {
        say(
            "warning: the grammar has operators with priorities, which are not kept: texts with several readings may be read otherwise",
        );
    }
    let refined = refine(grammar, &named.patterns(), &condition).map_err(refused)?;
    if !refined.is_exact {
        say(
            "warning: that the tied names of a pattern are equal cannot be said in a grammar: it holds more inputs than the condition; \
             `ddset generate --where` checks each",
        );
    }
    let text = match args.to {
        Target::Ebnf => refined.source,
        Target::Fuzzingbook => Grammar::read(&refined.source, None).map_err(|e| refused(e.into()))?.to_fuzzingbook(),
    };
    write_to(args.output.as_deref(), text.as_bytes())?;
    Ok(Exit::Done)
}

pub(crate) fn refused(error: RefineError) -> Failure {
    match error {
        RefineError::Empty => Failure::new(Exit::DoesNotFail, format!("{error}")),
        error => Failure::usage(format!("error: {error}")),
    }
}

/// Whether each input with the first pattern has the second.
pub(crate) fn contains(args: &ContainsArgs) -> Result<Exit, Failure> {
    let named = Named::of(&[args.first.clone(), args.second.clone()], &args.grammar)?;
    let patterns = named.patterns();
    let Some(grammar) = named.grammar() else { return Ok(Exit::Usage) };
    let condition = Condition::contains(0).and(Condition::contains(1).negated());
    let [first, second] = [0, 1].map(|number| named.names[number].as_str());
    let witness = match refine(grammar, &patterns, &condition) {
        Err(RefineError::Empty) => {
            write_out(format!("yes: every input with {first} has {second}\n").as_bytes())?;
            return Ok(Exit::Done);
        }
        Err(error) => return Err(refused(error)),
        Ok(refined) if refined.is_exact => {
            let narrow = Grammar::read(&refined.source, None).map_err(|error| refused(error.into()))?;
            let tree = least(&narrow, narrow.start());
            Some(Layout::of(&narrow).unfold(tree.text()).into_owned())
        }
        Ok(_) => Where::new(&patterns, condition, 10, 1)
            .map_err(refused)?
            .take(SEARCHED)
            .min_by_key(|input| (input.len(), input.clone())),
    };
    match witness {
        Some(input) => {
            let input = String::from_utf8_lossy(&input).into_owned();
            write_out(
                format!("no: this has {first}, and not {second}:\n{}\n", input.trim_end_matches('\n')).as_bytes(),
            )?;
            Ok(Exit::DoesNotFail)
        }
        None => {
            write_out(b"not known: no input was found that has the first and not the second\n")?;
            Ok(Exit::DoesNotFail)
        }
    }
}
