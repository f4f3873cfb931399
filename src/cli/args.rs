//! The command line as it is typed.

use super::skeleton::Skeleton;
use clap::{Args, Parser, Subcommand, ValueEnum};
use ddset::grammar::Format as Notation;
use ddset::oracle::environment::Variable;
use ddset::oracle::{Need, Signal, Strictness, parse_bytes, parse_duration};
use std::path::PathBuf;
use std::time::Duration;

/// Reduce a failing input, abstract it into a pattern, generate more inputs that fail the same way.
#[derive(Debug, Parser)]
#[command(
    name = "ddset",
    version,
    after_help = "Exit status: 0 done, 1 the input does not fail (generate --verify: not all do), 2 wrong usage, 3 grammar or parse error, \
                  4 the oracle could not be run, 5 the failure is not steady, 130 interrupted (the best so far is kept).\n\n\
                  Example: ddset abstract --grammar expr --fail-exit 101 input.expr -- ./calculator {}"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// How to print what is wrong with a grammar or an input: as text, or as JSON, one object a line
    #[arg(long, global = true, value_enum, default_value_t = MessageFormat::Text, value_name = "FORMAT")]
    pub message_format: MessageFormat,
    /// Only results and errors: nothing of how it goes, and no summary
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the derivation tree of an input
    #[command(after_help = "Example: ddset parse --grammar expr input.expr --format sexp")]
    Parse(ParseArgs),
    /// Find the smallest input that fails the same way
    #[command(after_help = "Examples:\n  ddset reduce --grammar json --test ./fails.sh big.json > small.json\n  \
                            ddset reduce --grammar lua --fail-signal SEGV crash.lua -- lua {}")]
    Reduce(ReduceArgs),
    /// Find which parts of a failing input may be anything (reduces it first, if that was not done)
    #[command(after_help = "Examples:\n  ddset abstract corpora/expr\n  \
                            ddset abstract --grammar javascript --test ./fails.sh crash.js\n  \
                            ddset abstract                  (goes on from the last `ddset reduce`)")]
    Abstract(AbstractArgs),
    /// Make new inputs of a pattern
    #[command(after_help = "Examples:\n  ddset generate -n 20          (from the last `ddset abstract`)\n  \
                            ddset generate pattern.json -n 1000 -o inputs --verify")]
    Generate(GenerateArgs),
    /// Tell which inputs contain which patterns, and where
    #[command(after_help = "Examples:\n  ddset match pattern.json crashes/\n  \
                            ddset match --grammar expr -p '((<expr>))' -p 'DIV=<factor>/0' *.expr\n  \
                            ddset match --where 'A & !DIV' …      (only the names of inputs for which it holds)")]
    Match(MatchArgs),
    /// Write a grammar of the inputs for which a condition on patterns holds
    #[command(after_help = "Example: ddset combine 'A & !B' A=pattern.json B='<factor>/0' -o refined.ebnf")]
    Combine(CombineArgs),
    /// Tell whether every input with the first pattern has the second
    #[command(after_help = "Example: ddset contains --grammar expr '((<expr>))' '(<expr>)'")]
    Contains(ContainsArgs),
    /// Report what the last run found, for a bug tracker
    #[command(after_help = "Example: ddset report -o report.md")]
    Report(ReportArgs),
    /// Look at a grammar
    #[command(subcommand)]
    Grammar(GrammarCommand),
    /// Look at an oracle
    #[command(subcommand)]
    Oracle(OracleCommand),
}

