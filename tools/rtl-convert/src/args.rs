use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::names::Names;
use crate::split;
use crate::target::Format;
use crate::tracks::GroupBy;

/// A trace in another format: exact, in bounded memory
///
/// Reads traces of rtl, rocm-trace-lite, RPD (schema 2 and 3), rocprofv3 (rocpd database or JSON) and RTG's
/// HCC_PROFILE text, each also gzip-compressed, and tells them apart by their content. The input is never
/// touched; the output appears whole or not at all.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-convert", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// The trace to read
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// The file to write; with `.gz` at its end it is compressed [default: the trace's name with another end]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// What to write, by default what the name of the output says; `--to FORMAT` does the same
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Replace the output where it exists
    #[arg(long)]
    pub force: bool,

    /// Write a file for each GPU, rank or process: `trace.json` becomes `trace.gpu0.json`, ...
    #[arg(long, value_enum, value_name = "PART")]
    pub split: Option<split::SplitBy>,

    /// Leave out arguments (launch shapes, sizes, ids): half the size, twice as fast to open
    #[arg(long)]
    pub no_args: bool,

    /// What ops are drawn by: queue or stream
    #[arg(long, value_enum, default_value_t, value_name = "WHAT", hide_possible_values = true)]
    pub group_by: GroupBy,

    /// How kernels are called: full, mangled (as stored) or short (without their types)
    #[arg(long, value_enum, default_value_t, value_name = "HOW", hide_possible_values = true)]
    pub names: Names,

    /// In Perfetto's formats, call launching calls by the kernels that they launched
    #[arg(long)]
    pub kernel_names: bool,

    /// In pftrace, GPU ops as Perfetto's GPU render stages instead of slices: smaller, without arguments and arrows
    #[arg(long)]
    pub gpu_events: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub filter: filter::FilterArgs,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub console: cli::args::Console,
}

impl Arguments {
    /// The file to write: without one that was named, it is called after the trace and lies beside it.
    #[must_use]
    pub fn output(&self) -> PathBuf {
        let format = self.format.unwrap_or(Format::PerfettoJson);
        self.output.clone().unwrap_or_else(|| format.name_after(&self.trace))
    }

    /// Everywhere `--to` is a moment; here it may name what the trace is converted to as well.
    #[must_use]
    pub fn settled(mut self) -> Self {
        let named = self.filter.to.as_deref().and_then(|word| Format::from_str(word, true).ok());
        if let (None, Some(format)) = (self.format, named) {
            self.format = Some(format);
            self.filter.to = None;
        }
        self
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-convert trace.db
      trace.json.gz for ui.perfetto.dev and chrome://tracing
  rtl-convert trace.db -o trace.pftrace --names short
      Perfetto's own format
  rtl-convert trace.rpd -o step.json --range step_12 --gpu 0,1
      one step on two GPUs";
