//! From arguments, `ddset.toml` and earlier runs to what is to be done.

use super::args::{GivenGrammar, GrammarOptions, JobOptions, MessageFormat, OracleOptions, SandboxIs, TimeoutIs};
use super::diagnostics::Findings;
use super::trial::{Trial, Wishes};
use super::{Exit, Failure, say};
use ddset::grammar::diagnostic::{Diagnostic, Severity};
use ddset::grammar::sources::Sources;
use ddset::grammar::{Format, Grammar, bundled};
use ddset::layout::{Folded, Layout, LayoutError, Unfolding};
use ddset::oracle::{Calibration, CommandOracle, CommandSpec, Oracle, OracleError, Rate, Rules, Voting};
use ddset::parse::ParseError;
use ddset::search::{Budget, Event, Search, Stop};
use ddset::session::config::{Config, ConfigError};
use ddset::session::{Request, Session, SessionError};
use ddset::tree::Tree;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const DEFAULT_SEED: u64 = 1;
/// The most jobs that are used unless more are asked for.
const MOST_JOBS: usize = 8;
/// The name of the hint that keeps the number.
const JOBS: &str = "jobs";

/// Everything that `reduce` and `abstract` need.
pub(crate) struct Job {
    pub grammar: Arc<Grammar>,
    pub layout: Layout,
    /// The input's tree.
    pub tree: Tree,
    pub oracle: Unfolding<Voting<CommandOracle>>,
    /// How many of the fresh runs of the result failed.
    pub confirmed: Cell<Option<Rate>>,
    pub session: Session,
    pub stop: Arc<AtomicBool>,
    /// How many runs at a time.
    pub jobs: usize,
    budget: Budget,
}

impl Job {
    pub(crate) fn new(options: &JobOptions) -> Result<Job, Failure> {
        let stop = interruptible()?;
        let deadline = options.max_time.and_then(|time| Instant::now().checked_add(time));
        let budget = Budget { max_runs: options.max_runs, deadline };
        let (request, grammar, place) = match &options.input {
            Some(input) => {
                let place = Place::of(input)?;
                let (request, grammar) = place.request(options)?;
                (request, grammar, Some(place))
            }
            None => {
                let request = earlier(options)?;
                let sources = Sources::of(&request.grammar, &request.grammar_text);
                let grammar = load(sources, None, request.start.as_deref())?;
                (request, grammar, None)
            }
        };
        // Before anything is run: what cannot be parsed costs no run.
        let (request, grammar, tree) = parsed(request, grammar)?;
        // Before the oracle is looked for: it may be what the preparation builds.
        let prepared = match &place {
            Some(place) => place.prepare(),
            None => prepare_again(&request.oracle.base),
        };
        prepared?;
        let mut request = request;
        let wishes = match &place {
            Some(place) => place.wishes(&options.oracle),
            None => Wishes::recorded(&request, &options.oracle)?,
        };
        let trial = Trial::of(request.oracle.clone(), &request.input, &options.oracle, wishes, &stop);
        // That no run was possible any more because of Ctrl-C is no fault of the oracle.
        let trial =
            trial.map_err(|failure| if stop.load(Ordering::Relaxed) { Stop::Interrupted.into() } else { failure })?;
        for note in &trial.notes {
            say(note);
        }
        if options.oracle.only_shows() {
            return Err(Failure::new(Exit::Done, trial.shown()));
        }
        let jobs = match (options.run.jobs, place.as_ref().and_then(Place::jobs), request.hints.get(JOBS)) {
            (Some(jobs), ..) | (None, Some(jobs), _) => Some(u64::from(jobs)),
            (None, None, hint) => hint.and_then(serde_json::Value::as_u64),
        };
        request.hints = jobs.map(|jobs| (JOBS.to_owned(), jobs.into())).into_iter().collect();
        let jobs = jobs.map_or_else(processors, |jobs| jobs as usize);
        let oracle = trial.oracle;
        let CommandSpec { fail, unresolved, timeout_is_fail, .. } = oracle.oracle.spec().clone();
        request.oracle = CommandSpec { fail, unresolved, timeout_is_fail, ..request.oracle };
        wishes.record(&mut request);
        let request = Request { oracle_identity: oracle.identity(), ..request };
        let session = Session::open(&options.run.run, request)?;
        if session.resumed() {
            say(&format!("going on in {}", session.folder().display()));
            if let Some(note) = wishes.changes(&session) {
                say(&note);
            }
        }
        let layout = Layout::of(&grammar);
        let oracle = Unfolding::new(oracle, layout.clone());
        let confirmed = Cell::new(None);
        Ok(Job { grammar: Arc::new(grammar), layout, tree, oracle, confirmed, session, stop, jobs, budget })
    }

