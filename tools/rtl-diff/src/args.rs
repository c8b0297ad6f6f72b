//! The command line of `rtl-diff`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use cli::args::{CommandLine, parse_rows};
use cli::destination::{Destination, Endings, output_path};
use cli::{Exit, Meaning};
use rtl_analysis::profile::Warmup;
use rtl_analysis::work::WorkKey;
use serde::{Deserialize, Serialize};

use crate::quantity::{Duration, Points, Share};

/// Did it get slower? Compares two sets of GPU traces and fails on a real slowdown
///
/// Each side is one run or several: traces of any dialect, in any mix, and saved reports of
/// `rtl-summary --to json`. Reports for every kernel whether it regressed, with a confidence interval and the
/// smallest slowdown that the data could have shown, and explains the change of wall time to the nanosecond.
/// Without a gate it only reports.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-diff", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// Commands other than a comparison
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub diff: Diff,
}

impl CommandLine for Arguments {
    const EXIT_CODES: &'static [Meaning] = &[
        Exit::SUCCESS,
        ("1", "a requested gate failed"),
        Exit::USAGE,
        Exit::UNREADABLE,
        ("4", "a gate is undecided, with --inconclusive fail"),
    ];
}

const EXAMPLES: &str = "\
Examples:
  rtl-diff before.db after.db
      what changed, and where the time went
  rtl-diff --gate --baseline main*.db --candidate branch*.db -o comment.md -o gate.xml
      five runs of each build in CI: exit 1 if a kernel got slower, with a comment for the pull request";

#[derive(Subcommand, Debug, Clone)]
pub enum Command {
    /// Measure how much the kernels of one build vary between repeated runs
    Calibrate(Calibrate),
}

#[derive(Args, Debug, Clone, Default)]
pub struct Diff {
    /// The baseline, then the candidate: one run each; or the runs of the baseline, before `--`
    #[arg(value_name = "TRACE", num_args = 0.., conflicts_with_all = ["baseline", "candidate"])]
    pub traces: Vec<PathBuf>,

    /// The runs of the candidate, after `--`
    #[arg(value_name = "CANDIDATE", last = true, conflicts_with_all = ["baseline", "candidate", "history"])]
    pub others: Vec<PathBuf>,

    /// The runs of the baseline
    #[arg(long, value_name = "TRACE", num_args = 1.., help_heading = "Inputs")]
    pub baseline: Vec<PathBuf>,

    /// The runs of the candidate
    #[arg(long, value_name = "TRACE", num_args = 1.., help_heading = "Inputs")]
    pub candidate: Vec<PathBuf>,

    /// Exit with 3 if the sides differ in anything, versions included
    #[arg(long, help_heading = "Inputs")]
    pub require_comparable: bool,

    /// Go on although there is no-baseline, with exit code 0; or the sides are incomparable: they differ in GPUs, steps, work or mode,
    /// or a trace cannot be trusted
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Inputs"
    )]
    pub allow: Vec<Allow>,

    #[command(flatten)]
    pub reading: Reading,

    #[command(flatten)]
    pub gates: Gates,

    #[command(flatten)]
    pub output: Output,
}

impl Diff {
    pub(crate) fn allows(&self, what: Allow) -> bool {
        self.allow.contains(&what)
    }
}

/// A difference that does not keep two sides from being compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// There is nothing to compare with
    NoBaseline,
    /// The sides differ in more than speed
    Incomparable,
}

#[derive(Args, Debug, Clone, Default)]
pub struct Reading {
    #[arg(
        long = "as",
        value_enum,
        value_name = "WHAT",
        help_heading = "Inputs",
        help = "Whether the files of a side are runs or ranks, if the files do not say"
    )]
    pub files: Option<Files>,

    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "KEY",
        help_heading = "Inputs",
        help = "What is compared: kernels by name or by launch shape, or the work of operators, modules, categories or steps"
    )]
    pub by: By,

    /// Leave out the first N calls of each kernel on each GPU, or outliers among them (`auto`)
    #[arg(long, value_name = "N|auto", value_parser = parse_warmup, help_heading = "Inputs")]
    pub skip_warmup: Option<Warmup>,

    #[command(flatten)]
    pub filter: cli::filter::FilterArgs,
}

