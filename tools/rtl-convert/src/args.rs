use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use cli::Failure;

use crate::format::Format;
use crate::options::Options;
use crate::partition::SplitBy;
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
    /// The trace to read
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// The file to write, compressed if the name ends in `.gz` [default: the trace's name with another ending]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The format to write; by default the name of the output selects it. `--to FORMAT` does the same
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub format: Option<&'static Format>,

    /// Replace an existing output
    #[arg(long)]
    pub force: bool,

    /// Write a file for each GPU, rank or process: `trace.json` becomes `trace.gpu0.json`, ...
    #[arg(long, value_enum, value_name = "PART")]
    pub split: Option<SplitBy>,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub render: RenderOptions,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub filter: filter::FilterArgs,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub console: cli::args::Console,
}

impl Arguments {
    /// What to convert, and how. `--to` limits the time in every tool; here its value may also name a format.
    ///
    /// # Errors
    /// A usage error for an invalid filter.
    pub fn options(mut self) -> Result<Options, Failure> {
        let named = self.filter.to.as_deref().and_then(|word| <&Format>::from_str(word, true).ok());
        if let (None, Some(format)) = (self.format, named) {
            self.format = Some(format);
            self.filter.to = None;
        }
        Ok(Options {
            filter: (!self.filter.is_empty()).then(|| self.filter.filter()).transpose()?,
            trace: self.trace,
            output: self.output,
            format: self.format,
            force: self.force,
            split: self.split,
            render: RenderOptions { progress: !self.console.quiet, ..self.render },
        })
    }
}

const EXAMPLES: &str = "\
Examples:
  rtl-convert trace.db
      Write trace.json.gz for ui.perfetto.dev and chrome://tracing
  rtl-convert trace.db -o trace.pftrace --names short
      Write Perfetto's own format
  rtl-convert trace.rpd -o step.json --range step_12 --gpu 0,1
      Write one step on two GPUs";