    /// Tells of the other failures that were met on the way, as data; and in words, on standard error.
    pub(crate) fn others(&self) -> Result<serde_json::Value, Failure> {
        const SHOWN: usize = 5;
        let others = self.session.others()?;
        for (failure, input) in others.iter().take(SHOWN) {
            say(&format!("another failure: {failure}\n          smallest input so far: {}", input.display()));
        }
        if others.len() > SHOWN {
            say(&format!("          and {} more in the same folder", others.len() - SHOWN));
        }
        Ok(others.iter().map(|(failure, input)| serde_json::json!({ "failure": failure, "input": input })).collect())
    }

    /// Does the work with a search, whose threads end with it.
    pub(crate) fn with_search<R>(
        &self,
        progress: &super::progress::Progress,
        work: impl FnOnce(&mut Search<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        std::thread::scope(|scope| {
            let mut search = self.search(progress)?.with_jobs(scope, self.jobs);
            let result = work(&mut search);
            // What was run ahead is not asked for anymore, and need not be waited for.
            self.stop.store(true, Ordering::Relaxed);
            result
        })
    }

    /// A search that remembers each run in the session, and keeps the best input there.
    fn search<'a>(&'a self, progress: &'a super::progress::Progress) -> Result<Search<'a>, Failure> {
        let kept = |event: &Event<'_>| {
            let kept = match event {
                Event::Best { best, .. } => self.session.save_best(&self.layout.unfold(best)),
                Event::Other { failure, input } => self.session.save_other(failure, &self.layout.unfold(input)),
                _ => Ok(()),
            };
            if let Err(error) = kept {
                // Nothing more may be gained that cannot be kept.
                super::tell_error(&format!("error: {error}"));
                self.stop.store(true, Ordering::Relaxed);
            }
            progress.show(event);
        };
        Ok(Search::new(&self.oracle)
            .with_memory(Box::new(self.session.journal()?))
            .with_stop(self.stop.clone())
            .with_budget(self.budget)
            .with_observer(Box::new(kept)))
    }
}

/// The rules that follow from what runs have shown.
pub(crate) fn calibrated(found: &Calibration, spec: &CommandSpec) -> Result<CommandSpec, Failure> {
    let next = "next: `ddset oracle check` with the same arguments shows the run";
    let end = found.ends.first().map_or("nothing", String::as_str);
    let differ = found.ends.iter().any(|other| other != end);
    if differ && (found.signature.is_none() || !found.is_telling()) {
        let mut ends = found.ends.clone();
        ends.sort_unstable();
        ends.dedup();
        let message = format!(
            "the failure comes and goes: {} runs of the input ended with {}.\nSay which end is the failure, with \
             --fail-exit, --fail-signal or --fail-output; {next}",
            found.ends.len(),
            ends.join(", ")
        );
        return Err(Failure::new(Exit::Flaky, message));
    }
    if !found.is_telling() {
        let why = match &found.signature {
            _ if found.hangs => "so it is with every other input, even an empty one",
            Some(_) => "every other input, even an empty one, ends so, too",
            None => "nothing that it printed tells of a failure",
        };
        let rule = match end.strip_prefix("exit status ") {
            _ if end == "out of memory" => "more memory with `--max-memory`, if it needs that".to_owned(),
            _ if found.hangs => "`--timeout-is fail`, or allow more time with `--timeout`".to_owned(),
            Some(exit) => format!("`--fail-exit {exit}`, or `--fail-output` with what it prints"),
            None => "`--fail-output` with what it prints".to_owned(),
        };
        let message = format!(
            "the input does not fail: the run ended with {end}, and {why}; if this is the failure, add {rule}\n{next}"
        );
        return Err(Failure::new(Exit::DoesNotFail, message));
    }
    let mut spec = spec.clone();
    found.apply(&mut spec);
    Ok(spec)
}

