//! A target format: one declaration from which `--to`, file names, help and the table in docs/reference/convert.md follow.

use std::path::{Path, PathBuf};

use atomic_file::IfExists;
use cli::Failure;

use crate::partition::SplitBy;
use crate::render_options::RenderOptions;
use crate::rows::RowCounts;
use crate::run_name::RunName;
use crate::source::Source;

#[derive(Debug)]
pub struct Format {
    /// The value of `--to`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// One line for `--help`, without the file endings.
    pub help: &'static str,
    /// Endings of file names that select this format; the longest match over all formats wins.
    pub endings: &'static [&'static str],
    /// The ending that replaces that of the trace's name where no output is named.
    pub default_ending: &'static str,
    /// One output holds all parts of a split trace; otherwise each part is a separate output.
    pub partitioned: bool,
    /// The format has operators, Python frames and memory events; otherwise they are left out, and counted.
    pub has_operators: bool,
    pub write: fn(&Job<'_>) -> Result<Written, Failure>,
}

impl Format {
    /// The default output: beside the trace, never the trace itself.
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

#[derive(Debug)]
pub struct Job<'a> {
    pub source: &'a Source,
    /// The path of the input, which is never overwritten.
    pub trace: &'a Path,
    pub output: &'a Path,
    pub force: bool,
    pub split: Option<SplitBy>,
    pub run: &'a RunName,
    pub render: &'a RenderOptions,
}

impl Job<'_> {
    pub fn rules(&self) -> atomic_file::Options<'_> {
        let inputs = std::slice::from_ref(&self.trace);
        atomic_file::Options { if_exists: IfExists::forced(self.force), inputs }
    }
}

/// An output that is complete.
#[derive(Debug)]
pub struct Written {
    /// The files, or their folder.
    pub paths: Vec<PathBuf>,
    pub rows: RowCounts,
    pub warnings: Vec<String>,
}

impl Written {
    pub fn one(job: &Job<'_>, rows: RowCounts) -> Self {
        Self { paths: vec![job.output.to_owned()], rows, warnings: Vec::new() }
    }

    /// One line: the paths, rows in, rows out, rows omitted and why.
    pub fn summary_line(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        format!("Written {}: {}", cli::escape_control(&paths.join(", ")), self.rows)
    }
}