#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    #[command(flatten)]
    pub grammar: GrammarOptions,
    /// How to print the tree
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    /// Instead of the tree, say where the input has other derivations, or how many it has in all
    #[arg(long, value_enum, conflicts_with = "format")]
    pub ambiguity: Option<AmbiguityFormat>,
    /// The input, or a folder with a ddset.toml
    pub input: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReduceArgs {
    #[command(flatten)]
    pub job: JobOptions,
    /// Write the result to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AbstractArgs {
    #[command(flatten)]
    pub job: JobOptions,
    /// How many distinct inputs of the finished pattern must fail
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub confidence: u32,
    /// Do not ask where something may be inserted
    #[arg(long)]
    pub no_slots: bool,
    /// Also say what was tried at each part, with examples and what it cost
    #[arg(long)]
    pub explain: bool,
    /// Write the pattern's JSON to this file, too
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// A pattern file; without it, the pattern of the last `ddset abstract`
    pub pattern: Option<PathBuf>,
    /// How many inputs
    #[arg(short, long, value_name = "N", default_value_t = 100)]
    pub n: usize,
    /// Write each input to a file of its own in this folder
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// End each input on standard output with a NUL character instead of a line break
    #[arg(short = '0', long)]
    pub null: bool,
    /// Run the oracle on each and count the outcomes
    #[arg(long)]
    pub verify: bool,
    /// Choose evenly, whatever was learned about validity
    #[arg(long)]
    pub uniform: bool,
    /// How large a filling may get: about how many choices may be others than those that end it soonest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub size: Option<u16>,
    /// How deep a filling may nest, in steps of the grammar
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub depth: Option<u32>,
    /// Also vary the holes for which valid fillings are rare
    #[arg(long)]
    pub rarely_valid: bool,
    /// Name the files of `-o` as a fuzzer's corpus does
    #[arg(long, value_enum, value_name = "FUZZER", requires = "output")]
    pub corpus: Option<Corpus>,
    /// Print a regression test with the inputs, to be filled in
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with = "output")]
    pub skeleton: Option<Skeleton>,
    /// Say which alternatives of the holes the inputs use
    #[arg(long)]
    pub coverage: bool,
    #[command(flatten)]
    pub oracle: OracleOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

/// Whose corpus a folder is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Corpus {
    /// A file's name is a hash of its content
    Libfuzzer,
    /// `id:000000,src:ddset` and so on
    Afl,
}

