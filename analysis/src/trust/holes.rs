//! Holes in the recording of a GPU: time in which it ran work that is not in the trace. A kernel that a recorder loses looks like idle
//! time before the next one.

use rtl_schema::Tables;

use super::evidence::{Evidence, PLACES};
use super::launched::{Function, Launched};
use super::reason::{Reason, Trust};
use crate::Analysis;
use crate::error::time;
use crate::idle::{GpuIdle, Loss, LossKind};

/// From this part of the time of a GPU holes limit a trace, and from the other they are what it shows.
const SOME: f64 = 0.01;
const MOST: f64 = 0.75;

/// An op that waits for less in ns is on its way.
const LONG: i64 = 500_000;

/// The unrecorded time of one GPU.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Holes {
    /// The time of them in ns.
    ns: u64,
    /// A launch of a graph lacks kernels, so that the time before others may lack some, too.
    of_graphs: bool,
    /// Most of the waiting of ops that had been enqueued is in holes, so that the rest may be.
    most: bool,
}

impl Holes {
    pub(crate) fn new(tables: &Tables, idle: &GpuIdle) -> Self {
        let sum = |is_taken: &dyn Fn(&Loss) -> bool| -> u64 {
            idle.losses.iter().filter(|loss| is_taken(loss)).map(|loss| loss.ns).sum()
        };
        let certain = sum(&|loss| loss.kind == LossKind::Unrecorded);
        if certain == 0 {
            return Self::default();
        }
        let in_graphs = sum(&|loss| loss.kind == LossKind::Unrecorded && launches_graph(tables, loss));
        let of_graphs = in_graphs as f64 >= SOME * idle.wall_ns as f64;
        let before_graphs =
            sum(&|loss| of_graphs && loss.kind == LossKind::Waiting && launches_graph(tables, loss));
        let waiting = sum(&|loss| loss.kind == LossKind::Waiting);
        let ns = certain + before_graphs;
        Self { ns, of_graphs, most: ns >= waiting - before_graphs }
    }

    /// Returns whether idle time may be work that was not recorded.
    pub(crate) fn hold(self, tables: &Tables, loss: &Loss) -> bool {
        match loss.kind {
            LossKind::Unrecorded => true,
            LossKind::Waiting => self.ns > 0 && (self.most || self.is_certain(tables, loss)),
            _ => false,
        }
    }

    fn is_certain(self, tables: &Tables, loss: &Loss) -> bool {
        match loss.kind {
            LossKind::Unrecorded => true,
            LossKind::Waiting => self.of_graphs && launches_graph(tables, loss),
            _ => false,
        }
    }
}

fn launches_graph(tables: &Tables, loss: &Loss) -> bool {
    let call = loss.site.call;
    call.is_some() && Function::of(tables.strings.get(call)) == Function::Graph
}

/// Only where one of the longest gaps ends with an op that had been enqueued long before: else idle time need not be split.
pub(super) fn reason(analysis: &Analysis<'_>, launched: &Launched<'_>) -> Option<Reason> {
    let tables = analysis.tables;
    let calls = &tables.api_calls;
    let mut longest = analysis.swept().longest.iter().flatten();
    let waited_long = longest.any(|gap| {
        let call = launched.call(gap.after.track(tables), gap.after.correlation(tables));
        call.is_some_and(|call| {
            let returned =
                calls.start[call as usize].saturating_add(calls.duration.valid(call as usize).unwrap_or(0));
            gap.after.start(tables).saturating_sub(returned) >= LONG
        })
    });
    if !waited_long {
        return None;
    }
    let gpus = || analysis.idle().iter().map(|gpu| (gpu, Holes::new(tables, gpu)));
    let ns: u64 = gpus().map(|(_, holes)| holes.ns).sum();
    let wall = gpus().fold(0, |sum: u64, (gpu, _)| sum.saturating_add(gpu.wall_ns.unsigned_abs()));
    let mut certain: Vec<&Loss> = gpus()
        .flat_map(|(gpu, holes)| gpu.losses.iter().filter(move |loss| holes.is_certain(tables, loss)))
        .collect();
    certain.sort_by_key(|loss| (std::cmp::Reverse(loss.longest.ns), loss.longest.start));
    let place = |loss: &&Loss| {
        let part = loss.longest;
        let end_ns = Some(part.start.saturating_add_unsigned(part.ns));
        let (name, correlation) = (part.after.name(tables).to_owned(), part.after.correlation(tables));
        Evidence { name, start_ns: part.start, end_ns, correlation }
    };
    let before = match certain.first().is_some_and(|loss| launches_graph(tables, loss)) {
        true => "before and between ops of graphs that had been launched long before",
        false => "before the first op of a queue, which had been launched long before",
    };
    let mut reason = Reason::new("holes", ns, wall, String::new());
    reason.sentence = format!(
        "no op was recorded for {} ({:.1} % of the time) {before}: the GPU probably ran work that is not in the trace",
        time(i64::try_from(ns).unwrap_or(i64::MAX)),
        reason.share * 100.0,
    );
    reason.evidence = certain.iter().take(PLACES).map(place).collect();
    if reason.share >= MOST {
        reason.trust = Trust::Bad;
    }
    (reason.share >= SOME).then_some(reason)
}
