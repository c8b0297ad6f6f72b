//! The columns of a trace as texts that do not depend on how a file numbers its rows.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};

use crate::filled::columns_of;
use rtl_schema::table::Row;
use rtl_schema::{AgentId, CollectiveId, NameId, ProcessId, ShapeId, SymbolId, Tables, TrackId};

/// The values of every column, by its table and its name. Rows are in the order of their starts.
pub(crate) type Columns = BTreeMap<(&'static str, &'static str), Vec<String>>;

pub(crate) fn columns(tables: &Tables) -> Columns {
    let Tables {
        info: _,
        strings: _,
        processes,
        threads,
        agents,
        // Compared where rows refer to them.
        tracks: _,
        shapes: _,
        collectives: _,
        symbols,
        dispatches,
        copies,
        barriers,
        api_calls,
        ranges,
        operators,
        python_frames,
        memory_events,
        spans,
        allocations,
        counters,
        monitors,
        stack_frames,
        extra_links: _,
        opaque_tables: _,
        problems: _,
    } = tables;
    let mut all = Compared { tables, places: Places::new(tables), columns: Columns::new() };
    all.add("processes", processes.iter().cloned());
    all.add("threads", threads.iter().cloned());
    all.add("agents", agents.iter().cloned());
    all.add("symbols", symbols.iter().copied());
    all.add("dispatches", dispatches.iter());
    all.add("copies", copies.iter().copied());
    all.add("barriers", barriers.iter().copied());
    all.add("api_calls", api_calls.iter());
    all.add("api_arguments", api_calls.arguments.iter().copied());
    all.add("api_launches", api_calls.launches.iter().copied());
    all.add("ranges", ranges.iter().copied());
    all.add("operators", operators.iter());
    all.add("python_frames", python_frames.iter());
    all.add("memory_events", memory_events.iter().copied());
    all.add("spans", spans.iter().copied());
    all.add("allocations", allocations.iter().copied());
    all.add("counters", counters.iter().copied());
    all.add("monitors", monitors.iter().copied());
    all.add("stack_frames", stack_frames.iter().copied());
    all.columns
}

/// The starts of rows by their ids.
struct Places {
    dispatches: HashMap<i64, i64>,
    calls: HashMap<i64, i64>,
    ranges: HashMap<i64, i64>,
    correlations: HashMap<i64, i64>,
}

impl Places {
    fn new(tables: &Tables) -> Self {
        let Tables { dispatches, api_calls, ranges, .. } = tables;
        Self {
            dispatches: dispatches.iter().map(|row| (row.id, row.start)).collect(),
            calls: api_calls.iter().map(|row| (row.id, row.start)).collect(),
            ranges: ranges.iter().map(|row| (row.id, row.start)).collect(),
            correlations: api_calls.iter().map(|row| (row.correlation, row.start)).collect(),
        }
    }
}

struct Compared<'a> {
    tables: &'a Tables,
    places: Places,
    columns: Columns,
}

impl Compared<'_> {
    fn add<R: Row>(&mut self, table: &'static str, rows: impl Iterator<Item = R>) {
        let mut texts: Vec<Vec<(&'static str, String)>> = Vec::new();
        for mut row in rows {
            let columns = columns_of(&mut row);
            texts.push(
                columns.into_iter().map(|(name, value)| (name, self.text(table, name, value))).collect(),
            );
        }
        let key = |row: &[(&str, String)]| -> Vec<String> {
            let time = row.iter().find(|(name, _)| matches!(*name, "start" | "time"));
            // Rows without a time are a set.
            time.map_or_else(
                || row.iter().map(|(_, text)| text.clone()).collect(),
                |(_, text)| vec![format!("{text:>20}")],
            )
        };
        texts.sort_by_cached_key(|row| key(row));
        for (name, text) in texts.into_iter().flatten() {
            self.columns.entry((table, name)).or_default().push(text);
        }
    }

    fn text(&self, table: &str, column: &str, value: &mut dyn Any) -> String {
        let places = &self.places;
        if let Some(&mut id) = value.downcast_mut::<i64>() {
            let start = match (table, column) {
                // The ids of rows that nothing here refers to are the file's own.
                (_, "id") if table != "ranges" => return String::new(),
                ("ranges", "id") | (_, "range") => places.ranges.get(&id),
                (_, "correlation") => places.correlations.get(&id),
                (_, "call") | ("api_calls", "parent") => places.calls.get(&id),
                (_, "dispatch") => places.dispatches.get(&id),
                _ => return id.to_string(),
            };
            return start
                .map_or_else(|| "unknown".to_owned(), |start| format!("the row that starts at {start}"));
        }
        macro_rules! references {
            ($($type:ty => $text:expr,)*) => {
                $(if let Some(&mut id) = value.downcast_mut::<$type>() {
                    return $text(id);
                }
                if let Some(&mut id) = value.downcast_mut::<Option<$type>>() {
                    return id.map_or_else(|| "unknown".to_owned(), $text);
                })*
            };
        }
        references! {
            NameId => |id| self.name(id),
            ProcessId => |id| self.process(id),
            AgentId => |id| self.agent(id),
            TrackId => |id: TrackId| self.row("tracks", self.tables.tracks.get(id)),
            ShapeId => |id: ShapeId| self.row("shapes", self.tables.shapes.get(id)),
            SymbolId => |id: SymbolId| self.row("symbols", self.tables.symbols[id.index()]),
            CollectiveId => |id: CollectiveId| self.row("collectives", self.tables.collectives.get(id)),
        }
        macro_rules! plain {
            ($($type:ty,)*) => {
                $(if let Some(value) = value.downcast_mut::<$type>() {
                    return format!("{value:?}");
                })*
            };
        }
        use rtl_schema::table::{AgentKind, AllocationKind, AllocationLevel, Direction, RangeKind, SpanKind};
        plain! {
            u32, u64, bool, f64, String, AgentKind, AllocationKind, AllocationLevel, Direction, RangeKind,
            SpanKind, Option<i64>, Option<u32>, Option<u64>, Option<String>, Option<[u32; 3]>,
            Option<[u64; 3]>, Option<(u64, u64)>, Option<(i64, i64)>,
        }
        panic!("{table}.{column}: state how its values are compared here");
    }

    fn name(&self, id: NameId) -> String {
        if id.is_some() { self.tables.strings.get(id).to_owned() } else { String::new() }
    }

    fn process(&self, id: ProcessId) -> String {
        format!("{:?}", self.tables.process(id).pid)
    }

    fn agent(&self, id: AgentId) -> String {
        let agent = self.tables.agent(id);
        format!("{:?} {}", agent.kind, agent.number)
    }

    fn row(&self, table: &'static str, mut row: impl Row) -> String {
        let columns = columns_of(&mut row).into_iter();
        columns.map(|(name, value)| format!("{name} {} ", self.text(table, name, value))).collect()
    }
}
