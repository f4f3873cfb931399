//! `ddset generate`

use crate::cli::args::{Corpus, Format, GenerateArgs};
use crate::cli::skeleton::skeleton;
use crate::cli::trial::{Trial, Wishes};
use crate::cli::{Exit, Failure, job, say, write_out};
use ddset::layout::Layout;
use ddset::oracle::{CommandOracle, Outcome, Voting};
use ddset::pattern::{Evidence, Instances, Pattern};
use ddset::search::{Counts, Key, Search};
use ddset::session::{Request, Session};
use ddset::tree::coverage::Coverage;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(args: &GenerateArgs) -> Result<Exit, Failure> {
    let (pattern, request) = source(args)?;
    let oracle = if args.verify { Some(oracle(args, &pattern, request.as_ref())?) } else { None };
    let seed = args.run.seed.or_else(|| request.as_ref().map(|request| request.seed)).unwrap_or(1);
    if let Some(folder) = &args.output {
        prepare(folder)?;
    }
    let extension = request.as_ref().and_then(|request| Path::new(request.file_name()).extension()?.to_str());
    let extension = extension.map(|extension| format!(".{extension}")).unwrap_or_default();
    let kept = RefCell::new(Vec::new());
    let coverage = RefCell::new(Coverage::new(&pattern.grammar));
    let layout = Layout::of(&pattern.grammar);
    let texts = instances(args, &pattern, seed).take(args.n).map(|instance| {
        if args.coverage {
            coverage.borrow_mut().add(&pattern.grammar, &instance);
        }
        layout.unfold(instance.text()).into_owned()
    });
    let write = |number: usize, text: &[u8], outcome: Option<Outcome>| match &args.output {
        Some(folder) => {
            let path = folder.join(file_name(args.corpus, number, text, &extension));
            std::fs::write(&path, text)
                .map_err(|error| Failure::usage(format!("error: cannot write {}: {error}", path.display())))
        }
        None if args.skeleton.is_some() => {
            kept.borrow_mut().push(text.to_vec());
            Ok(())
        }
        None => write_out(&shown(args, text, outcome)),
    };
    let (mut made, mut counts) = (0, Counts::default());
    match &oracle {
        Some((oracle, stop)) => counts = verified(args, oracle, stop, texts, &mut made, write)?,
        None => {
            for text in texts {
                made += 1;
                write(made, &text, None)?;
            }
        }
    }
    if let Some(language) = args.skeleton {
        write_out(skeleton(language, &String::from_utf8_lossy(&pattern.text()), &kept.borrow()).as_bytes())?;
    }
    if made < args.n {
        say(&format!("only {made} distinct inputs were found: the pattern has few"));
    }
    if let Some(folder) = &args.output {
        say(&format!("{made} inputs in {}", folder.display()));
    }
    if args.coverage {
        say(&covered(&pattern, &coverage.borrow()));
    }
    if oracle.is_none() {
        return Ok(Exit::Done);
    }
    say(&summary(made, counts));
    let Counts { fail, pass, .. } = counts;
    Ok(if pass > 0 || fail == 0 && made > 0 { Exit::DoesNotFail } else { Exit::Done })
}

/// Runs the oracle on each, and writes them in their order.
fn verified(
    args: &GenerateArgs,
    oracle: &Voting<CommandOracle>,
    stop: &Arc<AtomicBool>,
    mut texts: impl Iterator<Item = Vec<u8>>,
    made: &mut usize,
    write: impl Fn(usize, &[u8], Option<Outcome>) -> Result<(), Failure>,
) -> Result<Counts, Failure> {
    let jobs = args.run.jobs.map_or_else(job::processors, usize::from);
    std::thread::scope(|scope| {
        let mut search = Search::new(oracle).with_stop(stop.clone()).with_jobs(scope, jobs);
        let mut next: VecDeque<Vec<u8>> = VecDeque::new();
        let mut counts = Counts::default();
        loop {
            next.extend(texts.by_ref().take((2 * jobs).saturating_sub(next.len())));
            search.expect(next.iter().cloned());
            let Some(text) = next.pop_front() else { return Ok(counts) };
            *made += 1;
            let outcome = search.test(&text)?;
            counts.add(outcome);
            write(*made, &text, Some(outcome))?;
        }
    })
}

fn instances<'p>(args: &GenerateArgs, pattern: &'p Pattern, seed: u64) -> Instances<'p> {
    let mut instances = if args.uniform { Instances::uniform(pattern, seed) } else { Instances::new(pattern, seed) };
    if let Some(size) = args.size {
        instances = instances.with_size(size.into());
    }
    if let Some(depth) = args.depth {
        instances = instances.with_depth(depth);
    }
    if args.rarely_valid { instances.with_rarely_valid() } else { instances }
}

