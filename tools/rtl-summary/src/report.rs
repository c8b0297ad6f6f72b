//! The report on one trace, or on several combined, before it is printed.

use cli::report::{Input, Sections};
use rtl_analysis::overview;
use rtl_analysis::trust::Health;
use rtl_schema::Tables;

use crate::tables::Scales;

#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The trace; empty for several traces combined.
    pub input: Input,
    pub is_combined: bool,
    /// The recording before any filter; `None` for several traces.
    pub recording: Option<Recording>,
    pub sections: Sections,
    /// First start and last end of all ops, calls and ranges in ns, where the report prints moments.
    pub span: Option<(i64, i64)>,
    /// First start and last end of the ops of a whole trace in ns, where the report has findings.
    pub ops: Option<(i64, i64)>,
    pub groups: Option<AllGroups>,
    pub file: Option<FileInfo>,
    /// The report of another tool, which `--to` selects.
    pub styled: Option<String>,
    /// The flag because of which the report has no findings.
    pub findings_left_out: Option<&'static str>,
}

/// The properties by which two copies of one recording are recognised, because two recordings never have equal times.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Recording {
    /// The first start and the last end of an op in ns.
    pub span: (i64, i64),
    pub dispatches: usize,
    pub pids: Vec<Option<i64>>,
    /// The sum of the starts of all dispatches in ns.
    pub starts: i64,
}

impl Recording {
    /// `None` without a dispatch.
    pub fn from_tables(tables: &Tables) -> Option<Self> {
        let dispatches = &tables.dispatches;
        Some(Self {
            span: overview::ops_span(tables).filter(|_| !dispatches.is_empty())?,
            dispatches: dispatches.len(),
            pids: tables.processes.iter().map(|process| process.pid).collect(),
            starts: dispatches.start.iter().fold(0, |sum: i64, start| sum.wrapping_add(*start)),
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInfo {
    /// The size in bytes, compressed or not.
    pub size: u64,
    /// The tables of a database with their numbers of rows.
    pub tables: Vec<(String, u64)>,
    /// The number of distinct kernel names.
    pub kernels: usize,
}

/// All groups of the main table, of which a report has the printed ones.
#[derive(Debug, Clone, Copy)]
pub struct AllGroups {
    pub count: usize,
    /// The scales of the durations, which decide the units.
    pub(crate) scales: Scales,
}

impl Report {
    pub fn title(&self, inputs: usize) -> String {
        match self.is_combined && inputs > 1 {
            true => format!("all {inputs} traces together"),
            false => self.input.path.clone(),
        }
    }

    /// Printed moments are relative to this start of the first call, range or op in ns.
    pub fn origin(&self) -> i64 {
        self.span.map_or(0, |(start, _)| start)
    }

    /// The kernel names that text prints, of tables at most `top` rows.
    pub(crate) fn printed_kernels(&self, top: usize) -> Vec<&str> {
        let sections = &self.sections;
        let mut names: Vec<&str> = Vec::new();
        names.extend(sections.headline.iter().filter_map(|headline| headline.first_kernel.as_deref()));
        for rows in sections.kernels.iter().chain(&sections.groups) {
            names.extend(rows.iter().map(|row| row.kernel.as_deref().unwrap_or(&row.name)));
        }
        for gap in sections.longest_gaps.iter().flatten() {
            names.extend([gap.before.as_str(), gap.after.as_str()]);
        }
        if let Some(latency) = &sections.launches {
            names.extend(latency.kernels.iter().take(top).map(|kernel| kernel.name.as_str()));
        }
        if let Some(ranks) = &sections.ranks {
            names.extend(ranks.collectives.iter().map(|group| group.kernel.as_str()));
            names.extend(ranks.kernels.iter().take(top).map(|kernel| kernel.name.as_str()));
            names.extend(ranks.outliers.iter().filter_map(|outlier| outlier.kernel.as_deref()));
            names.extend(ranks.steps.iter().map(|steps| steps.name.as_str()));
        }
        if let Some(sanity) = &sections.sanity {
            let rows = sanity.overlaps.examples.iter().chain(&sanity.duplicates.examples);
            names.extend(rows.map(|row| row.name.as_str()));
            names.extend(sanity.dominant.iter().map(|dominant| dominant.kernel.as_str()));
        }
        names
            .extend(sections.unfinished_dispatches.iter().flatten().map(|dispatch| dispatch.kernel.as_str()));
        names
    }

    pub(crate) fn set_health(&mut self, health: Health) {
        self.sections.trust = Some(health.trust);
        self.sections.trust_reasons = Some(health.reasons);
    }

    /// The findings that `--strict` fails on, each with the file in front.
    pub fn strict_failures(&self) -> Vec<String> {
        let failures = self.sections.sanity.iter().flat_map(|sanity| sanity.strict_failures());
        failures.map(|failure| format!("{}: {failure}", self.input.path)).collect()
    }
}
