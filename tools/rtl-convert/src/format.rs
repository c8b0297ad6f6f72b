//! A target format: one declaration from which `--to`, file names, help and the table in docs/reference/convert.md follow.

use std::path::{Path, PathBuf};

use atomic_file::IfExists;
use cli::Failure;

use crate::partition::SplitBy;
use crate::render_options::RenderOptions;
use crate::rows::RowCounts;
use crate::run_name::RunName;
use crate::source::Source;

/// A format that `rtl-convert` writes.
#[derive(Debug)]
pub struct Format {
    /// The value of `--to` and `--format`.
    pub name: &'static str,
    /// Other accepted values.
    pub aliases: &'static [&'static str],
    /// One line for `--help`, without the file endings.
    pub help: &'static str,
    /// Endings of file names that select this format; the longest match over all formats wins.
    pub endings: &'static [&'static str],
    /// The ending that replaces that of the trace's name where no output is named.
    pub default_ending: &'static str,
    /// Whether one output holds all parts of a split trace; otherwise each part is a separate output.
    pub partitioned: bool,
    /// Whether it has operators, Python frames and memory events; otherwise they are left out, and counted.
    pub has_operators: bool,
    /// Writes the output.
    pub write: fn(&Job<'_>) -> Result<Written, Failure>,
}

impl Format {
    /// The default output: beside the trace, never the trace itself.
    #[must_use]
    pub fn default_output(&self, trace: &Path) -> PathBuf {
        let name = trace.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let stem =
            [".db", ".rpd", ".json", ".txt"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
        let end = self.default_ending;
        let named = trace.with_file_name(format!("{stem}{end}"));
        if named == trace { trace.with_file_name(format!("{stem}_converted{end}")) } else { named }
    }
}

/// One output to write.
#[derive(Debug)]
pub struct Job<'a> {
    /// The rows.
    pub source: &'a Source,
    /// The path of the input, which is never overwritten.
    pub trace: &'a Path,
    /// The path of the output.
    pub output: &'a Path,
    /// Whether an existing output may be replaced.
    pub force: bool,
    /// How a partitioned format divides the rows.
    pub split: Option<SplitBy>,
    /// The name of the run in a data set.
    pub run: &'a RunName,
    /// How rows appear.
    pub render: &'a RenderOptions,
}

impl Job<'_> {
    /// The rules for its outputs.
    #[must_use]
    pub fn rules(&self) -> atomic_file::Options<'_> {
        let inputs = std::slice::from_ref(&self.trace);
        atomic_file::Options { if_exists: IfExists::forced(self.force), inputs }
    }
}

/// An output that is complete.
#[derive(Debug)]
pub struct Written {
    /// Its files, or its folder.
    pub paths: Vec<PathBuf>,
    /// How many rows were read and written.
    pub rows: RowCounts,
    /// Warnings about the output.
    pub warnings: Vec<String>,
}

impl Written {
    /// The output of a job that writes exactly one path.
    #[must_use]
    pub fn one(job: &Job<'_>, rows: RowCounts) -> Self {
        Self { paths: vec![job.output.to_owned()], rows, warnings: Vec::new() }
    }

    /// One line: the paths, rows in, rows out, rows omitted and why.
    #[must_use]
    pub fn summary_line(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        format!("Written {}: {}", paths.join(", "), self.rows)
    }
}
