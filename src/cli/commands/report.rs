//! `ddset report`: what a run found, to be pasted into a bug tracker.

use crate::cli::args::{ReportArgs, ReportFormat};
use crate::cli::trial::Trial;
use crate::cli::{Exit, Failure, job, report, write_to};
use ddset::oracle::{CommandOracle, Invocation, Oracle, Outcome};
use ddset::pattern::Pattern;
use ddset::session::{Session, Step};
use serde::Serialize;
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How much of the original input is shown: lines, and bytes of each.
const SAMPLE: (usize, usize) = (8, 100);
/// How many lines of the program's output are shown: the last.
const OUTPUT: usize = 15;
/// How many steps are shown: the last, when it matters, and the first.
const STEPS: usize = 16;
/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// All that is reported; as JSON it is written as it is.
#[derive(Debug, Serialize)]
struct Report {
    minimal: Minimal,
    original: Original,
    oracle: Described,
    verified: Option<Verified>,
    steps: Vec<Step>,
    runs: Option<u64>,
    pattern: Option<serde_json::Value>,
    #[serde(skip)]
    evidence: Option<String>,
    environment: Environment,
}

#[derive(Debug, Serialize)]
struct Minimal {
    input: String,
    bytes: usize,
    proven: bool,
    file: String,
    grammar: String,
    /// Whether the text above is exactly the input: some bytes may be no text.
    exact: bool,
}

#[derive(Debug, Serialize)]
struct Original {
    file: String,
    bytes: usize,
    sample: String,
}

#[derive(Debug, Serialize)]
struct Described {
    command: String,
    rules: Vec<String>,
}

/// Fresh runs of the smallest input, now.
#[derive(Debug, Serialize)]
struct Verified {
    runs: u32,
    failed: u32,
    output: String,
}

#[derive(Debug, Serialize)]
struct Environment {
    program: String,
    version: Option<String>,
    platform: String,
    ddset: &'static str,
}

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let session = Session::latest(&args.run)?;
    let report = gathered(&session, args.runs)?;
    let text = match args.format {
        ReportFormat::Json => format!("{}\n", serde_json::json!(report)),
        ReportFormat::Markdown => written(&report, true),
        ReportFormat::Text => written(&report, false),
    };
    write_to(args.output.as_deref(), text.as_bytes())?;
    let steady = report.verified.as_ref().is_none_or(|verified| verified.failed == verified.runs);
    Ok(if steady { Exit::Done } else { Exit::Flaky })
}

fn gathered(session: &Session, runs: u32) -> Result<Report, Failure> {
    let request = session.request();
    let reduced = session.reduced()?;
    let proven = reduced.as_ref().is_some_and(|reduced| reduced.proven);
    let best = session.best()?.or(reduced.map(|reduced| reduced.input)).unwrap_or_else(|| request.input.clone());
    let oracle = Trial::again(request, &best, &job::interruptible()?)?;
    let pattern = session.load_pattern()?.and_then(|json| Pattern::from_json(&json).ok());
    let description = oracle.describe();
    Ok(Report {
        minimal: Minimal {
            input: String::from_utf8_lossy(&best).into_owned(),
            bytes: best.len(),
            proven,
            file: session.best_path().display().to_string(),
            grammar: request.grammar.clone(),
            exact: std::str::from_utf8(&best).is_ok(),
        },
        original: Original {
            file: request.input_path.display().to_string(),
            bytes: request.input.len(),
            sample: sample(&request.input),
        },
        oracle: Described {
            // The candidate's folder is gone by the time that someone reads this.
            command: description.command.replace(&*description.file.to_string_lossy(), request.file_name()),
            rules: description.rules,
        },
        verified: verified(&oracle, &best, runs)?,
        steps: session.steps()?,
        runs: session.load_report()?.and_then(|report| report["runs"]["total"].as_u64()),
        evidence: pattern.as_ref().map(|pattern| report::evidence(pattern, pattern.evidence.failed, false)),
        pattern: pattern.as_ref().map(report::pattern_json),
        environment: environment(&request.oracle.invocation),
    })
}

fn verified(oracle: &CommandOracle, input: &[u8], runs: u32) -> Result<Option<Verified>, Failure> {
    let mut found = Verified { runs, failed: 0, output: String::new() };
    for _ in 0..runs {
        let run = oracle.run(input)?;
        found.failed += u32::from(run.outcome == Outcome::Fail);
        if let Some(process) = run.process.filter(|_| run.outcome == Outcome::Fail && found.output.is_empty()) {
            let all = [process.stdout, process.stderr].concat();
            let all = String::from_utf8_lossy(&all).into_owned();
            let lines: Vec<&str> = all.trim_end().lines().collect();
            found.output = lines[lines.len().saturating_sub(OUTPUT)..].join("\n");
        }
    }
    Ok((runs > 0).then_some(found))
}

/// The first lines of a text.
fn sample(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    let (most, width) = SAMPLE;
    let cut = |line: &str| match line.char_indices().nth(width) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    };
    let mut lines: Vec<String> = text.lines().take(most).map(cut).collect();
    if text.lines().nth(most).is_some() {
        lines.push("…".to_owned());
    }
    lines.join("\n")
}