fn prepare(folder: &Path) -> Result<(), Failure> {
    let held = std::fs::read_dir(folder).map_or(0, Iterator::count);
    if held > 0 {
        say(&format!("warning: {} holds {held} files already; some may be of an earlier pattern", folder.display()));
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::usage(format!("error: cannot make {}: {error}", folder.display())))
}

fn file_name(corpus: Option<Corpus>, number: usize, text: &[u8], extension: &str) -> String {
    match corpus {
        None => format!("{number:05}{extension}"),
        Some(Corpus::Afl) => format!("id:{:06},src:ddset", number - 1),
        // Any name will do there; a hash makes the merging of two folders harmless.
        Some(Corpus::Libfuzzer) => Key::of(text).to_string().chars().take(40).collect(),
    }
}

fn summary(made: usize, Counts { fail, pass, unresolved }: Counts) -> String {
    let mut line = format!("verified: {fail} of {made} fail, {pass} do not, {unresolved} are unresolved");
    let failed = u32::try_from(fail).unwrap_or(u32::MAX);
    let evidence = Evidence { failed, passed: u32::try_from(pass).unwrap_or(u32::MAX), ..Evidence::default() };
    if evidence.bound() > 0.0 {
        let bound = 100.0 * evidence.bound();
        let _ = write!(line, "\n          so at least {bound:.1} % of the valid ones fail, with 95 % confidence");
    }
    line
}

/// Which alternatives of the rules that can stand in holes the inputs have used.
fn covered(pattern: &Pattern, coverage: &Coverage) -> String {
    let within = pattern.symbols_in_holes();
    let rules = coverage.rules(&pattern.grammar);
    let rules: Vec<_> = rules.iter().filter(|rule| within.contains(rule.rule.as_str())).collect();
    let all = rules.iter().flat_map(|rule| &rule.choices).count();
    let used = rules.iter().flat_map(|rule| &rule.choices).filter(|choice| choice.count > 0).count();
    let mut text = format!("coverage: {used} of {all} alternatives of what can stand in the holes");
    for rule in rules {
        let never: Vec<&str> =
            rule.choices.iter().filter(|choice| choice.count == 0).map(|choice| choice.label.as_str()).collect();
        if !never.is_empty() {
            let _ = write!(text, "\n  never in {}: {}", rule.rule, never.join(" | "));
        }
    }
    text
}

fn shown(args: &GenerateArgs, text: &[u8], outcome: Option<Outcome>) -> Vec<u8> {
    if args.run.format == Format::Json {
        let mut value = serde_json::json!({ "input": String::from_utf8_lossy(text) });
        if let Some(outcome) = outcome {
            value["outcome"] = serde_json::json!(outcome);
        }
        return format!("{value}\n").into_bytes();
    }
    let mut out = text.to_vec();
    out.push(if args.null { 0 } else { b'\n' });
    out
}

/// The pattern of the file, or of the last run, with what that run asked. A file's pattern has to do with the last run only if
/// both are of one grammar: another run's oracle would give figures about another failure.
fn source(args: &GenerateArgs) -> Result<(Pattern, Option<Request>), Failure> {
    let Some(path) = &args.pattern else {
        let session = Session::latest(&args.run.run)?;
        let missing = || Failure::usage("error: the last run has no pattern yet: run `ddset abstract` first");
        let json = session.load_pattern()?.ok_or_else(missing)?;
        return Ok((read(&json, &session.pattern_path())?, Some(session.request().clone())));
    };
    let pattern = read(&String::from_utf8_lossy(&job::read(path)?), path)?;
    let latest = Session::latest(&args.run.run).ok().map(|session| session.request().clone());
    let request = latest.filter(|request| request.grammar_text == pattern.grammar.source());
    Ok((pattern, request))
}

fn read(json: &str, path: &Path) -> Result<Pattern, Failure> {
    Pattern::from_json(json).map_err(|error| Failure::usage(format!("error: {}: {error}", path.display())))
}

/// The oracle of the command line, else the one of the last run; and the flag that ends it.
fn oracle(
    args: &GenerateArgs,
    pattern: &Pattern,
    request: Option<&Request>,
) -> Result<(Voting<CommandOracle>, Arc<AtomicBool>), Failure> {
    let earlier = request.map(|request| request.oracle.clone());
    let here = std::env::current_dir().map_err(|error| Failure::usage(format!("the current folder: {error}")))?;
    let spec = job::with_options(earlier, &args.oracle, &here)?;
    let wishes = match request {
        Some(request) => Wishes::recorded(request, &args.oracle)?,
        None => Wishes { sandbox: args.oracle.sandbox, need: args.oracle.need },
    };
    let layout = Layout::of(&pattern.grammar);
    let stop = job::interruptible()?;
    let trial = Trial::of(spec, &layout.unfold(pattern.tree.text()), &args.oracle, wishes, &stop)?;
    trial.notes.iter().for_each(|note| say(note));
    Ok((trial.oracle, stop))
}
