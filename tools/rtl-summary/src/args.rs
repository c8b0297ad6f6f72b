use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Where did the GPU time go? One answer from any ROCm trace
///
/// Reads traces of rtl, rocm-trace-lite, RPD (schema 2 and 3), rocprofv3 (rocpd database or JSON) and RTG's
/// HCC_PROFILE text, each also gzip-compressed, and tells them apart by their content. With several inputs
/// each gets its report, and a combined one follows.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-summary", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces to read
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// What the rows of the main table are
    #[arg(long, value_enum, default_value_t, value_name = "KEY")]
    pub by: By,

    /// What the main table is sorted by
    #[arg(long, value_enum, default_value_t, value_name = "KEY")]
    pub sort: Sort,

    /// How many rows to show of each table, or `all` [default: 20; machine formats: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_top)]
    pub top: Option<Top>,

    /// Only these sections; repeat it or separate with commas [default: all that have rows]
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    pub section: Vec<Section>,

    /// What the file holds instead of what it says: rows by kind, processes, metadata
    #[arg(long, conflicts_with_all = ["section", "style"])]
    pub info: bool,

    /// Which form of kernel names to print
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub names: Names,

    /// More rules for categories, a TOML file of `[[rule]]` with `category` and `match` (a regex)
    #[arg(long, value_name = "FILE")]
    pub categories: Option<PathBuf>,

    /// Print the report of another tool: RTG's rpt or rocprofv3's -S table
    #[arg(long, value_enum, value_name = "TOOL")]
    pub style: Option<Style>,

    /// Exit 3 where durations are missing or negative, ids dangle or records were lost
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub filter: filter::FilterArgs,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub display: cli::args::Display,
}

const EXAMPLES: &str = "\
Examples:
  rtl-summary trace.db
      the whole report
  rtl-summary --by gpu --range step_12 --format json rank*.db | jq '.groups'
      the GPUs of all ranks during one step, for a script";

/// What the rows of the main table are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Kernels
    #[default]
    Kernel,
    /// Kinds of kernels: gemm, attention, collective, ...
    Category,
    /// GPUs
    Gpu,
    /// Queues
    Queue,
    /// The roctx ranges that kernels were launched in
    Range,
    /// Kernels with their launch shapes
    Shape,
    /// Processes
    Process,
    /// Ranks
    Rank,
}

impl By {
    /// The word of the command line and of JSON.
    pub fn label(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Category => "category",
            Self::Gpu => "gpu",
            Self::Queue => "queue",
            Self::Range => "range",
            Self::Shape => "shape",
            Self::Process => "process",
            Self::Rank => "rank",
        }
    }
}

/// What the main table is sorted by; ties by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Total time
    #[default]
    Total,
    /// Number of calls
    Calls,
    /// Mean duration
    Mean,
    /// Shortest call
    Min,
    /// Median
    P50,
    /// 95th percentile
    P95,
    /// 99th percentile
    P99,
    /// Longest call
    Max,
    /// Name, ascending
    Name,
}

/// A part of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Section {
    /// What the trace is and how far to trust it
    Trace,
    /// The main table
    Kernels,
    /// Kinds of kernels
    Categories,
    /// Busy and idle time of each GPU
    Gpus,
    /// Idle time between ops
    Gaps,
    /// Copies by direction
    Copies,
    /// API calls
    Api,
    /// How long launches took to start on the GPU
    Launches,
    /// How much GPUs had been given to do, and why they were idle
    Queues,
    /// Ranges and markers with the GPU time they enclose
    Ranges,
    /// Ranks beside each other: their waits, their steps and what stands out [default: with `--by rank`]
    Ranks,
    /// What groups of ranks did together: arrivals, waits and transfer [default: with `--by rank`]
    Collectives,
    /// How evenly kernels are spread over ranks [default: with `--by rank`]
    Imbalance,
    /// What is wrong with the rows
    Sanity,
}

/// Which form of kernel names to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Names {
    /// The full name; a name stored mangled is demangled
    #[default]
    Full,
    /// The mangled name where the trace has it
    Mangled,
    /// Without return type, template arguments and parameters
    Short,
}

/// The reports of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// RTG's rpt
    Rpt,
    /// rocprofv3 -S
    Rocprofv3,
}

/// How many rows to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// Every row.
    All,
    /// At most so many.
    Rows(usize),
}

impl Top {
    /// The number of rows to show out of `len`.
    pub fn of(self, len: usize) -> usize {
        match self {
            Self::All => len,
            Self::Rows(rows) => rows.min(len),
        }
    }
}

fn parse_top(text: &str) -> Result<Top, String> {
    match text {
        "all" => Ok(Top::All),
        _ => text.parse().map(Top::Rows).map_err(|_| "expected a number or `all`".to_owned()),
    }
}
