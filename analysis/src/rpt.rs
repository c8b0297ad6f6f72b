//! RTG's report: where the time between the first and the last op of a trace went, by resource and name.
//!
//! Kernels and barriers of one GPU are one resource, all copies together are another (`DATA`). Ops are taken
//! in the order of their starts, equal starts in the order of the source's ids (the trace is to be read with
//! [`rtl_schema::Select::ids`]; without them kernels come before barriers before copies, each in row order). An
//! op adds the time that no earlier op of its resource covers, its critical time, so that overlapped ops add
//! nothing and the sum is the length of the union. Two rules of RTG are kept because the report is to be
//! compared with RTG's own: the last op ends the region but is in no table, and the region ends where that
//! op ends, even if an earlier one ends later.

use rtl_schema::table::{AgentKind, Barrier, Track};
use rtl_schema::{AgentId, Id, NameId, Tables};
use rustc_hash::FxHashMap;

use crate::union_length::{UnionLength, to_ns};

/// Options of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many rows of each resource to show; `None` is all.
    pub top: Option<usize>,
    /// Shares of busy time instead of the region, gap rows left out after the cut to `top`.
    pub no_gaps: bool,
    /// Treat barriers as if they were not there.
    pub ignore_barriers: bool,
    /// Upper bounds of the gap rows in µs, rising.
    pub gap_bounds_us: Vec<i64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            top: Some(20),
            no_gaps: false,
            ignore_barriers: false,
            gap_bounds_us: vec![10, 20, 50, 100, 1_000, 10_000, 100_000],
        }
    }
}

/// The whole report.
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
    /// `GPU0`, `DATA`.
    pub resource: String,
    /// `kernel`, `barrier`, `copy`.
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
    /// `GPU0`, `DATA`.
    pub name: String,
    /// Length of the union of its ops in ns, without the region's last op.
    pub busy: i64,
    /// The denominator of shares, in ns: the region, or `busy` with [`Options::no_gaps`].
    pub whole: i64,
    /// Idle time between the region's start and the first op, in ns.
    pub leading: i64,
    /// Idle time between the last end and the region's end, in ns; negative where an op outlasts the region.
    pub trailing: i64,
    /// How many rows there are before the cut.
    pub row_count: usize,
    /// How many rows the cut leaves, gaps included.
    pub shown: usize,
    /// The rows to show, by time, the longest first.
    pub rows: Vec<Row>,
}

/// All ops of one name, or all gaps of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The kernel's name as stored, `HostToDevice_4096_bytes`, `gap 10us-20us`; barriers mostly have none.
    pub name: String,
    /// Whether it is idle time.
    pub gap: bool,
    /// Sum of critical times, or of gaps, in ns.
    pub time: i64,
    /// How many.
    pub calls: u64,
    /// The shortest in ns.
    pub min: i64,
    /// The longest in ns.
    pub max: i64,
}

/// Computes the report over all kernels, barriers and copies.
pub fn report(tables: &Tables, options: &Options) -> Report {
    let (records, left_out) = records(tables, options);
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Report { left_out, ..Report::default() };
    };
    let start = first.start;
    let end = last.end(tables);
    let mut resources: Vec<(ResourceKey, Accumulator)> = Vec::new();
    for record in &records[..records.len() - 1] {
        let key = record.resource(tables);
        let at = resources.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            resources.push((key, Accumulator::new(record.start)));
            resources.len() - 1
        });
        resources[at].1.add(tables, record, &options.gap_bounds_us);
    }
    let region = Region {
        first: op(tables, &records, first, start),
        last: op(tables, &records, last, start),
        duration: end.saturating_sub(start),
    };
    let resources = resources
        .into_iter()
        .map(|(key, accumulator)| accumulator.finish(tables, key, options, start, end))
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

