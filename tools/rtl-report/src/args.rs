//! The command line of `rtl-report`.

use std::path::PathBuf;

use clap::{Args, Parser};
use cli::args::CommandLine;
use cli::destination::output_path;

const ABOUT: &str = "What does the time of the GPUs look like? One HTML page for any trace or job";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nThe page is one file that needs no network: it opens in any browser, can be attached to a ticket, and prints. \
         Reads traces of {}, each also gzip-compressed. Several traces are the ranks of one job.",
        rtl_summary::READABLE
    )
}

#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-report", version, about = ABOUT, long_about = long_about(), after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces to read: one trace, or those of all ranks
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub options: Options,
}

impl CommandLine for Arguments {}

/// The flags without the inputs, as [`crate::write()`] takes them.
#[derive(Args, Debug, Clone, Default)]
pub struct Options {
    /// The page to write [default: report.html]
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    pub output: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long)]
    pub force: bool,

    /// Show the page in the browser, or print its path where there is none
    #[arg(long)]
    pub open: bool,

    /// Also show the change from another run: one trace, or those of all ranks
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    pub baseline: Vec<PathBuf>,

    /// Additional rules for categories: a TOML file of `[[rule]]` with `category` and `match` (a regex)
    #[arg(long, value_name = "FILE")]
    pub categories: Option<PathBuf>,

    #[command(flatten)]
    pub filter: cli::filter::FilterArgs,

    /// Print no progress and no notes, only errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  rtl-report trace.db --open
      report.html, shown in the browser
  rtl-report rank*.json.gz -o job.html
      the ranks of a job side by side: waits, stragglers, collectives
  rtl-report trace.db --time 2s..3s -o second.html
      one second in full detail
  rtl-report after.db --baseline before.db
      also what changed from another run, as rtl-diff finds it";
