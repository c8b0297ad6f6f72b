use std::path::{Path, PathBuf};

use clap::Args;
use cli::destination::output_path;
use rtl_analysis::region;

use crate::format::Format;
use crate::partition::SplitBy;
use crate::perfetto_json;
use crate::render_options::RenderOptions;
use crate::run_name::RunName;

/// A conversion: what the command line asks for, and what other tools pass to [`crate::convert`].
#[derive(Args, Debug, Clone)]
pub struct Options {
    /// The trace to read
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// The file to write, compressed if the name ends in `.gz` [default: the trace's name with another ending]
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    pub output: Option<PathBuf>,

    /// The format to write [default: by the name of the output]
    #[arg(long = "to", value_enum, value_name = "FORMAT")]
    pub format: Option<&'static Format>,

    /// Replace an existing output
    #[arg(long)]
    pub force: bool,

    /// Write a file for each GPU, rank or process: `trace.json` becomes `trace.gpu0.json`, ...
    #[arg(long, value_enum, value_name = "PART")]
    pub split: Option<SplitBy>,

    #[command(flatten)]
    pub run: RunName,

    /// Which rows are read; `None` is all
    #[arg(skip)]
    pub filter: Option<region::Filter>,

    #[command(flatten)]
    pub render: RenderOptions,
}

impl Options {
    /// All rows of `trace`, in `format` at `output`.
    pub fn new(trace: &Path, format: &'static Format, output: &Path) -> Self {
        Self {
            trace: trace.to_owned(),
            output: Some(output.to_owned()),
            format: Some(format),
            force: false,
            split: None,
            run: RunName::default(),
            filter: None,
            render: RenderOptions::default(),
        }
    }

    /// The path of the output.
    pub fn output(&self) -> PathBuf {
        let format = self.format.unwrap_or(&perfetto_json::FORMAT);
        self.output.clone().unwrap_or_else(|| format.default_output(&self.trace))
    }
}
