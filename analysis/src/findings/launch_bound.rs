//! The host needs longer to launch ops than these run.

use rustc_hash::FxHashMap;

use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::words::{counted, percent, time};
use crate::idle::{LossKind, SpanKind};

/// From this part of the time on it is most of it.
const MOST: f64 = 0.5;

/// From this part of the gaps on a place is named, and from this part of its gaps on one within.
const SOME: f64 = 0.2;
const NEARLY: f64 = 0.8;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = Lost::new(inputs, |part| part.loss.kind == LossKind::Pace && part.activity.is_none());
    // Ranks whose hosts are just as slow wait for each other, too.
    let waits = inputs.job.as_ref().map_or(&[][..], |job| &job.for_hosts);
    let by_gpu = lost.by_gpu();
    let both = by_gpu.iter().enumerate().map(|(gpu, idle)| idle + waits.get(gpu).copied().unwrap_or(0));
    let finding = Finding::of_gpus("launch-bound", inputs, both.collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let finding = Finding { evidence: lost.evidence(), ..finding };
    vec![described(inputs, &lost, finding)]
}

fn described(inputs: &Inputs<'_>, lost: &Lost<'_>, finding: Finding) -> Finding {
    let ops: u64 = inputs.gpus().iter().map(|gpu| gpu.ops).sum();
    let busy = inputs.gpus().iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.busy_ns));
    let mean = time(busy / i64::try_from(ops.max(1)).unwrap_or(i64::MAX));
    let work = Work::of(inputs, lost);
    let place = place(lost).map_or_else(
        || lost.at(),
        |(place, gaps, share)| {
            format!(
                "; most launches are in {place} ({}, {} of the time)",
                counted(gaps, "gap", "gaps"),
                percent(share)
            )
        },
    );
    let waits = finding.cost_ns.saturating_sub(lost.idle_ns(&finding));
    let (hosts, waits) = match waits > 0 {
        true => (
            "the hosts of all ranks are too slow for their GPUs",
            format!(" and {} in collectives for ranks whose hosts are as slow", time(waits)),
        ),
        false => ("the host is too slow for the GPU", String::new()),
    };
    Finding {
        sentence: format!(
            "{hosts}: launching takes longer than the ops run ({mean} each on average), {}{place}",
            lost.idle_and(&finding, &waits),
        ),
        look: "rtl-summary --section idle,launches,queues TRACE".to_owned(),
        help: work.help().to_owned(),
        ..finding
    }
}

/// The work that takes the host most of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// It launches graphs.
    Graphs,
    /// It is in calls that launch.
    Calls,
    /// It is in operators of a framework.
    Operators,
    /// It runs other code.
    Other,
}

impl Work {
    fn of(inputs: &Inputs<'_>, lost: &Lost<'_>) -> Self {
        let (mut calls, mut operators) = (0, 0);
        for part in lost.parts() {
            let innermost = part.places.spans(part.loss.site.path).next();
            if part.loss.site.call.is_some() {
                calls += part.ns;
            } else if innermost.is_some_and(|(_, kind)| kind == SpanKind::Operator) {
                operators += part.ns;
            }
        }
        let is_most = |ns: u64| ns as f64 >= MOST * lost.total_ns() as f64;
        match () {
            () if inputs.launches_graphs() => Self::Graphs,
            () if is_most(calls) => Self::Calls,
            () if is_most(operators + calls) => Self::Operators,
            () => Self::Other,
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Graphs => {
                "graphs are in use already: do less between two graphs, or have one graph for what several launch now"
            }
            Self::Calls => "launch the ops as one graph, fuse small kernels, or give each launch more work",
            Self::Operators => {
                "launch the ops as one graph, fuse small kernels (torch.compile, fused or foreach optimizers), or give each \
                 launch more work"
            }
            Self::Other => {
                "take what the host does between launches out of the loop, then launch the ops as one graph or fuse them \
                 (torch.compile)"
            }
        }
    }
}

/// The operator, range or function of the program that launches most, with its gaps and its part of the time: the outermost one
/// with [`SOME`] of the gaps, or one within with nearly as many.
fn place(lost: &Lost<'_>) -> Option<(String, u64, f64)> {
    let mut paths: Vec<(Vec<&str>, u64, u64)> = Vec::new();
    for part in lost.parts() {
        let spans = part.places.spans(part.loss.site.path);
        let named = spans.filter(|(_, kind)| *kind != SpanKind::Python);
        let mut names: Vec<&str> = named.map(|(name, _)| name).collect();
        names.reverse();
        paths.push((names, part.loss.gaps, part.ns));
    }
    let gaps: u64 = lost.parts().iter().map(|part| part.loss.gaps).sum();
    let mut least = SOME * gaps as f64;
    let mut found = None;
    for depth in 0.. {
        let mut launches: FxHashMap<&str, (u64, u64)> = FxHashMap::default();
        for (names, of_path, time) in &paths {
            if let Some(name) = names.get(depth) {
                let (gaps, ns) = launches.entry(name).or_default();
                (*gaps, *ns) = (*gaps + of_path, *ns + time);
            }
        }
        let most =
            launches.into_iter().max_by(|(one, first), (other, second)| (first, other).cmp(&(second, one)));
        let Some((name, (gaps, ns))) = most.filter(|(_, (gaps, _))| *gaps as f64 >= least) else { break };
        paths.retain(|(names, ..)| names.get(depth) == Some(&name));
        least = NEARLY * gaps as f64;
        found = Some((name.to_owned(), gaps, ns as f64 / lost.total_ns() as f64));
    }
    found
}