fn environment(invocation: &Invocation) -> Environment {
    let (program, version) = match invocation {
        Invocation::Script { path } => (path.display().to_string(), None),
        Invocation::Program { argv } => {
            let program = argv.first().cloned().unwrap_or_default();
            (program.clone(), version(&program))
        }
    };
    let system = rustix::system::uname();
    let part = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let platform = format!("{} {} {}", part(system.sysname()), part(system.release()), part(system.machine()));
    Environment { program, version, platform, ddset: env!("CARGO_PKG_VERSION") }
}

/// What a program says to `--version`, if it is a line and comes soon.
fn version(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let end = Instant::now() + PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// A sheet of headings, paragraphs and quoted texts, as Markdown or plain.
struct Sheet {
    markdown: bool,
    text: String,
}

impl Sheet {
    fn heading(&mut self, words: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let _ = match self.markdown {
            true => writeln!(self.text, "{gap}## {words}\n"),
            false => writeln!(self.text, "{gap}{}\n", words.to_uppercase()),
        };
    }

    fn line(&mut self, words: &str) {
        let _ = writeln!(self.text, "{words}");
    }

    /// A text as it is. The fence is longer than any in it.
    fn quote(&mut self, language: &str, text: &str) {
        if !self.markdown {
            text.lines().for_each(|line| self.line(format!("    {line}").trim_end()));
            return;
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let _ = writeln!(self.text, "{fence}{language}\n{}\n{fence}", text.strip_suffix('\n').unwrap_or(text));
    }
}

fn written(report: &Report, markdown: bool) -> String {
    let Report { minimal, original, oracle, verified, steps, runs, pattern, evidence, environment } = report;
    let mut sheet = Sheet { markdown, text: String::new() };
    sheet.heading("Smallest failing input");
    let language = if minimal.grammar == "any" { "" } else { &minimal.grammar };
    sheet.quote(language, &minimal.input);
    sheet.line("");
    let share = 100.0 * minimal.bytes as f64 / original.bytes.max(1) as f64;
    let proof = if minimal.proven { "no single step makes it smaller (1-tree-minimal)" } else { "not proven minimal" };
    sheet.line(&format!("{} of {} bytes ({share:.2} %); {proof}.", minimal.bytes, original.bytes));
    if !minimal.exact {
        sheet.line(&format!("Some of its bytes are no text: the exact input is in {}.", minimal.file));
    }
    if let Some(Verified { runs, failed, .. }) = verified {
        sheet.line(&format!("Verified: ran {runs} times, failed {failed} times."));
    }

    sheet.heading("How it fails");
    sheet.line("Run:");
    sheet.line("");
    sheet.quote("", &oracle.command);
    sheet.line("");
    oracle.rules.iter().for_each(|rule| sheet.line(&format!("- {rule}")));
    if let Some(Verified { output, .. }) = verified.as_ref().filter(|verified| !verified.output.is_empty()) {
        sheet.line("");
        sheet.line("Its output ends with:");
        sheet.line("");
        sheet.quote("", output);
    }

    if let (Some(pattern), Some(evidence)) = (pattern, evidence) {
        sheet.heading("What may vary");
        sheet.quote("", pattern["pattern"].as_str().unwrap_or_default());
        sheet.line("");
        sheet.line("`<name>` may be anything of that kind, `<$name1>` also, but the same wherever it stands.");
        sheet.line("");
        sheet.quote("", evidence.trim_end());
    }

    sheet.heading("How it was found");
    if let Some(runs) = runs {
        sheet.line(&format!("{runs} runs in all; the steps of the reduction, each of which still failed:"));
        sheet.line("");
    }
    let cell = |run: &str, operation: &str, bytes: &str| match markdown {
        true => format!("| {run} | {operation} | {bytes} |"),
        false => format!("{run:>6}  {operation:<12} {bytes:>9}"),
    };
    sheet.line(&cell("run", "step", "bytes"));
    if markdown {
        sheet.line("| ---: | --- | ---: |");
    }
    sheet.line(&cell("1", "the original", &original.bytes.to_string()));
    let hidden = steps.len().saturating_sub(STEPS);
    for (number, step) in steps.iter().enumerate() {
        if hidden > 0 && number == STEPS / 2 {
            sheet.line(&cell("…", &format!("{hidden} more"), "…"));
        }
        if hidden == 0 || number < STEPS / 2 || number >= STEPS / 2 + hidden {
            sheet.line(&cell(&step.run.to_string(), &step.operation, &step.bytes.to_string()));
        }
    }

    sheet.heading("Original input");
    sheet.line(&format!("{}, {} bytes; it begins with:", original.file, original.bytes));
    sheet.line("");
    sheet.quote(language, &original.sample);

    sheet.heading("Environment");
    let version = environment.version.as_ref().map_or(String::new(), |version| format!(" ({version})"));
    sheet.line(&format!("- program: {}{version}", environment.program));
    sheet.line(&format!("- platform: {}", environment.platform));
    sheet.line(&format!("- ddset {}", environment.ddset));
    sheet.text
}