/// Ctrl-C and termination set a flag, so that the search ends between two runs with everything kept. A second one ends at once.
pub(crate) fn interruptible() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        let registered = signal_hook::flag::register_conditional_shutdown(signal, 130, stop.clone())
            .and_then(|_| signal_hook::flag::register(signal, stop.clone()));
        registered.map_err(|error| Failure::usage(format!("signals cannot be handled: {error}")))?;
    }
    Ok(stop)
}

/// How many runs at a time if nothing is said.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |number| number.get().min(MOST_JOBS))
}

/// What the last run asked, with what the command line says otherwise.
fn earlier(options: &JobOptions) -> Result<Request, Failure> {
    let session = Session::latest(&options.run.run)?;
    let mut request = session.request().clone();
    if !options.grammar.grammar.is_empty() {
        let given = GivenGrammar::of(&options.grammar);
        request.start.clone_from(&given.start);
        (request.grammar, request.grammar_text) = (given.files.join(" "), grammar(&given)?.source().to_owned());
    } else if options.grammar.start.is_some() {
        request.start.clone_from(&options.grammar.start);
    }
    if let Some(seed) = options.run.seed {
        request.seed = seed;
    }
    let base = request.oracle.base.clone();
    request.oracle = with_options(Some(request.oracle), &options.oracle, &base)?;
    Ok(request)
}

/// A ddset.toml in the oracle's folder may build the program; going on from an earlier run does it again, in case it changed.
fn prepare_again(base: &Path) -> Result<(), Failure> {
    Config::beside(base)?.as_ref().map_or(Ok(()), prepare)
}

/// It may take minutes, and says nothing meanwhile.
fn prepare(config: &Config) -> Result<(), Failure> {
    if !config.prepare.is_empty() {
        say(&format!("preparing: {}", config.prepare.join(" ")));
    }
    Ok(config.prepare()?)
}

/// The option by which the next command finds the same runs.
pub(crate) fn run_option(options: &super::args::RunOptions) -> String {
    match options.run.to_str() {
        Some(".ddset") => String::new(),
        _ => format!(" --run {}", options.run.display()),
    }
}

impl GivenGrammar {
    pub(crate) fn of(options: &GrammarOptions) -> GivenGrammar {
        let GrammarOptions { grammar, grammar_format, start } = options.clone();
        GivenGrammar { files: grammar, grammar_format, start }
    }
}

/// An input with the `ddset.toml` beside it.
pub(crate) struct Place {
    pub input: PathBuf,
    config: Option<Config>,
}

impl Place {
    pub(crate) fn of(input: &Path) -> Result<Place, Failure> {
        if input.is_dir() {
            let config = Config::find(input)?;
            let file = config.input_path().ok_or_else(|| {
                Failure::usage(format!("error: {} names no input: add `input = \"FILE\"`", config.path.display()))
            })?;
            return Ok(Place { input: file, config: Some(config) });
        }
        Ok(Place { input: input.to_owned(), config: Config::beside(input)? })
    }

