//! The report with its pictures, and the names, links and moments that all sections show alike.

use std::path::Path;

use cli::report::{Document, Row, Sections};
use cli::units;
use html_page::color;
use rtl_analysis::pictures::{Arrivals, MemoryOverTime, Pace, Timeline};
use rtl_analysis::{Analysis, DisplayNames};

/// The drawings beside the figures of the report.
#[derive(Debug)]
pub(crate) struct Pictures {
    pub(crate) timeline: Option<Timeline>,
    pub(crate) pace: Vec<Pace>,
    pub(crate) arrivals: Option<Arrivals>,
    pub(crate) memory: Vec<MemoryOverTime>,
}

impl Pictures {
    pub(crate) fn new(analysis: &Analysis<'_>) -> Self {
        Self {
            timeline: analysis.timeline(),
            pace: analysis.pace(),
            arrivals: analysis.arrivals(),
            memory: analysis.memory_over_time(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) document: &'a Document,
    pub(crate) pictures: &'a Pictures,
    /// The page will have this path.
    pub(crate) path: &'a Path,
    names: DisplayNames,
    /// Shown moments are relative to this start of the trace in ns, as those of text reports are.
    pub(crate) origin: i64,
}

impl<'a> View<'a> {
    pub(crate) fn new(document: &'a Document, pictures: &'a Pictures, path: &'a Path) -> Self {
        let sections = &document.sections;
        let kernels = sections.kernels.iter().flatten().map(|row| row.name.as_str());
        let start = match document.inputs.as_slice() {
            [only] => only.info.as_ref().and_then(|info| info.start_ns),
            _ => None,
        };
        let gpus = sections.gpus.iter().flatten().map(|row| row.gpu.start_ns);
        let origin = start.or_else(|| gpus.min()).unwrap_or(0);
        Self { document, pictures, path, names: DisplayNames::of(kernels), origin }
    }

    pub(crate) fn sections(&self) -> &'a Sections {
        &self.document.sections
    }

    pub(crate) fn kernels(&self) -> &'a [Row] {
        self.sections().kernels.as_deref().unwrap_or_default()
    }

    pub(crate) fn name<'n>(&'n self, kernel: &'n str) -> &'n str {
        self.names.get(kernel)
    }

    /// A link to the part of the timeline between two moments in ns, with as much time before and after it.
    pub(crate) fn link(&self, start: i64, end: i64) -> String {
        let around = end.saturating_sub(start).max(0);
        let (start, end) = (start.saturating_sub(around), end.saturating_add(around));
        format!("#t={},{}", start.saturating_sub(self.origin), end.saturating_sub(self.origin))
    }

    pub(crate) fn moment(&self, moment: i64) -> String {
        units::duration(moment.saturating_sub(self.origin))
    }

    pub(crate) fn title(&self) -> String {
        let name = |path: &str| {
            Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
        };
        match self.document.inputs.as_slice() {
            [] => "no trace".to_owned(),
            [only] => name(&only.path),
            [first, .., last] => {
                let count = self.document.inputs.len();
                format!("{count} traces: {} to {}", name(&first.path), name(&last.path))
            }
        }
    }
}

pub(crate) fn class(row: &Row) -> String {
    color::class(color::of_category(row.category.as_deref().unwrap_or_default()))
}

pub(crate) fn percent(share: f64) -> String {
    format!("{} %", units::fixed(share * 100.0, 1))
}
