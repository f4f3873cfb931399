//! What is found out of an oracle before it is used: the failure, how often it comes, whether it comes in a sandbox too.

use super::args::{OracleOptions, SandboxIs};
use super::{Exit, Failure, job};
use clap::ValueEnum;
use ddset::oracle::environment;
use ddset::oracle::{Calibration, CommandOracle, CommandSpec, Need, Oracle, Outcome, Rate, Sandbox, Voting};
use ddset::search::Stop;
use ddset::session::{Request, Session, config};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An oracle that was tried out on the original.
pub(crate) struct Trial {
    pub oracle: Voting<CommandOracle>,
    /// What the failure is, if nothing was said of it.
    pub found: Option<Calibration>,
    pub rate: Rate,
    /// What a user should know, a line each.
    pub notes: Vec<String>,
}

/// What the user, or the `ddset.toml`, wants of the oracle beyond what it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    pub sandbox: Option<SandboxIs>,
    pub need: Option<Need>,
}

impl Wishes {
    /// Where a request keeps what does not change its result.
    const ENVIRONMENT: &str = "environment";
    const SANDBOX: &str = "sandbox";
    const NEED: &str = "need";

    /// What an earlier request wanted, with what the command line says otherwise.
    pub(crate) fn recorded(request: &Request, options: &OracleOptions) -> Result<Wishes, Failure> {
        let word = |name: &str| request.hints.get(name).and_then(|value| value.as_str());
        let sandbox = word(Self::SANDBOX).and_then(|word| SandboxIs::from_str(word, true).ok());
        let need = word(Self::NEED).map(str::parse).transpose().map_err(Failure::usage)?;
        Ok(Wishes { sandbox: options.sandbox.or(sandbox), need: options.need.or(need) })
    }

    /// Keeps them in a request, with the environment of its runs.
    pub(crate) fn record(&self, request: &mut Request) {
        let mut keep = |name: &str, value: serde_json::Value| request.hints.insert(name.to_owned(), value);
        keep(Self::ENVIRONMENT, serde_json::json!(environment::inherited()));
        if let Some(sandbox) = self.sandbox {
            keep(Self::SANDBOX, format!("{sandbox:?}").to_lowercase().into());
        }
        if let Some(Need::Runs(need, of)) = self.need {
            keep(Self::NEED, format!("{need}/{of}").into());
        }
    }

    /// Says which inherited variables are not what they were when an earlier process asked the same.
    pub(crate) fn changes(&self, session: &Session) -> Option<String> {
        let earlier = session.earlier_hints().get(Self::ENVIRONMENT)?;
        let earlier: BTreeMap<String, String> = serde_json::from_value(earlier.clone()).ok()?;
        let now = environment::inherited();
        let names: BTreeSet<&String> = earlier.keys().chain(now.keys()).collect();
        let differ: Vec<&str> =
            names.into_iter().filter(|name| earlier.get(*name) != now.get(*name)).map(String::as_str).collect();
        let words = "the environment is not what it was: ";
        (!differ.is_empty())
            .then(|| format!("{words}{}; if that matters to the program, use another --run folder", differ.join(", ")))
    }
}

impl From<config::SandboxIs> for SandboxIs {
    fn from(configured: config::SandboxIs) -> Self {
        match configured {
            config::SandboxIs::Auto => SandboxIs::Auto,
            config::SandboxIs::On => SandboxIs::On,
            config::SandboxIs::Off => SandboxIs::Off,
        }
    }
}

impl Trial {
    /// What was found out, for who only wants to know.
    pub(crate) fn shown(&self) -> String {
        let rules = self.oracle.oracle.spec().rules_in_words();
        format!("rate:     {} of {} runs failed\n{}", self.rate.failed, self.rate.of, rules.join("\n"))
    }