    /// The oracle that the arguments and the `ddset.toml` say.
    pub(crate) fn oracle(&self, options: &OracleOptions) -> Result<CommandSpec, Failure> {
        let here = std::env::current_dir().map_err(|error| Failure::usage(format!("the current folder: {error}")))?;
        let configured = self.config.as_ref().and_then(Config::command_spec);
        let mut spec = with_options(configured, options, &here)?;
        let name = self.input.file_name().unwrap_or_default();
        spec.file_name = name.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::usage(format!("the file name of {} is not UTF-8: rename the input", self.input.display()))
        })?;
        Ok(spec)
    }

    fn jobs(&self) -> Option<u16> {
        Some(self.config.as_ref()?.jobs?.get())
    }

    /// What is wanted of the oracle beyond what it is.
    pub(crate) fn wishes(&self, options: &OracleOptions) -> Wishes {
        let configured = self.config.as_ref().and_then(|config| config.oracle.as_ref());
        let sandbox = configured.and_then(|oracle| oracle.sandbox).map(SandboxIs::from);
        let need = configured.and_then(|oracle| oracle.need);
        Wishes { sandbox: options.sandbox.or(sandbox), need: options.need.or(need) }
    }

    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        match &self.config {
            Some(config) => prepare(config),
            None => Ok(()),
        }
    }

    fn request(&self, options: &JobOptions) -> Result<(Request, Grammar), Failure> {
        let given = self.grammar(&options.grammar)?;
        let grammar = grammar(&given)?;
        let seed = options.run.seed.or_else(|| self.config.as_ref()?.seed).unwrap_or(DEFAULT_SEED);
        let request = Request {
            grammar_text: grammar.source().to_owned(),
            grammar: given.files.join(" "),
            start: given.start,
            oracle: self.oracle(&options.oracle)?,
            oracle_identity: String::new(),
            input_path: self.input.clone(),
            input: read(&self.input)?,
            seed,
            options: BTreeMap::new(),
            hints: BTreeMap::new(),
        };
        Ok((request, grammar))
    }

    /// Grammar and start; a start in the `ddset.toml` belongs to the grammar there.
    fn grammar(&self, options: &GrammarOptions) -> Result<GivenGrammar, Failure> {
        if !options.grammar.is_empty() {
            return Ok(GivenGrammar::of(options));
        }
        let Some(config) = self.config.as_ref().filter(|config| !config.grammar.is_empty()) else {
            let bundled = bundled::for_file(&self.input).unwrap_or(bundled::any());
            say(&format!("grammar: {}, {}", bundled.name, bundled.summary));
            let files = vec![bundled.name.to_owned()];
            return Ok(GivenGrammar { files, grammar_format: None, start: options.start.clone() });
        };
        let file = |name: &String| {
            let file = config.path_of(name);
            if file.exists() { file.display().to_string() } else { name.clone() }
        };
        Ok(GivenGrammar {
            files: config.grammar.iter().map(file).collect(),
            grammar_format: options.grammar_format,
            start: options.start.clone().or_else(|| config.start.clone()),
        })
    }
}

/// An oracle with what the command line says put in its place. A program or script there takes the place of the whole.
pub(crate) fn with_options(
    base: Option<CommandSpec>,
    options: &OracleOptions,
    here: &Path,
) -> Result<CommandSpec, Failure> {
    let given = match (&options.test, options.program.as_slice()) {
        (Some(script), _) => Some(CommandSpec::script(script)),
        (None, []) => None,
        (None, argv) => Some(CommandSpec::program(argv.iter().cloned())),
    };
    let given = given.map(|spec| CommandSpec { base: here.to_owned(), ..spec });
    let mut spec = given.or(base).ok_or_else(|| {
        Failure::usage(
            "error: no oracle was given: use --test SCRIPT, or a program after `--` with --fail-exit, --fail-signal or \
             --fail-output",
        )
    })?;
    let replace = |rules: &mut Rules, exit: &Vec<i32>, signal: &Vec<_>, output: &Vec<String>| {
        if !exit.is_empty() || !signal.is_empty() || !output.is_empty() {
            *rules = Rules { exit: exit.clone(), signal: signal.clone(), output: output.clone(), signature: None };
        }
    };
    replace(&mut spec.fail, &options.fail_exit, &options.fail_signal, &options.fail_output);
    replace(&mut spec.unresolved, &options.unresolved_exit, &options.unresolved_signal, &options.unresolved_output);
    if let Some(timeout) = options.timeout {
        spec.timeout = Some(timeout);
    }
    if options.max_memory.is_some() {
        spec.max_memory = options.max_memory;
    }
    if !options.env.is_empty() {
        spec.env.clone_from(&options.env);
    }
    if let Some(late) = options.timeout_is {
        spec.timeout_is_fail = late == TimeoutIs::Fail;
    }
    spec.check().map_err(|error| Failure::usage(format!("error: {error}")))?;
    Ok(spec)
}

