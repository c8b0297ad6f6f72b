//! The versioned shape of the answer, `rtl-diff/1`: what scripts rely on. `docs/reference/rtl-diff.schema.json` describes it and a
//! test holds the two together. Times are integer nanoseconds; ratios, shares and means are floating point, and where
//! nothing is known there is null, never NaN.

use rtl_analysis::compare::{Judgement, Side};
use rtl_analysis::decomposition::{GpuWallChange, WallChange, WallTerms};
use serde::Serialize;

use crate::comparison::{Row as Kernel, Total as Figure, Waits as Collective};
use crate::export::Answer;
use crate::gates::Gate as Asked;

/// The name and version of the shape.
pub const SCHEMA: &str = "rtl-diff/1";

/// The whole answer.
#[derive(Debug, Clone, Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    tool_version: &'static str,
    verdict: &'static str,
    /// Why nothing can be compared, if so.
    incomparable: Option<&'a str>,
    baseline: Runs,
    candidate: Runs,
    differences: Vec<Difference<'a>>,
    notes: Vec<&'a str>,
    gates: Vec<Gate<'a>>,
    totals: Totals,
    decomposition: Decomposition<'a>,
    kernels: Vec<Row<'a>>,
    families: Vec<Family<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct Runs {
    runs: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Serialize)]
struct Difference<'a> {
    what: &'a str,
    baseline: &'a str,
    candidate: &'a str,
}

#[derive(Debug, Clone, Serialize)]
struct Gate<'a> {
    rule: &'static str,
    threshold: Option<f64>,
    outcome: &'static str,
    value: Option<f64>,
    message: &'a str,
    kernels: Vec<&'a str>,
    allowed: Vec<Allowed<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct Allowed<'a> {
    kernel: &'a str,
    reason: &'a str,
}

#[derive(Debug, Clone, Serialize)]
struct Totals {
    kernel_ns: Total,
    wall_ns: Total,
    idle_share: Total,
    launches: Total,
}

#[derive(Debug, Clone, Serialize)]
struct Total {
    baseline: f64,
    candidate: f64,
    change: Option<f64>,
    change_at_least: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
struct Decomposition<'a> {
    baseline_run: Option<usize>,
    candidate_run: Option<usize>,
    baseline_wall_ns: i64,
    candidate_wall_ns: i64,
    wall_delta_ns: i64,
    terms: &'a WallTerms,
    gpus: Vec<GpuTerms<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct GpuTerms<'a> {
    gpu: i64,
    baseline_wall_ns: i64,
    candidate_wall_ns: i64,
    wall_delta_ns: i64,
    terms: &'a WallTerms,
}

#[derive(Debug, Clone, Serialize)]
struct Row<'a> {
    name: &'a str,
    former: Option<&'a str>,
    launch: Option<&'a str>,
    status: &'static str,
    reason: serde_json::Value,
    collective: bool,
    waits: Option<Waits>,
    ratio: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p: Option<f64>,
    q: Option<f64>,
    uncertainty: &'static str,
    threshold: f64,
    threshold_source: serde_json::Value,
    detectable: Option<f64>,
    share: f64,
    change_ns: f64,
    baseline: Option<&'a Side>,
    candidate: Option<&'a Side>,
    pairing: Option<Pairing>,
    drift: Option<Drift>,
}

#[derive(Debug, Clone, Serialize)]
struct Drift {
    runs: usize,
    ratio: f64,
    ci_low: f64,
    ci_high: f64,
    p: f64,
    slower: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Waits {
    baseline: SideWaits,
    candidate: SideWaits,
}

#[derive(Debug, Clone, Serialize)]
struct SideWaits {
    collectives: u64,
    calls: u64,
    transfer_ns: i64,
    wait_ns: i64,
}

#[derive(Debug, Clone, Serialize)]
struct Pairing {
    method: &'static str,
    score: f64,
}

#[derive(Debug, Clone, Serialize)]
struct Family<'a> {
    name: &'a str,
    removed: usize,
    new: usize,
}

