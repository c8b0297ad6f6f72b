//! A kernel whose calls take longer at times, although they do the same work.
//!
//! Calls do the same work where they have the same launch shape and, where the trace has steps, the same position in
//! their step. That is believed only of groups of which nearly all calls take nearly the same time.

use rtl_schema::{Durations, ShapeId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::kernels::Group;
use crate::ops;
use crate::trust::Evidence;

/// Fewer calls have no usual duration.
const LEAST_CALLS: usize = 5;

/// Calls within this part of the median are usual.
const NEAR: f64 = 0.1;

/// At least this part of the calls of one work is usual, where steps tell which calls these are, and where nothing does.
const MOST: [f64; 2] = [0.5, 0.8];

/// From this many times the median a call is late.
const LATE: f64 = 1.25;

/// Kernels that cannot cost this part of the wall time are not looked at.
const LEAST_SHARE: f64 = 0.005;

/// The calls of one kernel that take longer than usual.
#[derive(Debug, Default)]
struct Late {
    excess_ns: i64,
    calls: u64,
    of: u64,
    /// Row and excess in ns of the latest.
    worst: Vec<(i64, u32)>,
}

/// The calls of one GPU: rows by work. A work is a kernel with a shape and a position in its step.
#[derive(Debug, Default)]
struct Works {
    rows: FxHashMap<(Work, u32), Vec<u32>>,
    /// By step, how many calls there were so far.
    places: FxHashMap<(Work, Option<usize>), u32>,
}

/// A kernel and its shape.
type Work = (usize, Option<ShapeId>);

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let analysis = inputs.analysis;
    let (tables, names) = (analysis.tables, &analysis.names);
    let least = LEAST_SHARE * inputs.wall_ns() as f64;
    let suspects: FxHashSet<&str> = analysis
        .kernels()
        .iter()
        .filter(|group| most_excess(group) >= least)
        .map(|group| &*group.label)
        .collect();
    if suspects.is_empty() {
        return None;
    }
    let is_suspect: Vec<bool> = names
        .kernels
        .iter()
        .map(|kernel| suspects.contains(&*kernel.label) && !kernel.is_collective())
        .collect();
    let (worst, late) = late(inputs, &is_suspect)
        .into_iter()
        .max_by(|(one, first), (other, second)| (first.excess_ns, other).cmp(&(second.excess_ns, one)))?;
    let mut finding = Finding::new("tail-kernel", inputs, late.excess_ns);
    let name = names.kernels[worst].label.to_string();
    finding.sentence = format!(
        "{} takes much longer in {} of {} calls of the same work, {} in all ({} of the wall time)",
        inputs.display(&name),
        late.calls,
        late.of,
        time(late.excess_ns),
        percent(finding.share),
    );
    finding.evidence = late.worst.iter().take(PLACES).map(|&(_, row)| call(tables, &name, row)).collect();
    finding.look = format!("rtl-summary {} --by step TRACE", inputs.select(&name));
    finding.help = "look at what runs at the same time (copies, collectives, another process) and at the clocks of the GPU"
        .to_owned();
    Some(finding)
}

/// The most that the calls of a kernel can take beyond their median together, in ns.
fn most_excess(group: &Group) -> f64 {
    let stats = &group.stats;
    let beside = stats.mean_ns - stats.p50_ns as f64;
    stats.calls as f64 * (stats.stddev_ns * stats.stddev_ns + beside * beside).sqrt()
}

fn late(inputs: &Inputs<'_>, is_suspect: &[bool]) -> FxHashMap<usize, Late> {
    let analysis = inputs.analysis;
    let (tables, names, order) = (analysis.tables, &analysis.names, analysis.order());
    let dispatches = &tables.dispatches;
    let steps = analysis.steps();
    let add = |Works { rows, places }: &mut Works, row: u32| {
        let at = row as usize;
        let kernel = names.kernel(dispatches.name[at]);
        if !is_suspect[kernel] {
            return;
        }
        let work = (kernel, dispatches.shape.get(at));
        let step = steps.map(|steps| steps.of_dispatch(tables, at));
        // What runs outside the steps has no position in one.
        let place = match step {
            Some(None) => return,
            Some(step) => {
                let place = places.entry((work, step)).or_default();
                *place += 1;
                *place
            }
            // Nothing tells one work from another.
            None if work.1.is_none() => return,
            None => 0,
        };
        rows.entry((work, place)).or_default().push(row);
    };
    let most = MOST[usize::from(steps.is_none())];
    let of_gpu = |works: Works| {
        drop(works.places);
        let mut late: FxHashMap<usize, Late> = FxHashMap::default();
        for (((kernel, _), _), rows) in works.rows {
            late.entry(kernel).or_default().add(&dispatches.duration, &rows, most);
        }
        late
    };
    let of_gpus = match steps {
        None => {
            let mut works: Vec<Works> = order.agents.iter().map(|_| Works::default()).collect();
            ops::in_order_on_threads(tables, order, &mut works, |works, same| {
                same.dispatches.iter().for_each(|&row| add(works, row));
            });
            threads::map(works, of_gpu)
        }
        // Counts by step take as much memory as the ops: not those of all GPUs at once.
        Some(_) => threads::map(&order.agents, |ops| {
            let mut works = Works::default();
            ops.dispatches.iter().for_each(|&row| add(&mut works, row));
            of_gpu(works)
        }),
    };
    let mut late: FxHashMap<usize, Late> = FxHashMap::default();
    for (kernel, of_gpu) in of_gpus.into_iter().flatten() {
        late.entry(kernel).or_default().append(of_gpu);
    }
    for late in late.values_mut() {
        late.worst.sort_unstable_by_key(|&(excess, row)| (std::cmp::Reverse(excess), row));
    }
    late
}

impl Late {
    /// Adds the calls of one work, of which at least the part `most` must be usual.
    fn add(&mut self, durations: &Durations, rows: &[u32], most: f64) {
        if rows.len() < LEAST_CALLS {
            return;
        }
        let call = |&row: &u32| Some((durations.valid(row as usize)?, row));
        let mut calls: Vec<(i64, u32)> = rows.iter().filter_map(call).collect();
        let middle = calls.len() / 2;
        let median = calls.select_nth_unstable(middle).1.0;
        let near = |&&(duration, _): &&(i64, u32)| (duration - median).abs() as f64 <= NEAR * median as f64;
        if (calls.iter().filter(near).count() as f64) < most * calls.len() as f64 {
            return;
        }
        self.of += calls.len() as u64;
        for &(duration, row) in calls.iter().filter(|&&(duration, _)| duration as f64 >= LATE * median as f64)
        {
            let excess = duration - median;
            self.calls += 1;
            self.excess_ns = self.excess_ns.saturating_add(excess);
            self.worst.push((excess, row));
        }
    }

    /// Adds those of another GPU.
    fn append(&mut self, other: Self) {
        self.excess_ns = self.excess_ns.saturating_add(other.excess_ns);
        self.calls += other.calls;
        self.of += other.of;
        self.worst.extend(other.worst);
    }
}

fn call(tables: &Tables, name: &str, row: u32) -> Evidence {
    let (dispatches, row) = (&tables.dispatches, row as usize);
    let start_ns = dispatches.start[row];
    let end_ns = dispatches.duration.valid(row).map(|duration| start_ns.saturating_add(duration));
    Evidence { name: name.to_owned(), start_ns, end_ns, correlation: dispatches.correlation.get(row) }
}