/// What `ddset parse` needs: the grammar, the input, and how the input is called.
pub(crate) fn grammar_and_input(options: &GrammarOptions, input: &Path) -> Result<(Grammar, Vec<u8>, String), Failure> {
    let place = Place::of(input)?;
    let grammar = grammar(&place.grammar(options)?)?;
    Ok((grammar, read(&place.input)?, place.input.display().to_string()))
}

/// The grammar of those files or that name.
pub(crate) fn grammar(given: &GivenGrammar) -> Result<Grammar, Failure> {
    let sources =
        Sources::open(&given.files).map_err(|error| Failure::new(Exit::Grammar, format!("error: {error}")))?;
    load(sources, given.grammar_format, given.start.as_deref())
}

fn load(sources: Sources, format: Option<Format>, start: Option<&str>) -> Result<Grammar, Failure> {
    Grammar::load(sources, format, start).map_err(|error| Failure::findings(Findings::of_error(error)))
}

/// The request with its input's tree. Without a grammar that the input is in, all goes on by what is in every text.
fn parsed(mut request: Request, grammar: Grammar) -> Result<(Request, Grammar, Tree), Failure> {
    let shown = request.input_path.display().to_string();
    let problem = match attempt(&grammar, &request.input) {
        Ok(tree) => return Ok((request, grammar, tree)),
        Err(problem) if problem.code != "input-too-long" => problem,
        Err(problem) => return Err(Failure::findings(Findings::of_input(problem, &shown, &request.input))),
    };
    let help = "going on without the grammar, by brackets, lines and words (`any`): one that the input is in leads to a \
                smaller result in fewer runs";
    let problem = Diagnostic { severity: Severity::Warning, ..problem }.with_help(help);
    Findings::of_input(problem, &shown, &request.input).tell(MessageFormat::Text);
    let any = bundled::any();
    (request.grammar, request.grammar_text, request.start) = (any.name.to_owned(), any.source.to_owned(), None);
    let grammar = load(Sources::of(any.name, any.source), None, None)?;
    let tree = parse(&grammar, &request.input, &shown)?;
    Ok((request, grammar, tree))
}

/// The tree of an input, or what is wrong with it.
fn attempt(grammar: &Grammar, input: &[u8]) -> Result<Tree, Diagnostic> {
    let folded = Layout::of(grammar).fold(input).map_err(|error| error.diagnostic())?;
    ddset::parse::parse(grammar, &folded.text).map_err(|error| folded.in_source(error.diagnostic()))
}

/// The tree of an input, its layout folded into marks.
pub(crate) fn parse(grammar: &Grammar, input: &[u8], shown: &str) -> Result<Tree, Failure> {
    attempt(grammar, input).map_err(|problem| Failure::findings(Findings::of_input(problem, shown, input)))
}

/// An input with the marks of its layout.
pub(crate) fn fold(grammar: &Grammar, input: &[u8], shown: &str) -> Result<Folded, Failure> {
    let failure = |error: LayoutError| Failure::findings(Findings::of_input(error.diagnostic(), shown, input));
    Layout::of(grammar).fold(input).map_err(failure)
}

pub(crate) fn parse_failure(folded: &Folded, error: &ParseError, input: &[u8], shown: &str) -> Failure {
    Failure::findings(Findings::of_input(folded.in_source(error.diagnostic()), shown, input))
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::usage(format!("error: cannot read {}: {error}", path.display())))
}

impl From<OracleError> for Failure {
    fn from(error: OracleError) -> Self {
        Failure::new(Exit::Oracle, format!("error: {error}"))
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Failure::usage(format!("error: {error}"))
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let exit = if matches!(error, ConfigError::Prepare { .. }) { Exit::Oracle } else { Exit::Usage };
        Failure::new(exit, format!("error: {error}"))
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Interrupted => Failure::new(Exit::Interrupted, "interrupted"),
            Stop::Budget(_) => Failure::new(Exit::Done, format!("stopped: {stop}")),
            Stop::Oracle(error) => error.into(),
            Stop::Memory(_) => Failure::usage(format!("error: {stop}")),
        }
    }
}