/// The relation between several files of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Files {
    /// Repetitions: each file is a run
    Runs,
    /// The processes of one run
    Ranks,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Kernels by name
    #[default]
    Name,
    /// Kernels by name, without launch shapes: a shift of calls between shapes counts as a change of speed
    #[serde(rename = "name")]
    NameOnly,
    /// Kernels by name and launch shape
    Launch,
    /// Operators of a framework by name and shapes: kernels may have other names, and GPUs may differ
    Operator,
    /// Modules of a framework by path
    Module,
    /// Categories of kernels
    Category,
    /// Steps by position
    Step,
}

impl By {
    /// The work that is compared in place of kernels.
    pub(crate) fn work(self) -> Option<WorkKey> {
        match self {
            Self::Name | Self::NameOnly | Self::Launch => None,
            Self::Operator => Some(WorkKey::Operator),
            Self::Module => Some(WorkKey::Module),
            Self::Category => Some(WorkKey::Category),
            Self::Step => Some(WorkKey::Step),
        }
    }
}

#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Gates")]
pub struct Gates {
    /// The default gates: any kernel +5%, total GPU time +5%
    #[arg(long)]
    pub gate: bool,

    #[command(flatten)]
    pub thresholds: Thresholds,

    /// Compare the candidate with all runs in this folder or data set, oldest first by name
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["baseline"])]
    pub history: Option<PathBuf>,

    /// Settings file [default: rtl-diff.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Seed of the resampling; equal seeds give equal results [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Thresholds are flags, and the keys of `[gate]` in `rtl-diff.toml`.
#[derive(Args, Debug, Clone, Default, PartialEq, Deserialize)]
#[command(next_help_heading = "Gates")]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Thresholds {
    /// Fail if a kernel is slower by more than this, e.g. 5%
    #[arg(id = "max_kernel", long = "max-kernel", value_name = "PERCENT", allow_hyphen_values = true)]
    pub kernel: Option<Share>,

    /// Fail if the GPU time of all kernels but collectives grows by more than this
    #[arg(long = "max-total", value_name = "PERCENT")]
    pub total: Option<Share>,

    /// Fail if wall time (first start to last end, summed over GPUs) grows by more than this
    #[arg(long = "max-wall", value_name = "PERCENT")]
    pub wall: Option<Share>,

    /// Fail if the idle share of wall grows by more than this many percentage points, e.g. 2pp
    #[arg(long = "max-idle", value_name = "POINTS")]
    pub idle: Option<Points>,

    /// Fail if the number of kernel launches in a run grows by more than this
    #[arg(long = "max-launches", value_name = "PERCENT")]
    pub launches: Option<Share>,

    /// Fail on a new kernel above this share of the candidate's GPU time [default of the value: 0.5%]
    #[arg(long = "fail-on-new", value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5%")]
    pub new: Option<Share>,

    /// Fail on a removed kernel above this share of the baseline's GPU time [default of the value: 0.5%]
    #[arg(long = "fail-on-removed", value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5%")]
    pub removed: Option<Share>,

    /// Never fail on a kernel below this share of GPU time [default: 0.5%]
    #[arg(long, value_name = "SHARE")]
    pub min_share: Option<Share>,

    /// Never fail on a kernel with fewer calls on a side [default: 10]
    #[arg(long, value_name = "N")]
    pub min_calls: Option<u64>,

    /// Never fail on a smaller change per call [default: 100ns]
    #[arg(long, value_name = "TIME")]
    pub min_change: Option<Duration>,

    /// Result of a gate that the data cannot decide [default: warn]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub inconclusive: Option<Inconclusive>,

    /// Noise file written by `rtl-diff calibrate`
    #[arg(long, value_name = "FILE")]
    pub noise: Option<PathBuf>,
}

impl Thresholds {
    /// The thresholds of `--gate` alone; docs/design/statistics.md gives the reasons.
    pub fn default_gates() -> Self {
        Self { kernel: Some(Share(0.05)), total: Some(Share(0.05)), ..Self::default() }
    }

