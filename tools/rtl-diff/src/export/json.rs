//! `rtl-diff/1`, which `docs/reference/rtl-diff.schema.json` describes (a test compares the two). Times are integer nanoseconds;
//! ratios, shares and means are floating point; unknown values are null, never NaN.

use std::io::{self, Write};
use std::path::PathBuf;

use rtl_analysis::compare::{Reason, Side, ThresholdSource};
use rtl_analysis::decomposition::WallDecomposition;
use serde::Serialize;

use super::report::Report;
use crate::comparison::{Difference, RenameCandidates, Row, Totals, Waits};

/// Writes the report with at most `rows` kernels.
pub(super) fn render(report: &Report<'_>, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    write(&Document::of(report, rows), out)
}

/// Writes a JSON document with a line break at its end.
pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

/// The whole report.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool_version: &'static str,
    verdict: &'static str,
    incomparable: Option<&'a str>,
    baseline: RunList,
    candidate: RunList,
    differences: &'a [Difference],
    notes: Vec<&'a str>,
    gates: Vec<Gate<'a>>,
    totals: &'a Totals,
    decomposition: Decomposition<'a>,
    kernels: Vec<Kernel<'a>>,
    families: &'a [RenameCandidates],
}

#[derive(Serialize)]
struct RunList {
    runs: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct Gate<'a> {
    rule: &'static str,
    threshold: Option<f64>,
    outcome: &'static str,
    value: Option<f64>,
    message: &'a str,
    kernels: Vec<&'a str>,
    allowed: Vec<Allowed<'a>>,
}

#[derive(Serialize)]
struct Allowed<'a> {
    kernel: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Decomposition<'a> {
    baseline_run: Option<usize>,
    candidate_run: Option<usize>,
    #[serde(flatten)]
    change: &'a WallDecomposition,
}

#[derive(Serialize)]
struct Kernel<'a> {
    name: &'a str,
    former: Option<&'a str>,
    launch: Option<&'a str>,
    status: &'static str,
    reason: Reason,
    collective: bool,
    waits: Option<Sides<Waits>>,
    ratio: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p: Option<f64>,
    q: Option<f64>,
    uncertainty: &'static str,
    threshold: f64,
    threshold_source: ThresholdSource,
    detectable: Option<f64>,
    share: f64,
    change_ns: f64,
    #[serde(flatten)]
    sides: Sides<Option<&'a Side>>,
    pairing: Option<Pairing>,
    drift: Option<Drift>,
}

#[derive(Serialize)]
struct Sides<T> {
    baseline: T,
    candidate: T,
}

#[derive(Serialize)]
struct Pairing {
    method: &'static str,
    score: f64,
}

#[derive(Serialize)]
struct Drift {
    runs: usize,
    ratio: f64,
    ci_low: f64,
    ci_high: f64,
    p: f64,
    slower: bool,
}

impl<'a> Document<'a> {
    fn of(report: &Report<'a>, rows: usize) -> Self {
        let comparison = report.comparison;
        let [baseline_run, candidate_run] = [0, 1].map(|side| comparison.typical.map(|runs| runs[side]));
        Self {
            schema: "rtl-diff/1",
            tool_version: env!("CARGO_PKG_VERSION"),
            verdict: report.verdict.label(),
            incomparable: comparison.incomparable.as_deref(),
            baseline: RunList::of(&comparison.baseline),
            candidate: RunList::of(&comparison.candidate),
            differences: &comparison.differences,
            notes: comparison.notes.iter().chain(&comparison.other_work).map(String::as_str).collect(),
            gates: report.gates.iter().map(|gate| Gate::of(gate, report)).collect(),
            totals: &comparison.totals,
            decomposition: Decomposition { baseline_run, candidate_run, change: &comparison.decomposition },
            kernels: comparison.rows.iter().take(rows).map(Kernel::of).collect(),
            families: &comparison.rename_candidates,
        }
    }
}

impl RunList {
    fn of(runs: &[Vec<PathBuf>]) -> Self {
        let names = |files: &Vec<PathBuf>| files.iter().map(|file| file.display().to_string()).collect();
        Self { runs: runs.iter().map(names).collect() }
    }
}

impl<'a> Gate<'a> {
    fn of(gate: &'a crate::gates::Gate, report: &Report<'a>) -> Self {
        let allowed = report.allowed(gate).map(|(row, reason)| Allowed { kernel: &row.name, reason });
        Self {
            rule: gate.rule.label(),
            threshold: gate.threshold,
            outcome: gate.outcome.label(),
            value: gate.value,
            message: &gate.message,
            kernels: report.rows_of(gate).map(|row| row.name.as_str()).collect(),
            allowed: allowed.collect(),
        }
    }
}

impl<'a> Kernel<'a> {
    fn of(row: &'a Row) -> Self {
        let judgement = &row.judgement;
        let both = row.is_on_both_sides();
        let [baseline, candidate] = row.sides().map(|side| (side.calls > 0).then_some(side));
        Self {
            name: &row.name,
            former: row.former.as_deref(),
            launch: row.launch.as_deref(),
            status: row.change.label(),
            reason: judgement.reason,
            collective: row.collective,
            waits: row.waits.map(|[baseline, candidate]| Sides { baseline, candidate }),
            ratio: both.then_some(judgement.ratio),
            ci_low: judgement.interval.map(|interval| interval.low),
            ci_high: judgement.interval.map(|interval| interval.high),
            p: both.then_some(judgement.p),
            q: both.then_some(judgement.q),
            uncertainty: judgement.method.label(),
            threshold: judgement.threshold.value,
            threshold_source: judgement.threshold.source,
            detectable: judgement.detectable,
            share: row.share(),
            change_ns: row.change_ns,
            sides: Sides { baseline, candidate },
            pairing: row.pairing.map(|(method, score)| Pairing { method: method.label(), score }),
            drift: row.drift.map(|drift| Drift {
                runs: drift.runs,
                ratio: drift.ratio,
                ci_low: drift.interval.low,
                ci_high: drift.interval.high,
                p: drift.p,
                slower: drift.slower,
            }),
        }
    }
}
