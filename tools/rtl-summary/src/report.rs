//! The report on one trace, or on several combined.

use rtl_report::{Input, Sections};

/// A report.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The trace; empty for several combined.
    pub input: Input,
    /// Whether the report is on several traces combined.
    pub is_combined: bool,
    /// The computed sections.
    pub sections: Sections,
    /// The file's contents, with `--info`.
    pub file: Option<FileInfo>,
    /// The report of another tool, with `--style`.
    pub styled: Option<String>,
}

/// The contents of a file, beside its metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInfo {
    /// The size in bytes, compressed or not.
    pub size: u64,
    /// The tables of a database with their numbers of rows.
    pub tables: Vec<(String, u64)>,
    /// The number of distinct kernel names.
    pub kernels: usize,
}

impl Report {
    /// The title of one of `inputs` reports.
    pub fn title(&self, inputs: usize) -> String {
        match self.is_combined {
            true => format!("all {inputs} traces together"),
            false => self.input.path.clone(),
        }
    }

    /// The start of the trace in ns, which printed moments are relative to.
    pub fn origin(&self) -> i64 {
        let gpus = self.sections.gpus.iter().flatten().map(|row| row.gpu.start_ns);
        let start = self.input.info.as_ref().and_then(|info| info.start_ns);
        start.or_else(|| gpus.min()).unwrap_or(0)
    }

    /// The findings that `--strict` fails on, with the file in front.
    pub fn strict_failures(&self) -> Vec<String> {
        let failures = self.sections.sanity.iter().flat_map(|sanity| sanity.strict_failures());
        failures.map(|failure| format!("{}: {failure}", self.input.path)).collect()
    }
}
