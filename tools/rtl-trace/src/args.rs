//! The command line of `rtl-trace`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use cli::args::CommandLine;
use cli::destination::{Endings, output_path};
use cli::{Exit, Meaning};

/// Run a command, record its GPU work and report where the time went
///
/// Each process of the command that uses a GPU records a file; rtl-trace merges them into one trace. The command keeps
/// its arguments, its input and output, its signals and its exit code.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-trace", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace or the data set to write [default: trace.db]
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    pub output: Option<PathBuf>,

    /// The format of the trace: native, or dataset (a run, named by --run) [default: native]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(conflicts_with_all = ["report", "recover", "control"])]
    pub to: Option<Format>,

    #[command(flatten)]
    pub run: rtl_convert::run_name::RunName,

    /// Replace an existing trace with its summary, or a run of a data set; they stay until the new ones are complete
    #[arg(long)]
    pub force: bool,

    /// The recording mode: lite, standard, hip or full [default: RTL_MODE, else standard]
    #[arg(short, long, value_enum, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<Mode>,

    /// The tracer library [default: RTL_LIB, else librtl.so beside this program or in ../lib]
    #[arg(long, value_name = "FILE")]
    pub lib: Option<PathBuf>,

    /// Do not write the trace for Perfetto (.json.gz), the slowest output
    #[arg(long)]
    pub no_perfetto: bool,

    /// Also write a page with the pictures of the trace (_report.html)
    #[arg(long)]
    pub report: bool,

    /// Do not preload the tracer, for programs under AddressSanitizer: roctx ranges and HIP calls are not recorded
    #[arg(long)]
    pub no_preload: bool,

    /// Write the trace of the recordings that a killed rtl-trace has left in FOLDER [default: the working directory]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    pub recover: Option<PathBuf>,

    /// Start or stop the recording of a running process: --control PID start, or stop
    #[arg(long, value_name = "PID")]
    pub control: Option<u32>,

    /// Print no progress and no notes, only errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// The command and its arguments; after --control, start or stop
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "recover",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<OsString>,
}

impl CommandLine for Arguments {
    const EXIT_CODES: &'static [Meaning] = &[
        ("that of the command", "or 128 + n if signal n ended it"),
        Exit::USAGE,
        ("125", "the command was not started, or it succeeded and its trace could not be written"),
        ("126", "the command cannot be executed"),
        ("127", "there is no such command"),
    ];

    // Recordings are plain files, which are read where they are.
    const READS_TRACES: bool = false;
}

impl Arguments {
    /// The trace to write. The trace of a run of a data set is written only by recovery, beside the data set.
    #[must_use]
    pub fn trace(&self) -> PathBuf {
        let output = self.output.as_deref().unwrap_or(Path::new("trace.db"));
        match (self.format(), &self.run.name) {
            (Format::Dataset, Some(run)) => output.with_file_name(format!("{run}.db")),
            _ => output.to_owned(),
        }
    }

    #[must_use]
    pub fn format(&self) -> Format {
        self.to.unwrap_or(Format::Native)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// rtl's own database (.db)
    Native,
    /// A run in a data set, which may have others
    Dataset,
}

/// The recording modes of RTL_MODE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Kernels that have no completion signal of the application
    Lite,
    /// All kernels
    #[value(alias = "default")]
    Standard,
    /// All kernels, and HIP calls
    Hip,
    /// All kernels, and every batch
    Full,
}

impl Endings for Format {
    fn endings(&self) -> &'static [&'static str] {
        match self {
            Self::Native => &[".db"],
            Self::Dataset => &[],
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-trace python3 train.py --epochs 1
      trace.db, trace_summary.txt and trace.json.gz
  rtl-trace -o job.db -m standard --no-perfetto -- torchrun --nproc-per-node 8 train.py
      eight ranks in one trace, collectives included
  rtl-trace --to dataset -o runs --job train --run monday -- python3 train.py
      a run in the data set of many, for rtl-sql
  rtl-trace --no-preload ./program_with_asan
      a program that AddressSanitizer checks
  rtl recover
      the trace of what a killed `rtl trace` has left here";
