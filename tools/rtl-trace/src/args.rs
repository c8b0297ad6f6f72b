use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Run a command with its GPU work recorded, then say where the time went
///
/// Each process of the command that uses a GPU records its own file; at the end they are one trace. The command keeps
/// its arguments, its input and output, its signals and its exit code.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-trace", version, after_help = EXAMPLES, after_long_help = ENDING)]
pub struct Arguments {
    /// The trace to write; one that was there before stays until the new one is whole
    #[arg(short, long, value_name = "FILE", default_value = "trace.db")]
    pub output: PathBuf,

    /// What is recorded: lite, standard, hip or full; by default what RTL_MODE says, else lite
    #[arg(short, long, value_enum, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<Mode>,

    /// The tracer [default: RTL_LIB, else librtl.so beside this program or in ../lib]
    #[arg(long, value_name = "FILE")]
    pub lib: Option<PathBuf>,

    /// Do not write the trace for Perfetto (.json.gz), which takes longest
    #[arg(long)]
    pub no_perfetto: bool,

    /// Starts or stops the recording of a process that runs: --control PID start, or stop
    #[arg(long, value_name = "PID")]
    pub control: Option<u32>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub console: cli::args::Console,

    /// The command and its arguments; behind --control, start or stop
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// What is recorded, by the names that RTL_MODE has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Kernels without a completion signal of the application
    Lite,
    /// All kernels
    #[value(alias = "default")]
    Standard,
    /// All kernels, and the calls of HIP
    Hip,
    /// All kernels, and every batch
    Full,
}

impl Mode {
    /// What RTL_MODE is set to.
    #[must_use]
    pub fn value(self) -> &'static str {
        match self {
            Self::Lite => "lite",
            Self::Standard => "standard",
            Self::Hip => "hip",
            Self::Full => "full",
        }
    }
}

macro_rules! examples {
    () => {
        "\
Examples:
  rtl-trace python3 train.py --epochs 1
      trace.db, trace_summary.txt and trace.json.gz
  rtl-trace -o job.db -m standard --no-perfetto -- torchrun --nproc-per-node 8 train.py
      eight ranks in one trace, collectives included"
    };
}

const EXAMPLES: &str = examples!();

const ENDING: &str = concat!(
    examples!(),
    "

Exit codes:
  that of the command, or 128 and the number of the signal that ended it
  2    usage
  125  the command was not started, or ended well and its trace could not be written
  126  the command cannot be executed
  127  there is no such command"
);