impl<'a> Document<'a> {
    /// The document of an answer with at most `rows` kernels.
    pub fn of(answer: &Answer<'a>, rows: usize) -> Self {
        let comparison = answer.comparison;
        let runs = |side: &[Vec<std::path::PathBuf>]| Runs {
            runs: side
                .iter()
                .map(|files| files.iter().map(|file| file.display().to_string()).collect())
                .collect(),
        };
        let WallChange { baseline_wall_ns, candidate_wall_ns, wall_delta_ns, terms } =
            &comparison.books.total;
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            verdict: answer.verdict.label(),
            incomparable: comparison.incomparable.as_deref(),
            baseline: runs(&comparison.baseline),
            candidate: runs(&comparison.candidate),
            differences: comparison
                .differences
                .iter()
                .map(|difference| Difference {
                    what: &difference.what,
                    baseline: &difference.baseline,
                    candidate: &difference.candidate,
                })
                .collect(),
            notes: comparison.notes.iter().chain(&comparison.other_work).map(String::as_str).collect(),
            gates: answer.gates.iter().map(|gate| Gate::of(gate, &comparison.rows)).collect(),
            totals: Totals {
                kernel_ns: Total::of(&comparison.totals.kernels),
                wall_ns: Total::of(&comparison.totals.wall),
                idle_share: Total::of(&comparison.totals.idle),
                launches: Total::of(&comparison.totals.launches),
            },
            decomposition: Decomposition {
                baseline_run: comparison.typical.map(|typical| typical[0]),
                candidate_run: comparison.typical.map(|typical| typical[1]),
                baseline_wall_ns: *baseline_wall_ns,
                candidate_wall_ns: *candidate_wall_ns,
                wall_delta_ns: *wall_delta_ns,
                terms,
                gpus: comparison.books.gpus.iter().map(GpuTerms::of).collect(),
            },
            kernels: comparison.rows.iter().take(rows).map(Row::of).collect(),
            families: comparison
                .kin
                .iter()
                .map(|kin| Family { name: &kin.name, removed: kin.removed, new: kin.new })
                .collect(),
        }
    }
}

impl<'a> Gate<'a> {
    fn of(gate: &'a Asked, rows: &'a [Kernel]) -> Self {
        Self {
            rule: gate.rule.label(),
            threshold: gate.threshold,
            outcome: gate.outcome.label(),
            value: gate.value,
            message: &gate.message,
            kernels: gate.rows.iter().map(|&at| rows[at].name.as_str()).collect(),
            allowed: gate
                .allowed
                .iter()
                .map(|(at, reason)| Allowed { kernel: &rows[*at].name, reason })
                .collect(),
        }
    }
}

impl Total {
    fn of(total: &Figure) -> Self {
        let Figure { baseline, candidate, change, at_least } = *total;
        Self { baseline, candidate, change, change_at_least: at_least }
    }
}

impl<'a> GpuTerms<'a> {
    fn of(gpu: &'a GpuWallChange) -> Self {
        let WallChange { baseline_wall_ns, candidate_wall_ns, wall_delta_ns, terms } = &gpu.change;
        Self {
            gpu: gpu.gpu,
            baseline_wall_ns: *baseline_wall_ns,
            candidate_wall_ns: *candidate_wall_ns,
            wall_delta_ns: *wall_delta_ns,
            terms,
        }
    }
}

impl Waits {
    fn of([baseline, candidate]: &[Collective; 2]) -> Self {
        let side = |&Collective { collectives, calls, transfer_ns, wait_ns, .. }: &Collective| SideWaits {
            collectives,
            calls,
            transfer_ns,
            wait_ns,
        };
        Self { baseline: side(baseline), candidate: side(candidate) }
    }
}

impl<'a> Row<'a> {
    fn of(row: &'a Kernel) -> Self {
        let Judgement {
            reason,
            ratio,
            interval,
            baseline,
            candidate,
            p,
            q,
            detectable,
            method,
            threshold,
            ..
        } = &row.judgement;
        let both = baseline.calls > 0 && candidate.calls > 0;
        let word = |value: Result<serde_json::Value, _>| value.unwrap_or_default();
        Self {
            name: &row.name,
            former: row.former.as_deref(),
            launch: row.launch.as_deref(),
            status: row.change.label(),
            reason: word(serde_json::to_value(reason)),
            collective: row.collective,
            waits: row.waits.as_ref().map(Waits::of),
            ratio: both.then_some(*ratio),
            ci_low: interval.map(|interval| interval.low),
            ci_high: interval.map(|interval| interval.high),
            p: both.then_some(*p),
            q: both.then_some(*q),
            uncertainty: method.label(),
            threshold: threshold.value,
            threshold_source: word(serde_json::to_value(threshold.source)),
            detectable: *detectable,
            share: row.share,
            change_ns: row.change_ns,
            baseline: (baseline.calls > 0).then_some(baseline),
            candidate: (candidate.calls > 0).then_some(candidate),
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
