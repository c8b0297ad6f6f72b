use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

const ABOUT: &str = "One trace from many ranks, on one clock, with every identity kept";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nReads traces of {}, mixed as they come, and writes one that every tool of the suite reads. \
         Inputs are never touched; the output appears whole or not at all.",
        rtl_schema::dialect::READABLE
    )
}

/// The command line of rtl-merge.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-merge", version, about = ABOUT, long_about = long_about(), after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces to merge
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,

    /// The file to write, merged.db if nothing is said; one that was merged before is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// What to write: native or rpd; by default what the name of the output says
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,

    /// Merge traces of different runs too, and replace an output that is no merged trace
    #[arg(long)]
    pub force: bool,

    /// Read everything and report, but write nothing
    #[arg(long)]
    pub check: bool,

    /// Merge what can be read, list what cannot and exit with 3
    #[arg(long)]
    pub keep_going: bool,

    /// Go on where a merge of the same traces into the same output was interrupted
    #[arg(long)]
    pub resume: bool,

    /// Merge nothing: print what each rank ran, kernel by kernel, as rtl-summary/1 (json) for rtl-diff
    #[arg(long, conflicts_with_all = ["to", "check", "resume", "Clock"])]
    pub summary_only: bool,

    /// How to print the report: text or json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Report,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub identity: Identity,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub clock: Clock,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub console: cli::args::Console,
}

/// What is known of the traces beyond what they say themselves.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Identity")]
pub struct Identity {
    /// The rank of a trace, as FILE=N; repeat it
    #[arg(long, value_name = "FILE=N")]
    pub rank: Vec<String>,

    /// Some traces may have no rank although others have one
    #[arg(long)]
    pub allow_missing: bool,

    /// GPUs of the same index are the same where the traces do not identify them
    #[arg(long)]
    pub same_gpus: bool,
}

/// What is done about the clocks of several machines.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Clocks")]
pub struct Clock {
    /// Leave all times as they are
    #[arg(long)]
    pub no_align: bool,

    /// What is added to the times of a rank in ns, as RANK=NS; repeat it
    #[arg(long, value_name = "RANK=NS", allow_hyphen_values = true)]
    pub offset: Vec<String>,

    /// Merge nothing and exit with 3 where the clocks are not known to be one
    #[arg(long, conflicts_with = "no_align")]
    pub require_alignment: bool,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// rtl's own database (.db)
    Native,
    /// RPD's database with its strides, for rocmProfileData's tools (.rpd)
    Rpd,
}

/// How the report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Report {
    /// For people; may change with any release
    #[default]
    Text,
    /// One document of the schema `rtl-merge/1`
    Json,
}

impl Arguments {
    /// Where the merged trace goes.
    #[must_use]
    pub fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("merged.db"))
    }

    /// What is written.
    #[must_use]
    pub fn target(&self) -> Format {
        let named = self.output().extension().is_some_and(|end| end.eq_ignore_ascii_case("rpd"));
        self.to.unwrap_or(if named { Format::Rpd } else { Format::Native })
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-merge -o job.db rank*.db
      one trace, then: rtl-summary --by rank job.db
  rtl-merge --check --rank node7.db=7 --format json node*.db
      who is who, and whether all can be read
  rtl-merge --summary-only -o before.json rank*.db
      a report of all ranks, then: rtl-diff before.json after.json";
