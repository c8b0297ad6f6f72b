//! RTG's report: where the time between the first and the last op of a trace went, by resource and name.
//!
//! Kernels and barriers of one GPU are one resource, all copies together are another (`DATA`). Ops are taken
//! in the order of their starts, equal starts in the order of the source's ids (the trace is to be read with
//! [`rtl_schema::Select::ids`]; without them kernels come before barriers before copies, each in row order). An
//! op adds the time that no earlier op of its resource covers, its critical time, so that overlapped ops add
//! nothing and the sum is the length of the union. Two rules of RTG are kept because the report is to be
//! compared with RTG's own: the last op ends the region but is in no table, and the region ends where that
//! op ends, even if an earlier one ends later.

use rtl_schema::table::{AgentKind, Barrier, Copy};
use rtl_schema::{AgentId, Id, NameId, Tables, TrackId};

use crate::base::first_use::FirstUseMap;
use crate::base::stats::Moments;
use crate::base::union_length::{UnionLength, to_ns};

/// Upper bounds of the gap rows in µs.
const GAP_BOUNDS_US: [i64; 7] = [10, 20, 50, 100, 1_000, 10_000, 100_000];

/// RTG's report on one trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The first and the last op; `None` for a trace without ops.
    pub region: Option<Region>,
    /// One table per resource, in the order of their first ops.
    pub resources: Vec<Resource>,
    /// Ops left out because their end is unknown or before their start.
    pub left_out: usize,
}

/// The span of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// The op that starts first.
    pub first: Op,
    /// The op that starts last; it is in no table.
    pub last: Op,
    /// From the first start to the end of the last op, in ns.
    pub duration: i64,
}

/// One op of the region's ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    /// The resource: `GPU0` or `DATA`.
    pub resource: String,
    /// The kind of op: `kernel`, `barrier` or `copy`.
    pub kind: &'static str,
    /// As in the tables.
    pub name: String,
    /// The number of the agent.
    pub agent: i64,
    /// The queue as the source numbers it.
    pub queue: i64,
    /// How many ops of the agent's queue come before it.
    pub position: usize,
    /// The id of the source (the line number in RTG's text).
    pub id: Id,
    /// Start in ns after the region's.
    pub offset: i64,
}

/// The table of one GPU, or of all copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The resource: `GPU0` or `DATA`.
    pub name: String,
    /// Length of the union of its ops in ns, without the region's last op.
    pub busy: i64,
    /// Idle time between the region's start and the first op, in ns.
    pub leading: i64,
    /// Idle time between the last end and the region's end, in ns; negative where an op outlasts the region.
    pub trailing: i64,
    /// How many rows there are before the cut.
    pub row_count: usize,
    /// The rows to show, by time, the longest first.
    pub rows: Vec<Row>,
}

/// All ops of one name, or all gaps of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The kernel's name as stored, `HostToDevice_4096_bytes`, `gap 10us-20us`; barriers mostly have none.
    pub name: String,
    /// Critical times, or gaps.
    pub times: Moments,
}

/// Computes the report over all kernels, barriers and copies; `top` is how many rows of each resource to show, `None`
/// all.
pub fn report(tables: &Tables, top: Option<usize>) -> Report {
    let (records, left_out) = records(tables);
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Report { left_out, ..Report::default() };
    };
    let (start, end) = (first.start, last.details(tables).end);
    let mut resources: FirstUseMap<Option<AgentId>, Accumulator> = FirstUseMap::default();
    for record in &records[..records.len() - 1] {
        let details = record.details(tables);
        let new = || Accumulator { first_start: record.start, ..Accumulator::default() };
        resources.entry(record.gpu(tables, details.track)).or_insert_with(new).add(record.start, details);
    }
    let region = Region {
        first: op(tables, &records, first, start),
        last: op(tables, &records, last, start),
        duration: end.saturating_sub(start),
    };
    let resources = resources
        .into_iter()
        .map(|(gpu, accumulator)| accumulator.finish(tables, gpu, top, [start, end]))
        .collect();
    Report { region: Some(region), resources, left_out }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kernel,
    Barrier,
    Copy,
}

/// An op as its place in the tables and the keys of the order: 24 bytes, because traces have millions.
#[derive(Debug, Clone, Copy)]
struct Record {
    start: i64,
    id: Id,
    row: u32,
    kind: Kind,
}

struct Details {
    end: i64,
    track: TrackId,
    label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    Name(NameId),
    Copy(NameId, Option<u64>),
    /// A barrier without a name.
    Unnamed,
    /// Position among the bounds; the last stands for everything longer.
    Gap(usize),
}

impl Record {
    fn details(&self, tables: &Tables) -> Details {
        let row = self.row as usize;
        let end = |start: i64, duration: Option<i64>| start.saturating_add(duration.unwrap_or(0));
        match self.kind {
            Kind::Kernel => {
                let dispatches = &tables.dispatches;
                let end = end(dispatches.start[row], dispatches.duration.get(row));
                Details { end, track: dispatches.track[row], label: Label::Name(dispatches.name[row]) }
            }
            Kind::Barrier => {
                let Barrier { start, duration, track, name, .. } = tables.barriers[row];
                let label = if name == NameId::NONE { Label::Unnamed } else { Label::Name(name) };
                Details { end: end(start, duration), track, label }
            }
            Kind::Copy => {
                let Copy { start, duration, track, name, bytes, .. } = tables.copies[row];
                Details { end: end(start, duration), track, label: Label::Copy(name, bytes) }
            }
        }
    }

