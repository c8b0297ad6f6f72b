//! The document `rtl-diff/1`. A test compares it with `docs/reference/rtl-diff.schema.json`. Times are integer nanoseconds;
//! ratios, shares and means are floating point; unknown values are null, never NaN.

use std::io::{self, Write};
use std::path::PathBuf;

use rtl_analysis::decomposition::WallDecomposition;
use serde::Serialize;

use super::digest::Digest;
use super::report::Report;
use crate::args::By;
use crate::comparison::{Difference, RenameCandidates, Row, Totals, WorkComparison};
use crate::gates::{Gate, Outcome};
use crate::input::Steps;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool_version: &'static str,
    verdict: Outcome,
    headline: String,
    incomparable: Option<&'a str>,
    by: By,
    baseline: RunList<'a>,
    candidate: RunList<'a>,
    differences: &'a [Difference],
    notes: Vec<&'a str>,
    gates: &'a [Gate<'a>],
    totals: &'a Totals,
    decomposition: Decomposition<'a>,
    work: Option<&'a WorkComparison>,
    kernels: &'a [Row],
    families: &'a [RenameCandidates],
}

#[derive(Serialize)]
struct RunList<'a> {
    runs: Vec<Vec<String>>,
    steps: &'a [Option<Steps>],
}

#[derive(Serialize)]
struct Decomposition<'a> {
    baseline_run: Option<usize>,
    candidate_run: Option<usize>,
    #[serde(flatten)]
    change: &'a WallDecomposition,
}

pub(super) fn render(report: &Report<'_>, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let comparison = report.comparison;
    let [baseline_run, candidate_run] = [0, 1].map(|side| comparison.typical.map(|runs| runs[side]));
    let document = Document {
        schema: "rtl-diff/1",
        tool_version: env!("CARGO_PKG_VERSION"),
        verdict: report.verdict,
        headline: Digest::new(report).headline(),
        incomparable: comparison.incomparable.as_deref(),
        by: comparison.by,
        baseline: RunList::new(&comparison.baseline, &comparison.steps[0]),
        candidate: RunList::new(&comparison.candidate, &comparison.steps[1]),
        differences: &comparison.differences,
        notes: comparison.notes.iter().chain(&comparison.other_work).map(String::as_str).collect(),
        gates: report.gates,
        totals: &comparison.totals,
        decomposition: Decomposition { baseline_run, candidate_run, change: &comparison.decomposition },
        work: comparison.work.as_ref(),
        kernels: report.first_rows(rows),
        families: &comparison.rename_candidates,
    };
    write(&document, out)
}

pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

impl<'a> RunList<'a> {
    fn new(runs: &[Vec<PathBuf>], steps: &'a [Option<Steps>]) -> Self {
        let names = |files: &Vec<PathBuf>| files.iter().map(|file| file.display().to_string()).collect();
        Self { runs: runs.iter().map(names).collect(), steps }
    }
}
