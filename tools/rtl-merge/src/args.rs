//! The command line of `rtl-merge`. Its [`Options`] are also those of [`crate::merge`].

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

const ABOUT: &str = "One trace from many ranks, on one clock, with every identity kept";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nReads traces of {} in any mix and writes one that every tool of the suite reads. \
         Inputs are never changed; the output appears whole or not at all.",
        rtl_schema::dialect::READABLE
    )
}

/// The command line of rtl-merge.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-merge", version, about = ABOUT, long_about = long_about(), after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub options: Options,

    /// Write no trace but a report of the kernels of each rank, as rtl-summary/1 (json) for rtl-diff
    #[arg(long, conflicts_with_all = ["output_format", "check", "resume", "ClockOptions"])]
    pub summary_only: bool,

    /// Format of the report: text or json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    pub format: ReportFormat,
}

/// Options of a merge.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Options {
    /// The traces to merge
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,

    /// The file or the data set to write [default: merged.db]; a merged trace of that name is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Format of the merged trace: native, rpd or dataset (a run, named by --run) [default: by the name of the output]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub output_format: Option<Format>,

    #[command(flatten)]
    pub run: rtl_convert::run_name::RunName,

    /// Merge traces of different runs too, and replace an output that is not a merged trace
    #[arg(long)]
    pub force: bool,

    /// Read everything and report, but write nothing
    #[arg(long)]
    pub check: bool,

    /// Merge the readable traces, list the others and exit with 3
    #[arg(long)]
    pub keep_going: bool,

    /// Continue an interrupted merge of the same traces into the same output
    #[arg(long)]
    pub resume: bool,

    #[command(flatten)]
    pub identity: IdentityOptions,

    #[command(flatten)]
    pub clock: ClockOptions,

    #[command(flatten)]
    pub console: cli::args::Console,
}

/// Ranks and GPUs that the traces do not state.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Identity")]
pub struct IdentityOptions {
    /// The rank of a trace; repeatable
    #[arg(long, value_name = "FILE=N")]
    pub set_rank: Vec<String>,

    /// Accept traces without a rank although others have one
    #[arg(long)]
    pub allow_missing: bool,

    /// Identify GPUs by their index if the traces do not identify them
    #[arg(long)]
    pub same_gpus: bool,
}

/// Alignment of the clocks of several machines.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Clocks")]
pub struct ClockOptions {
    /// Leave all times as they are
    #[arg(long)]
    pub no_align: bool,

    /// Nanoseconds to add to the times of a rank; repeatable
    #[arg(long, value_name = "RANK=NS", allow_hyphen_values = true)]
    pub offset: Vec<String>,

    /// Merge nothing and exit with 3 unless all clocks can be aligned
    #[arg(long, conflicts_with = "no_align")]
    pub require_alignment: bool,
}

/// Format of a merged trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// rtl's own database (.db)
    Native,
    /// RPD's database with its strides, for rocmProfileData's tools (.rpd)
    Rpd,
    /// A run in a data set, which may have others
    Dataset,
}

/// Format of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people; may change with any release
    #[default]
    Text,
    /// One document of the schema `rtl-merge/1`
    Json,
}

impl Options {
    /// The path of the merged trace.
    pub fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("merged.db"))
    }

    /// The format of the merged trace.
    pub fn format(&self) -> Format {
        let is_rpd = self.output().extension().is_some_and(|end| end.eq_ignore_ascii_case("rpd"));
        self.output_format.unwrap_or(if is_rpd { Format::Rpd } else { Format::Native })
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-merge -o job.db rank*.db
      one trace, then: rtl-summary --by rank job.db
  rtl-merge --check --set-rank node7.db=7 --format json node*.db
      ranks, machines and GPUs, and whether all traces can be read
  rtl-merge --summary-only -o run1.json run1/rank*.db
      a report of all ranks of a run; of five runs a side: rtl-diff --as runs a*.json -- b*.json";