/// The key of a row, without the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    Name(NameId),
    Copy(NameId, Option<u64>),
    /// A barrier without a name.
    Unnamed,
    /// By position among the bounds; the last stands for everything longer.
    Gap(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResourceKey {
    Gpu(AgentId),
    Data,
}

impl Record {
    fn end(&self, tables: &Tables) -> i64 {
        let row = self.row as usize;
        let (start, duration) = match self.kind {
            Kind::Kernel => (tables.dispatches.start[row], tables.dispatches.duration.get(row)),
            Kind::Barrier => (tables.barriers[row].start, tables.barriers[row].duration),
            Kind::Copy => (tables.copies[row].start, tables.copies[row].duration),
        };
        start.saturating_add(duration.unwrap_or(0))
    }

    fn track(&self, tables: &Tables) -> Track {
        let row = self.row as usize;
        tables.tracks.get(match self.kind {
            Kind::Kernel => tables.dispatches.track[row],
            Kind::Barrier => tables.barriers[row].track,
            Kind::Copy => tables.copies[row].track,
        })
    }

    fn label(&self, tables: &Tables) -> Label {
        let row = self.row as usize;
        match self.kind {
            Kind::Kernel => Label::Name(tables.dispatches.name[row]),
            Kind::Barrier if tables.barriers[row].name == NameId::NONE => Label::Unnamed,
            Kind::Barrier => Label::Name(tables.barriers[row].name),
            Kind::Copy => Label::Copy(tables.copies[row].name, tables.copies[row].bytes),
        }
    }

    fn resource(&self, tables: &Tables) -> ResourceKey {
        match self.kind {
            Kind::Copy => ResourceKey::Data,
            Kind::Kernel | Kind::Barrier => ResourceKey::Gpu(self.track(tables).agent),
        }
    }
}

/// All ops in the order of the report, and how many have no valid duration.
fn records(tables: &Tables, options: &Options) -> (Vec<Record>, usize) {
    let dispatches = &tables.dispatches;
    let barriers: &[Barrier] = if options.ignore_barriers { &[] } else { &tables.barriers };
    let count = dispatches.len() + barriers.len() + tables.copies.len();
    let mut records = Vec::with_capacity(count);
    let mut add = |kind, row: usize, id, start, duration: Option<i64>| {
        if duration.is_some_and(|duration| duration >= 0) {
            records.push(Record { start, id, row: row as u32, kind });
        }
    };
    for row in 0..dispatches.len() {
        add(Kind::Kernel, row, dispatches.id.get(row), dispatches.start[row], dispatches.duration.get(row));
    }
    for (row, barrier) in barriers.iter().enumerate() {
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

/// Whether a barrier's name is HCC's `depcnt,acquire,release`: such barriers are timed from their submission,
/// so that only their end says anything.
fn waits(tables: &Tables, name: NameId) -> bool {
    name.is_some() && tables.strings.get(name).matches(',').count() == 2
}

#[derive(Debug, Clone, Copy)]
struct Sum {
    label: Label,
    time: i64,
    calls: u64,
    min: i64,
    max: i64,
}

struct Accumulator {
    first_start: i64,
    union: UnionLength,
    rows: Vec<Sum>,
    index: FxHashMap<Label, usize>,
}

impl Accumulator {
    fn new(first_start: i64) -> Self {
        Self { first_start, union: UnionLength::default(), rows: Vec::new(), index: FxHashMap::default() }
    }

    fn add(&mut self, tables: &Tables, record: &Record, gap_bounds_us: &[i64]) {
        let start = record.start.wrapping_sub(self.first_start) as u64;
        let length = record.end(tables).saturating_sub(record.start).max(0).unsigned_abs();
        let gap = to_ns(start.saturating_sub(self.union.end()));
        let critical = self.union.add(start, start.saturating_add(length));
        self.count(record.label(tables), to_ns(critical));
        if gap > 0 {
            let bucket = gap_bounds_us.iter().position(|bound| gap < bound.saturating_mul(1_000));
            self.count(Label::Gap(bucket.unwrap_or(gap_bounds_us.len())), gap);
        }
    }

    fn count(&mut self, label: Label, time: i64) {
        let next = self.rows.len();
        let at = *self.index.entry(label).or_insert(next);
        if at == next {
            self.rows.push(Sum { label, time, calls: 1, min: time, max: time });
        } else {
            let row = &mut self.rows[at];
            row.time = row.time.saturating_add(time);
            row.calls += 1;
            row.min = row.min.min(time);
            row.max = row.max.max(time);
        }
    }

    fn finish(
        mut self,
        tables: &Tables,
        key: ResourceKey,
        options: &Options,
        start: i64,
        end: i64,
    ) -> Resource {
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.time));
        let row_count = self.rows.len();
        let shown = options.top.unwrap_or(row_count).min(row_count);
        let rows = self.rows[..shown]
            .iter()
            .map(|row| Row {
                name: label(tables, row.label, &options.gap_bounds_us),
                gap: matches!(row.label, Label::Gap(_)),
                time: row.time,
                calls: row.calls,
                min: row.min,
                max: row.max,
            })
            .filter(|row| !(options.no_gaps && row.gap))
            .collect();
        Resource {
            name: resource_name(tables, key),
            busy: self.union.length_ns(),
            whole: if options.no_gaps { self.union.length_ns() } else { end.saturating_sub(start) },
            leading: self.first_start.saturating_sub(start),
            trailing: end.saturating_sub(self.first_start.saturating_add_unsigned(self.union.end())),
            row_count,
            shown,
            rows,
        }
    }
}

fn resource_name(tables: &Tables, key: ResourceKey) -> String {
    match key {
        ResourceKey::Data => "DATA".to_owned(),
        ResourceKey::Gpu(id) => match tables.agent(id) {
            agent if agent.kind == AgentKind::Unknown => "GPU?".to_owned(),
            agent => format!("GPU{}", agent.number),
        },
    }
}

fn label(tables: &Tables, label: Label, gap_bounds_us: &[i64]) -> String {
    match label {
        Label::Unnamed => String::new(),
        Label::Name(name) | Label::Copy(name, None) => tables.strings.get(name).to_owned(),
        Label::Copy(name, Some(bytes)) => format!("{}_{bytes}_bytes", tables.strings.get(name)),
        Label::Gap(bucket) => {
            match (bucket.checked_sub(1).map(|below| gap_bounds_us[below]), gap_bounds_us.get(bucket)) {
                (None, Some(upper)) => format!("gap <{upper}us"),
                (Some(lower), Some(upper)) => format!("gap {lower}us-{upper}us"),
                (Some(lower), None) => format!("gap >={lower}us"),
                (None, None) => "gap".to_owned(),
            }
        }
    }
}

fn op(tables: &Tables, records: &[Record], record: &Record, region_start: i64) -> Op {
    let track = record.track(tables);
    let position = records
        .iter()
        .take_while(|other| (other.start, other.id) < (record.start, record.id))
        .map(|other| other.track(tables))
        .filter(|other| (other.agent, other.queue) == (track.agent, track.queue))
        .count();
    Op {
        resource: resource_name(tables, record.resource(tables)),
        kind: match record.kind {
            Kind::Kernel => "kernel",
            Kind::Barrier => "barrier",
            Kind::Copy => "copy",
        },
        name: label(tables, record.label(tables), &[]),
        agent: tables.agent(track.agent).number,
        queue: track.queue,
        position,
        id: record.id,
        offset: record.start.saturating_sub(region_start),
    }
}
