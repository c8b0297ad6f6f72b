use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rtl_analysis::profile::Warmup;

use crate::quantity::{Points, Share, parse_points, parse_share, parse_time};

/// Did it get slower? Compares two sets of GPU traces and fails on a real slowdown
///
/// Each side is one run or several: traces of any dialect, in any mix, and saved reports of
/// `rtl-summary --format json`. Says for every kernel whether it regressed and how sure that is, explains the
/// change of wall time to the nanosecond, and says what it could not have seen. Without a gate it only reports.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-diff", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// Something else than a comparison
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub diff: Diff,
}

const EXAMPLES: &str = "\
Examples:
  rtl-diff before.db after.db
      what changed, and where the time went
  rtl-diff --gate --baseline main*.db --candidate branch*.db -o markdown=comment.md -o junit=gate.xml
      five runs of each build in CI: exit 1 if a kernel got slower, with a comment for the pull request";

/// What else there is to do.
#[derive(Subcommand, Debug, Clone)]
pub enum Command {
    /// Learn from repeated runs of one build by how much its kernels differ by themselves
    Calibrate(Calibrate),
}

/// A comparison.
#[derive(Args, Debug, Clone)]
pub struct Diff {
    /// The baseline, then the candidate: one run each
    #[arg(value_name = "TRACE", num_args = 0..=2, conflicts_with_all = ["baseline", "candidate"])]
    pub traces: Vec<PathBuf>,

    /// The runs of the baseline
    #[arg(long, value_name = "TRACE", num_args = 1.., help_heading = "Inputs")]
    pub baseline: Vec<PathBuf>,

    /// The runs of the candidate
    #[arg(long, value_name = "TRACE", num_args = 1.., help_heading = "Inputs")]
    pub candidate: Vec<PathBuf>,

    /// Without a baseline exit 0 instead of 3
    #[arg(long, help_heading = "Inputs")]
    pub allow_no_baseline: bool,

    /// Exit 3 where the two sides are not of the same GPUs, versions, modes or amounts of work
    #[arg(long, help_heading = "Inputs")]
    pub require_comparable: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub reading: Reading,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub gates: Gates,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub output: Output,
}

/// How runs are read.
#[derive(Args, Debug, Clone, Default)]
pub struct Reading {
    /// What several files of a side are, where they do not say
    #[arg(long = "as", value_enum, value_name = "WHAT", help_heading = "Inputs")]
    pub files: Option<Files>,

    /// What kernels are told apart by
    #[arg(long, value_enum, default_value_t, value_name = "KEY", help_heading = "Inputs")]
    pub by: By,

    /// Read no launch shapes: a shift of calls between shapes then counts as a change of speed
    #[arg(long, conflicts_with = "by", help_heading = "Inputs")]
    pub no_mix: bool,

    /// Leave out the first N calls of each kernel on each GPU, or those that stand out (`auto`)
    #[arg(long, value_name = "N|auto", value_parser = parse_warmup, help_heading = "Inputs")]
    pub skip_warmup: Option<Warmup>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub filter: filter::FilterArgs,
}

/// What several files of one side are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Files {
    /// Repetitions: each file is a run
    Runs,
    /// The processes of one run
    Ranks,
}

/// What kernels are told apart by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Their names
    #[default]
    Name,
    /// Their names and launch shapes
    Launch,
}

/// What must hold.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Gates")]
pub struct Gates {
    /// The default gates: any kernel +5%, total GPU time +5%
    #[arg(long)]
    pub gate: bool,

    /// No kernel may be slower by more than this, e.g. 5%
    #[arg(long, value_name = "PERCENT", value_parser = parse_share, allow_hyphen_values = true)]
    pub max_kernel: Option<Share>,

    /// The GPU time of all kernels, collectives left out
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    pub max_total: Option<Share>,

    /// First start to last end, added over GPUs
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    pub max_wall: Option<Share>,

    /// Idle time as a part of wall, in percentage points, e.g. 2pp
    #[arg(long, value_name = "POINTS", value_parser = parse_points)]
    pub max_idle: Option<Points>,

    /// Kernel launches of a run
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    pub max_launches: Option<Share>,

    /// No new kernel above this part of the candidate's GPU time [default of the value: 0.5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, num_args = 0..=1, require_equals = true, default_missing_value = "0.5%")]
    pub fail_on_new: Option<Share>,

    /// No kernel above this part of the baseline's GPU time may be gone [default of the value: 0.5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, num_args = 0..=1, require_equals = true, default_missing_value = "0.5%")]
    pub fail_on_removed: Option<Share>,

    /// A kernel below this part of GPU time cannot fail [default: 0.5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub min_share: Option<Share>,

    /// A kernel with fewer calls on a side cannot fail [default: 10]
    #[arg(long, value_name = "N")]
    pub min_calls: Option<u64>,

    /// A change of less time a call cannot fail [default: 100ns]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub min_change: Option<i64>,

    /// What to do about a gate that the data cannot decide [default: warn]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub inconclusive: Option<Inconclusive>,

    /// What `rtl-diff calibrate` wrote
    #[arg(long, value_name = "FILE")]
    pub noise: Option<PathBuf>,

    /// Judge the candidate against all runs in this folder, oldest first by name
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["baseline"])]
    pub history: Option<PathBuf>,

    /// Settings [default: rtl-diff.toml, where it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Where resampling starts; the same seed gives the same answer [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// What to do about a gate that the data cannot decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Inconclusive {
    /// Nothing
    Pass,
    /// Say so
    #[default]
    Warn,
    /// Exit 4
    Fail,
}

/// How to print.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// How to print the answer
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true,
        help = "How to print the answer: text, json, csv, markdown, junit, github, bencher or github-action-benchmark"
    )]
    pub format: Format,

    /// Also write it to a file in a format; repeat it
    #[arg(short, long, value_name = "FORMAT=FILE", value_parser = parse_output)]
    pub output: Vec<(Format, PathBuf)>,

    /// How many kernels to show, or `all` [default: 20; machine formats: all]
    #[arg(long, value_name = "N", value_parser = parse_top)]
    pub top: Option<usize>,

    /// Print names in full, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub console: cli::args::Console,
}

/// A way to print.
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
    /// One test case for each gate
    Junit,
    /// Annotations of a GitHub Actions step
    Github,
    /// Bencher Metric Format
    Bencher,
    /// Input of github-action-benchmark (customSmallerIsBetter)
    GithubActionBenchmark,
}

/// Runs of one build.
#[derive(Args, Debug, Clone)]
pub struct Calibrate {
    /// Repeated runs of one build, at least three
    #[arg(required = true, value_name = "TRACE")]
    pub runs: Vec<PathBuf>,

    /// Where to write what was learned [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub reading: Reading,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub console: cli::args::Console,
}

fn parse_warmup(text: &str) -> Result<Warmup, String> {
    match text {
        "auto" => Ok(Warmup::Auto),
        _ => text.parse().map(Warmup::Calls).map_err(|_| "expected a number or `auto`".to_owned()),
    }
}

fn parse_top(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number or `all`".to_owned()),
    }
}

fn parse_output(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE, e.g. markdown=comment.md")?;
    if file.is_empty() {
        return Err("the file has no name".to_owned());
    }
    Ok((Format::from_str(format, false)?, PathBuf::from(file)))
}
