//! `ddset abstract`

use super::reduce::{ended_early, reduced};
use crate::cli::args::{AbstractArgs, Format};
use crate::cli::job::Job;
use crate::cli::progress::Progress;
use crate::cli::{Exit, Failure, explain, job, report, say, write_out};
use ddset::abstraction::{Options, generalize};
use ddset::oracle::Outcome;
use ddset::search::{Search, Stop};
use ddset::tree::{Style, Tree};

/// What is not known if it ends before the pattern is looked for.
const UNKNOWN: &str = "which parts may vary";

pub(crate) fn run(args: &AbstractArgs) -> Result<Exit, Failure> {
    let job = Job::new(&args.job)?;
    let progress = Progress::new(job.tree.text().len(), job.jobs);
    job.with_search(&progress, |search| abstract_and_tell(args, &job, &progress, search))
}

fn abstract_and_tell(
    args: &AbstractArgs,
    job: &Job,
    progress: &Progress,
    search: &mut Search<'_>,
) -> Result<Exit, Failure> {
    let outcome = abstracted(args, job, job.tree.clone(), search);
    progress.end();
    let (reduced_text, before, proven, abstraction) = outcome?;
    let pattern = abstraction.pattern;
    let json = pattern.to_json().map_err(|error| Failure::usage(format!("error: {error}")))?;
    job.session.save_pattern(&json)?;
    if let Some(path) = &args.output {
        std::fs::write(path, &json)
            .map_err(|error| Failure::usage(format!("error: cannot write {}: {error}", path.display())))?;
    }
    let mut summary = report::pattern_json(&pattern);
    summary["reduced"] = serde_json::json!({
        "input": String::from_utf8_lossy(&reduced_text), "bytes_before": before, "bytes_after": reduced_text.len(),
        "proven": proven,
    });
    summary["runs"] = report::runs_json(search);
    summary["seed"] = job.session.request().seed.into();
    summary["confirmed"] = super::reduce::confirmation(job);
    summary["kept"] = job.session.pattern_path().display().to_string().into();
    if args.explain {
        summary["tried"] = explain::json(&pattern, &abstraction.trials);
    }
    say("");
    summary["others"] = job.others()?;
    job.session.save_report(&summary)?;
    match args.job.run.format {
        Format::Json => write_out(format!("{summary}\n").as_bytes())?,
        Format::Text => {
            let mut text = pattern.text();
            text.push(b'\n');
            write_out(&text)?;
        }
    }
    say(report::evidence(&pattern, args.confidence, abstraction.stopped.is_some()).trim_end());
    say(&format!("minimal:  {} ({before} to {} bytes)", report::quoted(&reduced_text), reduced_text.len()));
    if args.explain && args.job.run.format == Format::Text {
        say(explain::text(&pattern, &abstraction.trials).trim_end());
    }
    say(&report::runs(search));
    say(&report::pace(search));
    say(&format!("kept in {}", job.session.pattern_path().display()));
    match abstraction.stopped {
        Some(stop) => {
            let minimal = if proven { "" } else { "that the input is minimal; " };
            let unproven = format!("{minimal}which parts may vary, beyond what is shown");
            Err(ended_early(stop, job, &unproven))
        }
        None if pattern.holes.is_empty() => {
            say(&format!("next: ddset abstract --explain{}", job::run_option(&args.job.run)));
            Ok(Exit::Done)
        }
        None => {
            say(&format!("next: ddset generate -n 20{}", job::run_option(&args.job.run)));
            Ok(Exit::Done)
        }
    }
}

type Outcomes = (Vec<u8>, usize, bool, ddset::abstraction::Abstraction);

fn abstracted(args: &AbstractArgs, job: &Job, original: Tree, search: &mut Search<'_>) -> Result<Outcomes, Failure> {
    let style = Style::of(&original);
    let mut reduction = reduced(job, original, search)?;
    // A budget that is used up ends what follows, too, before it begins: the pattern is then the best input, without a hole.
    if let Some(stop) = reduction.stopped.take().filter(|stop| !matches!(stop, Stop::Budget(_))) {
        return Err(ended_early(stop, job, UNKNOWN));
    }
    let minimal = reduction.tree;
    let text = job.layout.unfold(minimal.text()).into_owned();
    let tree = readable(job, &style, &minimal, search)?;
    let options = Options { seed: job.session.request().seed, confidence: args.confidence, slots: !args.no_slots };
    let abstraction = generalize(&job.grammar, tree, search, &options);
    Ok((text, job.session.request().input.len(), reduction.proven, abstraction))
}

/// The minimal input with white space where the original had it, if that still fails: for the pattern to be read.
fn readable(job: &Job, style: &Style, minimal: &Tree, search: &mut Search<'_>) -> Result<Tree, Failure> {
    let spaced = style.apply(&job.grammar, minimal);
    search.enter("readable");
    match search.test(spaced.text()) {
        Ok(Outcome::Fail) => Ok(spaced),
        Ok(_) | Err(Stop::Budget(_)) => Ok(minimal.clone()),
        Err(stop) => Err(ended_early(stop, job, UNKNOWN)),
    }
}
