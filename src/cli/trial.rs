//! What is found out of an oracle before it is used: the failure, how often it comes, whether it comes in a sandbox too.

use super::args::{OracleOptions, SandboxIs};
use super::{Exit, Failure, job};
use clap::ValueEnum;
use ddset::oracle::environment;
use ddset::oracle::{
    Calibration, CommandOracle, CommandSpec, Need, Oracle, OracleError, Outcome, Rate, Sandbox, Voting,
};
use ddset::session::{Request, Session, config};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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

    /// Tries out an oracle. What comes too seldom for a vote, or whose failure cannot be told, is an error; an input that does not
    /// fail is none.
    pub(crate) fn of(
        spec: CommandSpec,
        input: &[u8],
        options: &OracleOptions,
        wishes: Wishes,
        stop: &Arc<AtomicBool>,
    ) -> Result<Trial, Failure> {
        let mut notes = Vec::new();
        let mut oracle = oracle(spec, stop)?;
        let mut found = None;
        let mut known = Rate::default();
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
        let need = wishes.need.or(voted(&rate)?);
        if rate.failed < rate.of && rate.failed > 0 || wishes.need.is_some() {
            let vote = need.map(|need| need.to_string()).unwrap_or_default();
            notes.push(format!("flaky:    {} of {} runs failed; {vote}", rate.failed, rate.of));
        }
        let mut trial = Trial { oracle: Voting { oracle, need }, found, rate, notes };
        trial.choose_sandbox(input, wishes.sandbox.unwrap_or(SandboxIs::Auto))?;
        Ok(trial)
    }

    /// One that was not tried out.
    pub(crate) fn untried(spec: CommandSpec, stop: &Arc<AtomicBool>) -> Result<Trial, Failure> {
        let oracle = Voting { oracle: oracle(spec, stop)?, need: None };
        Ok(Trial { oracle, found: None, rate: Rate::default(), notes: Vec::new() })
    }

    /// The strongest sandbox in which the original does what it does outside.
    fn choose_sandbox(&mut self, input: &[u8], when: SandboxIs) -> Result<(), Failure> {
        if when == SandboxIs::Off {
            return Ok(());
        }
        // A program may have been mended since.
        let outside = if self.rate.failed > 0 { Outcome::Fail } else { self.oracle.run(input)?.outcome };
        let mut why = Vec::new();
        for sandbox in Sandbox::ALL {
            self.oracle.oracle.set_sandbox(sandbox);
            match self.oracle.run(input) {
                Ok(run) if run.outcome == outside => return Ok(()),
                Ok(run) => why.push(format!(
                    "{}: the input does not do there what it does outside ({})",
                    name(sandbox),
                    run.reason
                )),
                Err(OracleError { message }) => why.push(format!("{}: {message}", name(sandbox))),
            }
        }
        let why = why.join("; ");
        if when == SandboxIs::On {
            return Err(Failure::new(
                Exit::Oracle,
                format!(
                    "error: no sandbox can be used: {why}\nnext: let the program write to its folder (TMPDIR) only, install \
                     bubblewrap, or run in a container with --sandbox off"
                ),
            ));
        }
        self.oracle.oracle.set_sandbox(Sandbox::Off);
        self.notes.push(format!("sandbox:  off, and programs nobody has seen will run: {why}"));
        Ok(())
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
