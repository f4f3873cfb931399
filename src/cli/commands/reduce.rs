//! `ddset reduce`

use crate::cli::args::{Format, ReduceArgs};
use crate::cli::job::Job;
use crate::cli::progress::Progress;
use crate::cli::{Exit, Failure, job, report, say, write_out};
use ddset::oracle::{Outcome, Rate};
use ddset::reduce::{Reduction, reduce};
use ddset::search::{Search, Stop};
use ddset::tree::Tree;
use std::io::IsTerminal;

/// Fresh runs of the result, all of which must fail.
const CONFIRMATIONS: u32 = 3;
/// Further fresh runs if one did not, to say how often it fails.
const MORE_LOOKS: u32 = 7;

pub(crate) fn run(args: &ReduceArgs) -> Result<Exit, Failure> {
    let job = Job::new(&args.job)?;
    let progress = Progress::new(job.tree.text().len(), job.jobs);
    job.with_search(&progress, |search| reduce_and_tell(args, &job, &progress, search))
}

fn reduce_and_tell(
    args: &ReduceArgs,
    job: &Job,
    progress: &Progress,
    search: &mut Search<'_>,
) -> Result<Exit, Failure> {
    let reduced = reduced(job, job.tree.clone(), search);
    progress.end();
    let mut reduction = reduced?;
    let text = job.layout.unfold(reduction.tree.text()).into_owned();
    let before = job.session.request().input.len();
    let summary = serde_json::json!({
        "input": String::from_utf8_lossy(&text), "bytes_before": before, "bytes_after": text.len(),
        "proven": reduction.proven, "runs": report::runs_json(search), "kept": job.session.best_path(),
        "seed": job.session.request().seed, "others": job.others()?,
        "confirmed": confirmation(job),
    });
    job.session.save_report(&summary)?;
    match (&args.output, args.job.run.format) {
        (Some(path), _) => std::fs::write(path, &text)
            .map_err(|error| Failure::usage(format!("error: cannot write {}: {error}", path.display())))?,
        (None, Format::Json) => write_out(format!("{summary}\n").as_bytes())?,
        (None, Format::Text) => write_out(&for_eyes(text.clone()))?,
    }
    say("");
    say(&report::reduction(before, text.len(), reduction.proven));
    say(&report::runs(search));
    say(&report::pace(search));
    say(&format!("kept in {}", job.session.best_path().display()));
    match reduction.stopped.take() {
        Some(stop) => Err(ended_early(stop, job, "that no single step makes it smaller")),
        None => {
            say(&format!("next: ddset abstract{}", job::run_option(&args.job.run)));
            Ok(Exit::Done)
        }
    }
}

/// On a terminal a line break at the end keeps the prompt off the result; a file gets the exact bytes.
fn for_eyes(mut text: Vec<u8>) -> Vec<u8> {
    if std::io::stdout().is_terminal() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

/// Checks that the input fails, reduces it, and confirms the result by a fresh run.
pub(crate) fn reduced(job: &Job, tree: Tree, search: &mut Search<'_>) -> Result<Reduction, Failure> {
    search.enter("first");
    let first = search.confirm(tree.text())?;
    if first.outcome != Outcome::Fail && job.session.best()?.is_some() {
        return Err(unsteady("the input failed before, and now it does not"));
    }
    if first.outcome != Outcome::Fail {
        let advice = job.oracle.oracle.oracle.spec().advice(&first);
        return Err(Failure::new(
            Exit::DoesNotFail,
            format!(
                "the input does not fail: {advice}\nnext: `ddset oracle check` with the same arguments shows the run"
            ),
        ));
    }
    let mut reduction = reduce(&job.grammar, tree, search);
    let text = job.layout.unfold(reduction.tree.text()).into_owned();
    keep_if_smaller(job, &text)?;
    if matches!(reduction.stopped, None | Some(Stop::Budget(_))) {
        confirmed(job, search, reduction.tree.text())?;
        if reduction.stopped.is_none() {
            job.session.mark_reduced(&text, reduction.proven)?;
        }
        if reduction.stopped.is_none() && !reduction.proven {
            say("the search for smaller inputs was cut short: the result may not be minimal");
        }
    } else if let Some(stop) = reduction.stopped.take() {
        say(&report::reduction(job.session.request().input.len(), text.len(), false));
        return Err(ended_early(stop, job, "that no single step makes it smaller"));
    }
    Ok(reduction)
}

/// What an earlier run of the same request gained is not given up for what a shorter one came to.
fn keep_if_smaller(job: &Job, text: &[u8]) -> Result<(), Failure> {
    let known = job.session.best()?;
    if known.is_none_or(|known| text.len() <= known.len()) {
        job.session.save_best(text)?;
    }
    Ok(())
}

/// The last word on a result as data.
pub(crate) fn confirmation(job: &Job) -> serde_json::Value {
    job.confirmed
        .get()
        .map_or(serde_json::Value::Null, |rate| serde_json::json!({ "failed": rate.failed, "of": rate.of }))
}

/// The last word on a result: fresh runs of the exact bytes; fresh votes, if the failure comes and goes.
fn confirmed(job: &Job, search: &mut Search<'_>, text: &[u8]) -> Result<(), Failure> {
    search.enter("confirmation");
    search.expect_confirmations(text, CONFIRMATIONS);
    let mut failed = 0;
    for look in 1..=CONFIRMATIONS + MORE_LOOKS {
        failed += u32::from(search.confirm(text)?.outcome == Outcome::Fail);
        if look == CONFIRMATIONS && failed == look {
            let rate = Rate { failed, of: look };
            job.confirmed.set(Some(rate));
            let kind = if job.oracle.oracle.need.is_some() { "votes" } else { "runs" };
            say(&format!("confirmed: {failed} of {look} fresh {kind} of the result fail"));
            return Ok(());
        }
    }
    let all = CONFIRMATIONS + MORE_LOOKS;
    Err(unsteady(&format!("the result failed before, and now in {failed} of {all} fresh runs")))
}

fn unsteady(what: &str) -> Failure {
    Failure::new(
        Exit::Flaky,
        format!(
            "the failure comes and goes: {what}.\nSay how many runs must fail, such as --need 1/10, or make the oracle steadier \
             (fix its random seed, or repeat the program in a script given with --test)"
        ),
    )
}

/// Why it ended before its time, what is not known for that, and that nothing is lost.
pub(crate) fn ended_early(stop: Stop, job: &Job, unproven: &str) -> Failure {
    let best = job.session.best_path();
    let kept = format!("the smallest failing input so far is kept in {}", best.display());
    Failure::from(stop)
        .with_more(&format!("not proven: {unproven}"))
        .with_more(&format!("{kept}; the same command goes on from there"))
}
