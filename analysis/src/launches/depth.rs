//! Queue depth of GPUs, and why they were idle.

use rtl_schema::table::Track;
use rtl_schema::{ProcessId, Tables};
use serde::{Deserialize, Serialize};

use super::enqueue_times::{EnqueueTimes, Sources};
use crate::base::first_use::{FirstUseMap, position_of};
use crate::base::ops::{AgentOps, Order};
use crate::base::union_length::to_ns;
use crate::names::labels::{Labels, agent};

/// The depths of [`Depth::at_least`].
pub const DEPTHS: [u64; 4] = [1, 2, 10, 100];

/// How many ops were enqueued and not yet finished on a GPU or one of its queues, from its first start to its last end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Depth {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// The queue's number; `None` for the whole GPU.
    pub queue: Option<i64>,
    /// `GPU 0`, `GPU 0 queue 2`.
    pub label: String,
    /// How many ops, and how it is known when they were enqueued. One of which that is unknown counts while it runs.
    #[serde(flatten)]
    pub sources: Sources,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// The mean over that time.
    pub mean: f64,
    /// The most at one moment.
    pub max: u64,
    /// The part of that time, 0 to 1, with at least 1, 2, 10 and 100 ops ([`DEPTHS`]).
    pub at_least: [f64; DEPTHS.len()],
}

/// Why a GPU was idle between its first start and its last end. `host_ns + waiting_ns` is its `idle_ns` in
/// [`crate::gpu_time::sweep::Gpu`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Idle {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// Time in which no op ran.
    pub idle_ns: i64,
    /// Part of this in which no op was enqueued either: the host was late.
    pub host_ns: i64,
    /// Part of this in which an op was enqueued and had not started: launching it took that long, or it waited for something
    /// else.
    pub waiting_ns: i64,
    /// `host_ns / idle_ns`; 0 where nothing is idle.
    pub host_share: f64,
}

/// Queue depth and idle time of every GPU with an op that is tied to the host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Queues {
    /// GPUs by number, each with its queues behind it where it has several.
    pub depth: Vec<Depth>,
    /// Why each GPU was idle, by number.
    pub idle: Vec<Idle>,
}

pub(super) fn queues(tables: &Tables, order: &Order, times: &EnqueueTimes<'_>) -> Queues {
    let labels = Labels::new(tables);
    // A track belongs to one GPU, so all of them use one list.
    let mut queue_of_track: Vec<Option<usize>> = vec![None; tables.tracks.rows().len()];
    let mut gpus: Vec<(Depth, Idle, Vec<Depth>)> =
        order.agents.iter().map(|ops| gpu(tables, &labels, ops, times, &mut queue_of_track)).collect();
    gpus.sort_by(|(one, ..), (other, ..)| (one.gpu, &one.label).cmp(&(other.gpu, &other.label)));
    let mut found = Queues::default();
    for (depth, idle, queues) in gpus.into_iter().filter(|(depth, ..)| depth.sources.known() > 0) {
        found.depth.push(depth);
        found.depth.extend(queues);
        found.idle.push(idle);
    }
    found
}

