//! The command line of `rtl-top`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use cli::args::CommandLine;
use cli::{Exit, Meaning};

const ABOUT: &str = "What do recorded processes do now? A live view of their traces";

#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-top", version, about = ABOUT, after_help = EXAMPLES)]
pub struct Arguments {
    /// Pids, recordings, or folders of recordings; default: the processes of this user that record now
    #[arg(value_name = "TARGET")]
    pub targets: Vec<OsString>,

    /// Print the state once and end
    #[arg(long)]
    pub once: bool,

    /// The format of the state, which is printed once: text or json
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,

    /// Seconds between two looks at the files
    #[arg(long, value_parser = seconds, default_value = "0.5", value_name = "SECONDS")]
    pub interval: Duration,

    /// The length of the last moments, for `now` and rates
    #[arg(long, value_parser = seconds, default_value = "1", value_name = "SECONDS")]
    pub window: Duration,

    /// The number of rows to print of each table [default: as many as fit; --once: 10, json: all]
    #[arg(short = 'n', long, value_name = "N")]
    pub top: Option<usize>,

    /// Print full names, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    /// Print no notes, only errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl CommandLine for Arguments {
    const EXIT_CODES: &'static [Meaning] = &[
        Exit::SUCCESS,
        Exit::USAGE,
        ("3", "a recording cannot be read"),
        ("128+n", "signal n ended the view"),
    ];

    // A recording that grows is followed where it is.
    const READS_TRACES: bool = false;
    const HAS_THREADS: bool = false;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people; may change with any release
    #[default]
    Text,
    /// Versioned: one document with a `schema` field
    Json,
}

const EXAMPLES: &str = "\
Keys:
  q, Esc, Ctrl-C  end

Examples:
  rtl top 4711
      the process 4711, or what it started
  rtl top traces/
      a job: one line for each rank
  rtl top trace_4711.db --to json
      the figures, for a script";

/// Seconds from 0.05 to an hour.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected seconds, such as 0.5".to_owned())?;
    if !(0.05..=3600.0).contains(&seconds) {
        return Err("expected 0.05 to 3600 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}
