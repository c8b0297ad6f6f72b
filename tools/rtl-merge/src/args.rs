//! The command line of `rtl-merge`. Its [`Options`] are also those of [`crate::merge`].

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use cli::Failure;
use cli::args::CommandLine;
use cli::destination::{Endings, format_of, output_path};

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

    /// The format of the report on the merge, on standard output: text or json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    pub print: ReportFormat,
}

impl CommandLine for Arguments {}

/// Options of a merge.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Options {
    /// The traces to merge
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,

    /// The file or the data set to write [default: merged.db, or merged.rpd; of a summary: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    pub output: Option<PathBuf>,

    /// The format of the output: native, rpd, dataset (a run, named by --run), or summary: no trace but the kernels of each rank
    /// as rtl-summary/1 (json), for rtl-diff [default: by the ending of -o, else native]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,

    #[command(flatten)]
    pub run: rtl_convert::run_name::RunName,

    /// Replace an existing output
    #[arg(long)]
    pub force: bool,

    /// Read everything and report, but write nothing
    #[arg(long)]
    pub check: bool,

    /// Merge although traces are unreadable, which are listed (exit code 3); have missing-ranks, while others have one; or are of
    /// different-runs
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    pub allow: Vec<Allow>,

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

    /// Identify GPUs by their index if the traces do not identify them
    #[arg(long)]
    pub same_gpus: bool,
}

/// Alignment of the clocks of several machines.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Clocks")]
pub struct ClockOptions {
    /// Align the clocks of machines where they can be (auto), never, or require it: exit code 3 where one cannot be
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub align: Align,

    /// Nanoseconds to add to the times of a rank; repeatable
    #[arg(long, value_name = "RANK=NS", allow_hyphen_values = true)]
    pub offset: Vec<String>,
}

/// The clocks that are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Align {
    /// All that can be
    #[default]
    Auto,
    /// All times stay as they are
    Never,
    /// Nothing is merged unless all can be
    Require,
}

/// A fault in spite of which traces are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// Some cannot be read
    Unreadable,
    /// Some have no rank
    MissingRanks,
    /// They are of several runs
    DifferentRuns,
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
    /// The kernels of each rank as rtl-summary/1
    Summary,
}

impl Endings for Format {
    fn endings(&self) -> &'static [&'static str] {
        match self {
            Self::Native => &[".db"],
            Self::Rpd => &[".rpd"],
            Self::Dataset => &[],
            Self::Summary => &[".json"],
        }
    }
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
        let default = if self.to == Some(Format::Rpd) { "merged.rpd" } else { "merged.db" };
        self.output.as_deref().unwrap_or(Path::new(default))
    }

    /// The format of the output.
    ///
    /// # Errors
    /// Where `-o` names another one.
    pub fn format(&self) -> Result<Format, Failure> {
        format_of(self.output.as_deref(), self.to, Format::Native)
    }

    /// Returns true if traces are merged in spite of `what`.
    pub fn allows(&self, what: Allow) -> bool {
        self.allow.contains(&what)
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-merge -o job.db rank*.db
      one trace, then: rtl-summary --by rank job.db
  rtl-merge --check --set-rank node7.db=7 --print json node*.db
      ranks, machines and GPUs, and whether all traces can be read
  rtl-merge -o run1.json run1/rank*.db
      a report of all ranks of a run; of five runs a side: rtl-diff --as runs a*.json -- b*.json";