    /// Tries out an oracle in the strongest sandbox in which the input fails; without one, if it fails in none. What comes too
    /// seldom for a vote, or whose failure cannot be told, is an error; an input that does not fail is none.
    pub(crate) fn of(
        spec: CommandSpec,
        input: &[u8],
        options: &OracleOptions,
        wishes: Wishes,
        stop: &Arc<AtomicBool>,
    ) -> Result<Trial, Failure> {
        // What is wrong with the oracle itself has nothing to do with sandboxes.
        oracle(spec.clone(), stop)?;
        let when = wishes.sandbox.unwrap_or(SandboxIs::Auto);
        if when == SandboxIs::Off {
            return Self::inside(Sandbox::Off, spec, input, options, wishes.need, stop);
        }
        let mut why = Vec::new();
        let mut without_failure = None;
        for sandbox in Sandbox::ALL {
            let trial = Self::inside(sandbox, spec.clone(), input, options, wishes.need, stop);
            match trial {
                Ok(mut trial) => {
                    if trial.rate.failed > 0 && (when == SandboxIs::On || trial.fails_outside(input)?) {
                        return Ok(trial);
                    }
                    why.push(format!("{}: the input does not fail there as outside", name(sandbox)));
                    without_failure = without_failure.or(Some(trial));
                }
                Err(failure) => why.push(format!("{}: {}", name(sandbox), failure.first_line())),
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Stop::Interrupted.into());
            }
        }
        let why = why.join("; ");
        match (when, without_failure) {
            (SandboxIs::On, Some(mut trial)) => {
                let next = "if it fails with --sandbox off, let it write to its folder (TMPDIR) only";
                trial.notes.push(format!("sandbox:  {why}; {next}"));
                Ok(trial)
            }
            (SandboxIs::On, None) => {
                let next = "install bubblewrap, or use a container and --sandbox off";
                Err(Failure::new(Exit::Oracle, format!("error: no sandbox can be used: {why}\nnext: {next}")))
            }
            (_, without_failure) => {
                let mut trial = Self::inside(Sandbox::Off, spec, input, options, wishes.need, stop)?;
                match without_failure {
                    // A program that was mended since: there is no reason to do without.
                    Some(inside) if trial.rate.failed == 0 => Ok(inside),
                    _ => {
                        trial.notes.push(format!("sandbox:  off: {why}"));
                        Ok(trial)
                    }
                }
            }
        }
    }

    fn inside(
        sandbox: Sandbox,
        spec: CommandSpec,
        input: &[u8],
        options: &OracleOptions,
        need: Option<Need>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Trial, Failure> {
        let mut notes = Vec::new();
        let mut found = None;
        let mut known = Rate::default();
        let mut oracle = oracle(CommandSpec { sandbox, ..spec }, stop)?;
        if oracle.spec().is_open() {
            let calibration = Calibration::of(&oracle, input, options.strictness())?;
            let spec = job::calibrated(&calibration, oracle.spec())?;
            notes.extend(calibration.to_string().lines().map(str::to_owned));
            oracle = self::oracle(spec, stop)?;
            oracle.learn_time(calibration.slowest);
            known = calibration.rate;
            found = Some(calibration);
        }
        let rate = known.continued(&oracle, input)?;
        oracle.settle_time();
        let voted = match need {
            Some(need) => Some(need),
            None => voted(&rate)?,
        };
        if let Some(need) = voted {
            notes.push(format!("flaky:    {} of {} runs failed; {need}", rate.failed, rate.of));
        }
        Ok(Trial { oracle: Voting { oracle, need: voted }, found, rate, notes })
    }

    /// Whether the input fails in the same way without the sandbox. What the rules of a user say is the failure is so anywhere.
    fn fails_outside(&mut self, input: &[u8]) -> Result<bool, Failure> {
        if self.found.is_none() {
            return Ok(true);
        }
        let sandbox = self.oracle.oracle.spec().sandbox;
        self.oracle.oracle.set_sandbox(Sandbox::Off);
        let run = self.oracle.run(input);
        self.oracle.oracle.set_sandbox(sandbox);
        Ok(run?.outcome == Outcome::Fail)
    }

    /// The oracle of an earlier run, in the strongest sandbox in which the input fails once more; without any if it fails in none.
    pub(crate) fn again(request: &Request, input: &[u8], stop: &Arc<AtomicBool>) -> Result<CommandOracle, Failure> {
        let options = OracleOptions::default();
        let wishes = Wishes::recorded(request, &options)?;
        let inside = Sandbox::ALL.iter().filter(|_| wishes.sandbox != Some(SandboxIs::Off));
        for sandbox in inside {
            let tried = oracle(CommandSpec { sandbox: *sandbox, ..request.oracle.clone() }, stop)?;
            if tried.run(input).is_ok_and(|run| run.outcome == Outcome::Fail) {
                return Ok(tried);
            }
        }
        oracle(request.oracle.clone(), stop)
    }

    /// One that was not tried out.
    pub(crate) fn untried(spec: CommandSpec, stop: &Arc<AtomicBool>) -> Result<Trial, Failure> {
        let oracle = Voting { oracle: oracle(spec, stop)?, need: None };
        Ok(Trial { oracle, found: None, rate: Rate::default(), notes: Vec::new() })
    }
}

/// The oracle of a spec, as the command line uses it.
fn oracle(spec: CommandSpec, stop: &Arc<AtomicBool>) -> Result<CommandOracle, Failure> {
    let oracle = CommandOracle::new(spec)?.with_stop(stop.clone());
    Ok(match std::env::current_exe() {
        Ok(guard) => oracle.with_guard(guard),
        Err(_) => oracle,
    })
}

/// The vote that a rate asks for.
fn voted(rate: &Rate) -> Result<Option<Need>, Failure> {
    if rate.is_steady() {
        return Ok(None);
    }
    rate.need().map(Some).ok_or_else(|| {
        Failure::new(
            Exit::Flaky,
            format!(
                "the failure comes and goes, and too seldom: {} of {} runs of the input failed, and a vote would take more \
                 than {} runs.\nMake it come more often (repeat the program in a script given with --test, fix its random \
                 seed), or say how many runs must fail, such as --need 1/300",
                rate.failed,
                rate.of,
                ddset::oracle::MOST_RUNS
            ),
        )
    })
}

fn name(sandbox: Sandbox) -> String {
    format!("{sandbox:?}").to_lowercase()
}
