//! Gaps that something caused which is done once: it loads code, or it makes one step much longer than the others.

use crate::Analysis;
use crate::base::stats::median;
use crate::idle::{Cause, IdleGap};

/// No launch takes so long in ns.
const LONG_LAUNCH: i64 = 1_000_000;

/// From this many times the median a step is unusual.
const UNUSUAL: f64 = 3.0;

/// More steps than this part are not unusual.
const FEW: f64 = 1.0 / 3.0;

/// Gaps that something caused which is done once, each with its GPU.
#[derive(Debug, Default)]
pub(super) struct FirstCalls {
    pub(super) gaps: Vec<(i64, IdleGap)>,
    /// The steps with most of them, as ranges are called, with their durations and the usual one in ns.
    pub(super) steps: Option<(Vec<String>, i64, i64)>,
}

impl FirstCalls {
    /// Looks at the longest gaps of each GPU.
    pub(super) fn of(analysis: &Analysis<'_>) -> Self {
        let unusual = unusual_steps(analysis);
        let spans = unusual.iter().flat_map(|unusual| &unusual.spans);
        let is_within = |gap: &IdleGap| {
            let end = gap.start_ns.saturating_add(gap.duration_ns);
            spans.clone().any(|&(from, to)| gap.start_ns < to && end > from)
        };
        // A launch that takes long loads the code of the kernel first.
        let is_loading = |gap: &IdleGap| {
            gap.parts.first().is_some_and(|part| {
                part.cause == Cause::Loading || part.cause == Cause::Launch && part.idle_ns >= LONG_LAUNCH
            })
        };
        let mut gaps = Vec::new();
        for gpu in analysis.idle() {
            let found = gpu.longest.iter().filter(|gap| is_loading(gap) || is_within(gap));
            gaps.extend(found.map(|gap| (gpu.gpu, gap.clone())));
        }
        gaps.sort_by_key(|(gpu, gap)| (std::cmp::Reverse(gap.duration_ns), gap.start_ns, *gpu));
        Self { gaps, steps: unusual.map(|unusual| (unusual.labels, unusual.longest_ns, unusual.usual_ns)) }
    }
}

struct UnusualSteps {
    spans: Vec<(i64, i64)>,
    labels: Vec<String>,
    longest_ns: i64,
    usual_ns: i64,
}

fn unusual_steps(analysis: &Analysis<'_>) -> Option<UnusualSteps> {
    let tables = analysis.tables;
    let repeated = analysis.steps()?;
    let mut unusual = UnusualSteps { spans: Vec::new(), labels: Vec::new(), longest_ns: 0, usual_ns: 0 };
    for process in analysis.processes() {
        let spans: Vec<(i64, i64)> =
            (0..repeated.count(process)).filter_map(|number| repeated.span(process, number)).collect();
        let length = |&(from, to): &(i64, i64)| to.saturating_sub(from);
        let mut lengths: Vec<f64> = spans.iter().map(|span| length(span) as f64).collect();
        let usual = median(&mut lengths);
        let is_long = |(_, span): &(usize, &(i64, i64))| length(span) as f64 > UNUSUAL * usual;
        let long: Vec<(usize, &(i64, i64))> = spans.iter().enumerate().filter(is_long).collect();
        if long.is_empty() || long.len() as f64 > FEW * spans.len() as f64 {
            continue;
        }
        for (number, span) in long {
            let label = repeated.label(tables, number);
            if !unusual.labels.contains(&label) {
                unusual.labels.push(label);
            }
            unusual.longest_ns = unusual.longest_ns.max(length(span));
            unusual.spans.push(*span);
        }
        unusual.usual_ns = unusual.usual_ns.max(usual as i64);
    }
    (!unusual.spans.is_empty()).then_some(unusual)
}