    /// Takes the thresholds of `other` where none is set here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            kernel: self.kernel.or(other.kernel),
            total: self.total.or(other.total),
            wall: self.wall.or(other.wall),
            idle: self.idle.or(other.idle),
            launches: self.launches.or(other.launches),
            new: self.new.or(other.new),
            removed: self.removed.or(other.removed),
            min_share: self.min_share.or(other.min_share),
            min_calls: self.min_calls.or(other.min_calls),
            min_change: self.min_change.or(other.min_change),
            inconclusive: self.inconclusive.or(other.inconclusive),
            noise: self.noise.or(other.noise),
        }
    }

    pub fn has_gate(&self) -> bool {
        let shares = [self.kernel, self.total, self.wall, self.launches, self.new, self.removed];
        self.idle.is_some() || shares.iter().any(Option::is_some)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inconclusive {
    /// Exit with 0
    Pass,
    /// Exit with 0 and a warning
    #[default]
    Warn,
    /// Exit with 4
    Fail,
}

#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// The format of the report: text, json, csv, markdown, html, junit, github, bencher or github-action-benchmark [default: by the
    /// ending of -o, else text]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,

    /// A file to write in place of standard output, which is `-`; its ending selects the format; repeatable
    #[arg(short, long, value_name = "FILE", value_parser = report_path())]
    pub output: Vec<PathBuf>,

    /// Replace existing files
    #[arg(long)]
    pub force: bool,

    /// Number of kernels to show, or `all` [default: 10; machine formats: all]
    #[arg(long, value_name = "N", value_parser = parse_rows)]
    pub top: Option<usize>,

    /// Print everything: all kernels, gates, runs, and the change of wall of each GPU
    #[arg(long)]
    pub all: bool,

    /// Print names in full, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    #[command(flatten)]
    pub console: cli::args::Console,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people; may change with any release
    #[default]
    Text,
    /// One document, `rtl-diff/1`
    Json,
    /// The kernels, RFC 4180
    Csv,
    /// A comment for a pull request
    #[value(alias = "md")]
    Markdown,
    /// One page with pictures
    Html,
    /// One test case for each gate
    Junit,
    /// Annotations of a GitHub Actions step
    Github,
    /// Bencher Metric Format
    Bencher,
    /// Input of github-action-benchmark (customSmallerIsBetter)
    GithubActionBenchmark,
}

impl Endings for Format {
    fn endings(&self) -> &'static [&'static str] {
        match self {
            Self::Text => &[".txt"],
            Self::Json => &[".json"],
            Self::Csv => &[".csv"],
            Self::Markdown => &[".md"],
            Self::Html => &[".html", ".htm"],
            Self::Junit => &[".xml"],
            Self::Github => &[".github.txt", ".txt"],
            Self::Bencher => &[".bencher.json", ".json"],
            Self::GithubActionBenchmark => &[".benchmark.json", ".json"],
        }
    }
}

#[derive(Args, Debug, Clone)]
pub struct Calibrate {
    /// Repeated runs of one build, at least three
    #[arg(required = true, value_name = "TRACE")]
    pub runs: Vec<PathBuf>,

    #[command(flatten)]
    pub destination: Destination,

    #[command(flatten)]
    pub reading: Reading,

    #[command(flatten)]
    pub console: cli::args::Console,
}

/// Refuses `FORMAT=FILE`, which the previous release took.
fn report_path() -> impl TypedValueParser<Value = PathBuf> {
    output_path().try_map(|path| {
        let is_former = path.to_str().and_then(|text| text.split_once('='));
        match is_former.is_some_and(|(format, _)| Format::from_str(format, false).is_ok()) {
            true => Err("the ending of the file selects the format"),
            false => Ok(path),
        }
    })
}

fn parse_warmup(text: &str) -> Result<Warmup, String> {
    match text {
        "auto" => Ok(Warmup::Auto),
        _ => text.parse().map(Warmup::Calls).map_err(|_| "expected a number or `auto`".to_owned()),
    }
}
