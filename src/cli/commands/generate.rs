//! `ddset generate`

use crate::cli::args::{Corpus, Format, GenerateArgs};
use crate::cli::skeleton::skeleton;
use crate::cli::{Exit, Failure, job, say, write_out};
use ddset::layout::Layout;
use ddset::oracle::{CommandOracle, Oracle, Outcome};
use ddset::pattern::{Evidence, Instances, Pattern};
use ddset::search::{Counts, Key};
use ddset::session::{Request, Session};
use ddset::tree::coverage::Coverage;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn run(args: &GenerateArgs) -> Result<Exit, Failure> {
    let (pattern, request) = source(args)?;
    let oracle = if args.verify { Some(oracle(args, request.as_ref())?) } else { None };
    let seed = args.run.seed.or_else(|| request.as_ref().map(|request| request.seed)).unwrap_or(1);
    if let Some(folder) = &args.output {
        prepare(folder)?;
    }
    let extension = request.as_ref().and_then(|request| Path::new(request.file_name()).extension()?.to_str());
    let extension = extension.map(|extension| format!(".{extension}")).unwrap_or_default();
    let mut counts = Counts::default();
    let mut made = 0;
    let mut kept = Vec::new();
    let mut coverage = Coverage::new(&pattern.grammar);
    let layout = Layout::of(&pattern.grammar);
    for instance in instances(args, &pattern, seed).take(args.n) {
        let text = layout.unfold(instance.text());
        if args.coverage {
            coverage.add(&pattern.grammar, &instance);
        }
        let outcome = match &oracle {
            Some(oracle) => Some(oracle.run(&text)?.outcome),
            None => None,
        };
        match outcome {
            Some(Outcome::Fail) => counts.fail += 1,
            Some(Outcome::Pass) => counts.pass += 1,
            Some(Outcome::Unresolved) => counts.unresolved += 1,
            None => {}
        }
        match &args.output {
            Some(folder) => {
                let path = folder.join(file_name(args.corpus, made, &text, &extension));
                std::fs::write(&path, &text)
                    .map_err(|error| Failure::usage(format!("error: cannot write {}: {error}", path.display())))?;
            }
            None if args.skeleton.is_some() => kept.push(text.into_owned()),
            None => write_out(&shown(args, &text, outcome))?,
        }
        made += 1;
    }
    if let Some(language) = args.skeleton {
        write_out(skeleton(language, &String::from_utf8_lossy(&pattern.text()), &kept).as_bytes())?;
    }
    if made < args.n {
        say(&format!("only {made} distinct inputs were found: the pattern has few"));
    }
    if let Some(folder) = &args.output {
        say(&format!("{made} inputs in {}", folder.display()));
    }
    if args.coverage {
        say(&covered(&pattern, &coverage));
    }
    if oracle.is_some() {
        say(&verified(made, counts));
    }
    Ok(Exit::Done)
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
        None => format!("{:05}{extension}", number + 1),
        Some(Corpus::Afl) => format!("id:{number:06},src:ddset"),
        // Any name will do there; a hash makes the merging of two folders harmless.
        Some(Corpus::Libfuzzer) => Key::of(text).to_string().chars().take(40).collect(),
    }
}

fn verified(made: usize, Counts { fail, pass, unresolved }: Counts) -> String {
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

/// The oracle of the command line, else the one of the last run.
fn oracle(args: &GenerateArgs, request: Option<&Request>) -> Result<CommandOracle, Failure> {
    let earlier = request.map(|request| request.oracle.clone());
    let here = std::env::current_dir().map_err(|error| Failure::usage(format!("the current folder: {error}")))?;
    Ok(job::command(job::with_options(earlier, &args.oracle, &here)?)?.with_stop(job::interruptible()?))
}