    /// The resource: a GPU, or `None` for all copies.
    fn gpu(&self, tables: &Tables, track: TrackId) -> Option<AgentId> {
        (self.kind != Kind::Copy).then(|| tables.tracks.get(track).agent)
    }
}

/// All ops in the order of the report, and how many have no valid duration.
fn records(tables: &Tables) -> (Vec<Record>, usize) {
    let dispatches = &tables.dispatches;
    let count = dispatches.len() + tables.barriers.len() + tables.copies.len();
    let mut records = Vec::with_capacity(count);
    let mut add = |kind, row: usize, id, start, duration: Option<i64>| {
        if duration.is_some_and(|duration| duration >= 0) {
            records.push(Record { start, id, row: row as u32, kind });
        }
    };
    for row in 0..dispatches.len() {
        add(Kind::Kernel, row, dispatches.id.get(row), dispatches.start[row], dispatches.duration.get(row));
    }
    for (row, barrier) in tables.barriers.iter().enumerate() {
        let wait = if waits(tables, barrier.name) { barrier.duration.unwrap_or(0) } else { 0 };
        add(Kind::Barrier, row, barrier.id, barrier.start.saturating_add(wait), barrier.duration);
    }
    for (row, copy) in tables.copies.iter().enumerate() {
        add(Kind::Copy, row, copy.id, copy.start, copy.duration);
    }
    let left_out = count - records.len();
    records.sort_by_key(|record| (record.start, record.id));
    (records, left_out)
}

/// Returns whether a barrier's name is HCC's `depcnt,acquire,release`: such barriers are timed from their submission, so that
/// only their end says anything.
fn waits(tables: &Tables, name: NameId) -> bool {
    name.is_some() && tables.strings.get(name).matches(',').count() == 2
}

#[derive(Default)]
struct Accumulator {
    first_start: i64,
    union: UnionLength,
    rows: FirstUseMap<Label, Moments>,
}

impl Accumulator {
    fn add(&mut self, start: i64, Details { end, label, .. }: Details) {
        let length = end.saturating_sub(start).max(0).unsigned_abs();
        let start = start.wrapping_sub(self.first_start) as u64;
        let gap = to_ns(start.saturating_sub(self.union.end()));
        let critical = self.union.add(start, start.saturating_add(length));
        self.rows.entry(label).or_default().add(to_ns(critical));
        if gap > 0 {
            let bucket = GAP_BOUNDS_US.iter().position(|bound| gap < bound * 1_000);
            self.rows.entry(Label::Gap(bucket.unwrap_or(GAP_BOUNDS_US.len()))).or_default().add(gap);
        }
    }

    fn finish(
        self,
        tables: &Tables,
        gpu: Option<AgentId>,
        top: Option<usize>,
        [start, end]: [i64; 2],
    ) -> Resource {
        let row_count = self.rows.len();
        let mut rows: Vec<(Label, Moments)> = self.rows.into_iter().collect();
        rows.sort_by_key(|(_, times)| std::cmp::Reverse(times.total_ns()));
        rows.truncate(top.unwrap_or(row_count));
        Resource {
            name: resource_name(tables, gpu),
            busy: self.union.length_ns(),
            leading: self.first_start.saturating_sub(start),
            trailing: end.saturating_sub(self.first_start.saturating_add_unsigned(self.union.end())),
            row_count,
            rows: rows.into_iter().map(|(key, times)| Row { name: label(tables, key), times }).collect(),
        }
    }
}

fn resource_name(tables: &Tables, gpu: Option<AgentId>) -> String {
    match gpu.map(|gpu| tables.agent(gpu)) {
        None => "DATA".to_owned(),
        Some(agent) if agent.kind == AgentKind::Unknown => "GPU?".to_owned(),
        Some(agent) => format!("GPU{}", agent.number),
    }
}

fn label(tables: &Tables, label: Label) -> String {
    match label {
        Label::Unnamed => String::new(),
        Label::Name(name) | Label::Copy(name, None) => tables.strings.get(name).to_owned(),
        Label::Copy(name, Some(bytes)) => format!("{}_{bytes}_bytes", tables.strings.get(name)),
        Label::Gap(0) => format!("gap <{}us", GAP_BOUNDS_US[0]),
        Label::Gap(bucket) => match GAP_BOUNDS_US.get(bucket) {
            Some(upper) => format!("gap {}us-{upper}us", GAP_BOUNDS_US[bucket - 1]),
            None => format!("gap >={}us", GAP_BOUNDS_US[bucket - 1]),
        },
    }
}

fn op(tables: &Tables, records: &[Record], record: &Record, region_start: i64) -> Op {
    let Details { track: track_id, label: key, .. } = record.details(tables);
    let track = tables.tracks.get(track_id);
    let position = records
        .iter()
        .take_while(|other| (other.start, other.id) < (record.start, record.id))
        .map(|other| tables.tracks.get(other.details(tables).track))
        .filter(|other| (other.agent, other.queue) == (track.agent, track.queue))
        .count();
    Op {
        resource: resource_name(tables, record.gpu(tables, track_id)),
        kind: match record.kind {
            Kind::Kernel => "kernel",
            Kind::Barrier => "barrier",
            Kind::Copy => "copy",
        },
        name: label(tables, key),
        agent: tables.agent(track.agent).number,
        queue: track.queue,
        position,
        id: record.id,
        offset: record.start.saturating_sub(region_start),
    }
}