fn gpu(
    tables: &Tables,
    labels: &Labels<'_>,
    ops: &AgentOps,
    times: &EnqueueTimes<'_>,
    queue_of_track: &mut [Option<usize>],
) -> (Depth, Idle, Vec<Depth>) {
    let mut queues: FirstUseMap<(ProcessId, i64), Pending> = FirstUseMap::default();
    for op in ops.ops() {
        let track = op.track(tables);
        let queue = *queue_of_track[track.index()].get_or_insert_with(|| {
            let track = tables.tracks.get(track);
            position_of(&mut queues, (track.process, track.queue))
        });
        let pending = &mut queues[queue];
        let start = op.start(tables);
        let moment = times.get(op, &mut pending.sources);
        pending.from.push(moment.queued_since(start));
        pending.start.push(start);
        pending.end.push(start.saturating_add_unsigned(op.length(tables)));
    }
    let number = tables.agents.get(ops.agent.index()).map_or(-1, |agent| agent.number);
    let label = agent(tables, ops.agent);
    let mut whole = Pending::default();
    let mut depths = Vec::new();
    let several = queues.len() > 1;
    for (&(process, queue), pending) in &mut queues {
        whole.extend(pending);
        if several {
            let (depth, _) = pending.swept();
            let track = Track { process, agent: ops.agent, queue, ..Track::default() };
            let label = labels.queue(track);
            depths.push(Depth { gpu: number, queue: Some(queue), label, ..depth });
        }
    }
    depths.sort_by(|one, other| (one.queue, &one.label).cmp(&(other.queue, &other.label)));
    let (depth, [idle_ns, host_ns]) = whole.swept();
    let idle = Idle {
        gpu: number,
        label: label.clone(),
        idle_ns,
        host_ns,
        waiting_ns: idle_ns - host_ns,
        host_share: share(host_ns as u64, idle_ns as u64),
    };
    (Depth { gpu: number, label, ..depth }, idle, depths)
}

/// Ops that wait and run, by times in ns; from <= start <= end for each of them.
#[derive(Debug, Default)]
struct Pending {
    sources: Sources,
    from: Vec<i64>,
    start: Vec<i64>,
    end: Vec<i64>,
}

impl Pending {
    fn extend(&mut self, other: &Self) {
        self.sources.add(other.sources);
        self.from.extend_from_slice(&other.from);
        self.start.extend_from_slice(&other.start);
        self.end.extend_from_slice(&other.end);
    }

    /// The depth, and the time in which nothing ran and in which nothing was enqueued either.
    fn swept(&mut self) -> (Depth, [i64; 2]) {
        // Stable, because it goes on with what is in order: starts are, ends almost, and those of each queue when they come
        // together.
        for times in [&mut self.from, &mut self.start, &mut self.end] {
            times.sort();
        }
        let (Some(&begin), Some(&finish)) = (self.start.first(), self.end.last()) else {
            return (Depth::default(), [0; 2]);
        };
        let mut tally = Tally::default();
        let mut passed = [0; 3];
        let mut now = begin;
        loop {
            let mut next = None;
            for (times, passed) in [&self.from, &self.start, &self.end].into_iter().zip(&mut passed) {
                while times.get(*passed).is_some_and(|&time| time <= now) {
                    *passed += 1;
                }
                let coming = times.get(*passed).copied();
                next = next.into_iter().chain(coming).min();
            }
            let [enqueued, started, ended] = passed;
            tally.max = tally.max.max((enqueued - ended) as u64);
            let Some(next) = next else { break };
            // Times of either end of i64 are apart by more than fits it.
            tally.add((enqueued - ended) as u64, (started - ended) as u64, next.wrapping_sub(now) as u64);
            now = next;
        }
        let wall = finish.wrapping_sub(begin) as u64;
        let depth = Depth {
            sources: self.sources,
            wall_ns: to_ns(wall),
            mean: if wall == 0 { 0.0 } else { tally.sum as f64 / wall as f64 },
            max: tally.max,
            at_least: tally.at_least.map(|time| share(time, wall)),
            ..Depth::default()
        };
        (depth, [to_ns(tally.idle), to_ns(wall - tally.at_least[0])])
    }
}

#[derive(Debug, Default)]
struct Tally {
    /// Ops times ns.
    sum: u128,
    max: u64,
    at_least: [u64; DEPTHS.len()],
    idle: u64,
}

impl Tally {
    #[inline]
    fn add(&mut self, depth: u64, running: u64, time: u64) {
        self.sum += u128::from(depth) * u128::from(time);
        for (sum, least) in self.at_least.iter_mut().zip(DEPTHS) {
            *sum += if depth >= least { time } else { 0 };
        }
        self.idle += if running == 0 { time } else { 0 };
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
