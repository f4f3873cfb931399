//! `ddset oracle`

use crate::cli::args::{Format, OracleOptions};
use crate::cli::trial::Trial;
use crate::cli::{Exit, Failure, job, write_out};
use ddset::oracle::{Calibration, Oracle, Outcome, Run};
use std::fmt::Write;
use std::path::Path;

/// How much of an output is shown.
const SHOWN: usize = 2_000;

pub(crate) fn check(options: &OracleOptions, input: &Path, format: Format) -> Result<Exit, Failure> {
    let place = job::Place::of(input)?;
    let spec = place.oracle(options)?;
    place.prepare()?;
    let bytes = job::read(&place.input)?;
    let stop = job::interruptible()?;
    let wishes = place.wishes(options);
    let trial = match Trial::of(spec.clone(), &bytes, options, wishes, &stop) {
        Ok(trial) => trial,
        // The run is what explains it.
        Err(failure) if failure.exit == Exit::DoesNotFail => Trial::untried(spec, &stop)?,
        Err(failure) => return Err(failure),
    };
    let oracle = &trial.oracle.oracle;
    let run = trial.oracle.run(&bytes)?;
    match format {
        Format::Text => {
            let mut out = explained(&oracle.describe().to_string(), &run);
            if !trial.notes.is_empty() {
                let _ = writeln!(out, "\n{}", trial.notes.join("\n"));
            }
            if let Some(found) = &trial.found {
                let _ = writeln!(out, "steady:   {}", steadiness(found));
            }
            let _ = writeln!(out, "rate:     {} of {} runs failed", trial.rate.failed, trial.rate.of);
            if run.outcome != Outcome::Fail {
                let _ = writeln!(out, "\n{}", oracle.spec().advice(&run));
            }
            write_out(out.as_bytes())?;
        }
        Format::Json => write_out(format!("{}\n", json(&run, &trial)).as_bytes())?,
    }
    Ok(if run.outcome == Outcome::Fail { Exit::Done } else { Exit::DoesNotFail })
}

fn steadiness(found: &Calibration) -> String {
    let same = found.ends.iter().filter(|end| **end == found.ends[0]).count();
    format!("{same} of {} runs ended alike, the longest after {:.3} s", found.ends.len(), found.slowest.as_secs_f64())
}

fn explained(description: &str, run: &Run) -> String {
    let mut out = format!("{description}\n\n");
    let verdict = match run.outcome {
        Outcome::Fail => "it fails",
        Outcome::Pass => "it does not fail",
        Outcome::Unresolved => "unresolved: this run says nothing",
    };
    let _ = writeln!(out, "outcome:    {verdict} ({})", run.reason);
    if let Some(process) = &run.process {
        let _ = writeln!(out, "time:       {:.3} s", process.elapsed.as_secs_f64());
        for (name, text) in [("standard output", &process.stdout), ("standard error", &process.stderr)] {
            let shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
            let more =
                if text.len() > SHOWN { format!(", the first {SHOWN} of {} bytes", text.len()) } else { String::new() };
            match shown.trim_end() {
                "" => _ = writeln!(out, "{name}: empty"),
                shown => _ = writeln!(out, "{name}{more}:\n  {}", shown.replace('\n', "\n  ")),
            }
        }
    }
    out
}

fn json(run: &Run, trial: &Trial) -> serde_json::Value {
    let oracle = &trial.oracle.oracle;
    let mut value = serde_json::json!({
        "outcome": run.outcome, "reason": run.reason, "sandbox": oracle.spec().sandbox,
        "rate": { "failed": trial.rate.failed, "of": trial.rate.of },
        "time_limit": oracle.time_limit().as_secs_f64(), "memory_limit": oracle.memory_limit(),
        "environment": oracle.describe().environment,
    });
    if let Some(found) = &trial.found {
        value["signature"] = serde_json::json!(found.signature);
        value["rejects"] = found.rejects.clone().into();
        value["ends"] = found.ends.clone().into();
    }
    if let Some(process) = &run.process {
        value["exit"] = process.exit.into();
        value["signal"] = process.signal.into();
        value["timed_out"] = process.timed_out.into();
        value["out_of_memory"] = process.out_of_memory.into();
        value["seconds"] = process.elapsed.as_secs_f64().into();
        value["stdout"] = String::from_utf8_lossy(&process.stdout).into();
        value["stderr"] = String::from_utf8_lossy(&process.stderr).into();
        value["truncated"] = process.truncated.into();
    }
    value
}
