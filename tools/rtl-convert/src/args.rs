use clap::Parser;
use cli::Failure;
use cli::args::CommandLine;

use crate::options::Options;
use crate::render_options::RenderOptions;

const ABOUT: &str = "Convert a trace to another format: exact, in bounded memory";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nReads traces of {}, each also gzip-compressed, and detects the format by content. The input is \
         never changed; the output appears only when it is complete.",
        rtl_schema::dialect::READABLE
    )
}

/// The command line of rtl-convert.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-convert", version, about = ABOUT, long_about = long_about(), after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub options: Options,

    /// Show the output in ui.perfetto.dev, which reads it from this machine
    #[arg(long)]
    pub open: bool,

    #[command(flatten)]
    pub filter: cli::filter::FilterArgs,

    /// Print no progress and no notes, only errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

impl CommandLine for Arguments {}

impl Arguments {
    /// The options of the conversion.
    ///
    /// # Errors
    /// A usage error for an invalid filter.
    pub fn options(self) -> Result<Options, Failure> {
        let filter = (!self.filter.is_empty()).then(|| self.filter.filter()).transpose()?;
        let render = RenderOptions { progress: !self.quiet, ..self.options.render };
        Ok(Options { filter, render, ..self.options })
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-convert trace.db
      trace.json.gz for ui.perfetto.dev and chrome://tracing
  rtl-convert trace.db -o trace.pftrace --names short
      Perfetto's own format
  rtl-convert trace.db --open
      the same, shown in Perfetto's page
  rtl-convert trace.rpd -o step.json --range step_12 --gpu 0,1
      one step on two GPUs";
