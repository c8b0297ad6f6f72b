//! `rtl-diff/1`, which `docs/reference/rtl-diff.schema.json` describes (a test compares the two). Times are integer nanoseconds;
//! ratios, shares and means are floating point; unknown values are null, never NaN.

use std::io::{self, Write};
use std::path::PathBuf;

use rtl_analysis::decomposition::WallDecomposition;
use serde::Serialize;

use super::report::Report;
use crate::comparison::{Difference, RenameCandidates, Row, Totals};
use crate::gates::{Gate, Outcome};

/// The whole report.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool_version: &'static str,
    verdict: Outcome,
    incomparable: Option<&'a str>,
    baseline: RunList,
    candidate: RunList,
    differences: &'a [Difference],
    notes: Vec<&'a str>,
    gates: &'a [Gate<'a>],
    totals: &'a Totals,
    decomposition: Decomposition<'a>,
    kernels: &'a [Row],
    families: &'a [RenameCandidates],
}

#[derive(Serialize)]
struct RunList {
    runs: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct Decomposition<'a> {
    baseline_run: Option<usize>,
    candidate_run: Option<usize>,
    #[serde(flatten)]
    change: &'a WallDecomposition,
}

/// Writes the report with at most `rows` kernels.
pub(super) fn render(report: &Report<'_>, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let comparison = report.comparison;
    let [baseline_run, candidate_run] = [0, 1].map(|side| comparison.typical.map(|runs| runs[side]));
    let document = Document {
        schema: "rtl-diff/1",
        tool_version: env!("CARGO_PKG_VERSION"),
        verdict: report.verdict,
        incomparable: comparison.incomparable.as_deref(),
        baseline: RunList::of(&comparison.baseline),
        candidate: RunList::of(&comparison.candidate),
        differences: &comparison.differences,
        notes: comparison.notes.iter().chain(&comparison.other_work).map(String::as_str).collect(),
        gates: report.gates,
        totals: &comparison.totals,
        decomposition: Decomposition { baseline_run, candidate_run, change: &comparison.decomposition },
        kernels: report.first_rows(rows),
        families: &comparison.rename_candidates,
    };
    write(&document, out)
}

/// Writes a JSON document with a line break at its end.
pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

impl RunList {
    fn of(runs: &[Vec<PathBuf>]) -> Self {
        let names = |files: &Vec<PathBuf>| files.iter().map(|file| file.display().to_string()).collect();
        Self { runs: runs.iter().map(names).collect() }
    }
}
