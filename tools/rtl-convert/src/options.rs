use std::path::{Path, PathBuf};

use rtl_analysis::region;

use crate::format::Format;
use crate::partition::SplitBy;
use crate::perfetto_json;
use crate::render_options::RenderOptions;

/// A conversion: what the command line asks for, and what other tools pass to [`crate::convert`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The trace to read.
    pub trace: PathBuf,
    /// The output; by default it lies beside the trace.
    pub output: Option<PathBuf>,
    /// The format; by default the name of the output selects it.
    pub format: Option<&'static Format>,
    /// Replace an existing output.
    pub force: bool,
    /// Divide the rows into a part for each GPU, rank or process.
    pub split: Option<SplitBy>,
    /// Which rows are read; `None` is all.
    pub filter: Option<region::Filter>,
    /// How rows appear.
    pub render: RenderOptions,
}

impl Options {
    /// All rows of `trace`, in `format` at `output`.
    #[must_use]
    pub fn new(trace: &Path, format: &'static Format, output: &Path) -> Self {
        Self {
            trace: trace.to_owned(),
            output: Some(output.to_owned()),
            format: Some(format),
            force: false,
            split: None,
            filter: None,
            render: RenderOptions::default(),
        }
    }

    /// The path of the output.
    #[must_use]
    pub fn output(&self) -> PathBuf {
        let format = self.format.unwrap_or(&perfetto_json::FORMAT);
        self.output.clone().unwrap_or_else(|| format.default_output(&self.trace))
    }
}