#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    /// Pattern files, then inputs, or folders of them
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// A pattern, `NAME=PATTERN` or `PATTERN`: a file, or a text with holes
    #[arg(short, long = "pattern", value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Print the names of the inputs for which this holds, such as `A & !B`, `exactly 2 A`, `A inside B`, `A before B`
    #[arg(long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,
    /// In folders, only files whose names end so
    #[arg(long, value_name = "EXT")]
    pub extension: Vec<String>,
    #[command(flatten)]
    pub grammar: GrammarOptions,
    /// How to print the result; JSON is one object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CombineArgs {
    /// What must hold, such as `A & !B`, `exactly 2 A`, `A inside B`, `A before B`
    pub condition: String,
    /// The patterns, `NAME=PATTERN` each: a file, or a text with holes
    #[arg(required = true, value_name = "PATTERN")]
    pub patterns: Vec<String>,
    #[command(flatten)]
    pub grammar: GrammarOptions,
    /// The notation to write
    #[arg(long, value_enum, default_value_t = Target::Ebnf)]
    pub to: Target,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ContainsArgs {
    /// A pattern: a file, or a text with holes
    pub first: String,
    /// Another
    pub second: String,
    #[command(flatten)]
    pub grammar: GrammarOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// How to write it
    #[arg(long, value_enum, default_value_t = ReportFormat::Markdown)]
    pub format: ReportFormat,
    /// How often the smallest input is run afresh
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub runs: u32,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = ".ddset")]
    pub run: PathBuf,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Markdown,
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrammarCommand {
    /// Say what is wrong with a grammar file, or that nothing is
    Check {
        #[command(flatten)]
        grammar: GivenGrammar,
    },
    /// Print a grammar in EBNF, or draw it
    #[command(after_help = "Examples:\n  ddset grammar show json --rule number\n  \
                            ddset grammar show lua --railroad -o lua.html")]
    Show {
        #[command(flatten)]
        grammar: GivenGrammar,
        /// Only this rule and what it uses
        #[arg(long, value_name = "NAME")]
        rule: Option<String>,
        /// Draw a railroad diagram of each rule, on one HTML page
        #[arg(long)]
        railroad: bool,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Write a grammar in another notation
    #[command(after_help = "Example: ddset grammar convert grammar.iso --to ebnf -o grammar.ebnf")]
    Convert {
        #[command(flatten)]
        grammar: GivenGrammar,
        /// The notation to write
        #[arg(long, value_enum, value_name = "NOTATION")]
        to: Target,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the bundled grammars and where they come from
    List,
    /// Make random inputs, to see what a grammar means
    #[command(after_help = "Example: ddset grammar sample lua --start exp -n 20")]
    Sample(SampleArgs),
    /// Parse files and say which alternatives of the grammar they never use
    #[command(after_help = "Example: ddset grammar coverage json --extension json node_modules\n\n\
                            Exit status: 3 if a file does not parse")]
    Coverage(CoverageArgs),
}

/// The notations that grammars are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    Ebnf,
    /// JSON as in The Fuzzing Book: single characters and names
    Fuzzingbook,
}

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub grammar: GivenGrammar,
    /// How many inputs
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    pub n: usize,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How large inputs may get: about how many choices may be others than those that end it soonest
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub size: u16,
    /// End each input with a NUL character instead of a line break
    #[arg(short = '0', long)]
    pub null: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// A grammar file, a folder of them, or the name of a bundled grammar
    #[arg(value_name = "G")]
    pub grammar: String,
    /// Files, and folders whose files are meant
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Of the files in folders, only those with this extension (repeat for several)
    #[arg(long, value_name = "EXT")]
    pub extension: Vec<String>,
    /// The notation of the grammar's files, where it is not to be told from them
    #[arg(long, value_name = "NOTATION", value_parser = notation)]
    pub grammar_format: Option<Notation>,
    /// Start at this rule
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OracleCommand {
    /// Run the oracle once and explain what happened
    #[command(after_help = "Example: ddset oracle check --fail-signal SEGV crash.lua -- lua {}")]
    Check {
        /// The input, or a folder with a ddset.toml
        input: PathBuf,
        #[command(flatten)]
        oracle: OracleOptions,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}

/// What `reduce` and `abstract` have in common.
#[derive(Debug, Args)]
pub(crate) struct JobOptions {
    /// The failing input, or a folder with a ddset.toml; without it, the last run goes on
    pub input: Option<PathBuf>,
    #[command(flatten)]
    pub grammar: GrammarOptions,
    #[command(flatten)]
    pub oracle: OracleOptions,
    #[command(flatten)]
    pub run: RunOptions,
    /// End after this many oracle runs, with the best so far
    #[arg(long, value_name = "N")]
    pub max_runs: Option<u64>,
    /// End after this time, such as 10m, with the best so far
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct GrammarOptions {
    /// A grammar file, a folder of them, or the name of a bundled grammar (see `ddset grammar list`); several are one grammar
    #[arg(short, long, value_name = "G")]
    pub grammar: Vec<String>,
    /// The notation of the grammar's files, where it is not to be told from them
    #[arg(long, value_name = "NOTATION", value_parser = notation)]
    pub grammar_format: Option<Notation>,
    /// Start at this rule
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
}

/// A grammar that a command is about.
#[derive(Debug, Args)]
pub(crate) struct GivenGrammar {
    /// Grammar files, a folder of them, or the name of a bundled grammar; several are one grammar
    #[arg(required = true, value_name = "G")]
    pub files: Vec<String>,
    /// The notation of the files, where it is not to be told from them
    #[arg(long, value_name = "NOTATION", value_parser = notation)]
    pub grammar_format: Option<Notation>,
    /// Start at this rule
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
}

/// The notation of that name.
fn notation(name: &str) -> Result<Notation, String> {
    let all = Notation::ALL;
    let names = || all.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|(_, known)| *known == name);
    found.map(|(notation, _)| *notation).ok_or_else(|| format!("the notations are {}", names()))
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = ".ddset")]
    pub run: PathBuf,
    /// Seed of everything random
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// How many oracle runs at a time (default: the number of processors, at most 8). The result is the same for any number
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

/// How to tell whether an input fails.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Oracle")]
pub(crate) struct OracleOptions {
    /// A script, called as `SCRIPT FILE`: exit 0 is the failure, 125 says nothing, anything else is no failure
    #[arg(long, value_name = "SCRIPT", conflicts_with = "program")]
    pub test: Option<PathBuf>,
    /// It fails if the program exits with this status (repeat for several)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=255))]
    pub fail_exit: Vec<i32>,
    /// It fails if this signal ends the program (SEGV, ABRT, …)
    #[arg(long, value_name = "SIGNAL")]
    pub fail_signal: Vec<Signal>,
    /// It fails if standard output or error match this regular expression
    #[arg(long, value_name = "REGEX")]
    pub fail_output: Vec<String>,
    /// It says nothing if the program exits with this status
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=255))]
    pub unresolved_exit: Vec<i32>,
    /// It says nothing if this signal ends the program
    #[arg(long, value_name = "SIGNAL")]
    pub unresolved_signal: Vec<Signal>,
    /// It says nothing if standard output or error match this regular expression
    #[arg(long, value_name = "REGEX")]
    pub unresolved_output: Vec<String>,
    /// Time for one run, such as 500ms or 10s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// What a run that takes longer is
    #[arg(long, value_enum, value_name = "OUTCOME")]
    pub timeout_is: Option<TimeoutIs>,
    /// How much memory one run may use, such as 512M or 4G, before it is killed and says nothing [default: 2G, or half of the machine]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub max_memory: Option<u64>,
    /// Whether runs may write to their own folder only, without network: `auto` if the input fails inside as it does outside
    #[arg(long, value_enum, value_name = "WHEN")]
    pub sandbox: Option<SandboxIs>,
    /// Set an environment variable for runs, or keep one as it is outside (repeat for several)
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<Variable>,
    /// A failure that comes and goes: so many of so many runs must fail, such as 3/10 [default: a vote by the rate measured]
    #[arg(long, value_name = "N/M")]
    pub need: Option<Need>,
    /// Without rules: how alike two failures must be to be the same one: `loose` (end and class of error), a number (also the
    /// message and so many innermost functions; 1 if nothing is said), or `exact`; `show` says what is found out, and ends
    #[arg(long, value_name = "HOW", value_parser = alikeness)]
    pub signature: Option<Alikeness>,
    /// A program and its arguments; `{}` or `@@` is the input's file, and without either the input is on standard input
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

impl OracleOptions {
    pub(crate) fn strictness(&self) -> Strictness {
        match self.signature {
            Some(Alikeness::Strictness(strictness)) => strictness,
            _ => Strictness::default(),
        }
    }

    /// Whether only the failure is to be found out.
    pub(crate) fn only_shows(&self) -> bool {
        matches!(self.signature, Some(Alikeness::Show))
    }
}

/// What `--signature` says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alikeness {
    Strictness(Strictness),
    Show,
}

fn alikeness(text: &str) -> Result<Alikeness, String> {
    match text {
        "show" => Ok(Alikeness::Show),
        "loose" => Ok(Alikeness::Strictness(Strictness::Loose)),
        "exact" => Ok(Alikeness::Strictness(Strictness::Exact)),
        _ => text
            .parse()
            .map(|depth| Alikeness::Strictness(Strictness::Depth(depth)))
            .map_err(|_| "write `loose`, `exact` or a number of functions, or `show`".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxIs {
    Auto,
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeoutIs {
    Unresolved,
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    Text,
    Json,
    Sexp,
    Dot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AmbiguityFormat {
    Report,
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}
