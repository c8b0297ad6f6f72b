//! A trace of which every column of every table has values, taken from the declarations: a new column has them without a change here,
//! unless its type is new.

use std::any::{Any, type_name_of_val};

use rtl_schema::table::{
    Agent, AgentKind, Allocation, AllocationKind, AllocationLevel, ApiArgument, ApiCall, ApiLaunch, Barrier,
    Collective, Copy, Counter, Details, Direction, Dispatch, MemoryEvent, Monitor, Operator, Process,
    PythonFrame, Range, RangeKind, Row, Shape, Span, SpanKind, StackFrame, Symbol, Thread, Track,
};
use rtl_schema::{AgentId, CollectiveId, NameId, ProcessId, ShapeId, SymbolId, Tables, TrackId};

/// Rows that others refer to: processes, agents, tracks, shapes, symbols and collectives.
const REFERENCES: u64 = 8;
const NAMES: u64 = 50;

/// How the values of a column vary. Ids, and what refers to them, are distinct in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Distinct,
    Equal,
}

/// The recipe of one trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) rows: u64,
    pub(crate) processes: u32,
    pub(crate) values: Values,
    /// A column, by its table, whose values are others than usual.
    pub(crate) changed: Option<(&'static str, &'static str)>,
    /// How much later than usual every moment is, in ns.
    pub(crate) later: i64,
}

impl Default for Fill {
    fn default() -> Self {
        Self { rows: 1_000, processes: 1, values: Values::Distinct, changed: None, later: 0 }
    }
}

impl Fill {
    fn row<R: Row + Default>(self, table: &'static str, number: u64) -> R {
        let mut row = R::default();
        for (column, value) in columns_of(&mut row) {
            let varied = if self.values == Values::Equal && !is_identity(column) { 6 } else { number };
            // By an even number, because what belongs to one process has numbers of one parity.
            let changed = if self.changed == Some((table, column)) { 2 } else { 0 };
            self.set(value, (table, column), varied, changed);
        }
        row
    }

    /// Calls launch a kernel and a copy in turn, because files have a table for each.
    fn launch(self, number: u64) -> ApiLaunch {
        let launch = self.row::<ApiLaunch>("api_launches", number);
        let none = ApiLaunch::default();
        if number.is_multiple_of(2) {
            let ApiLaunch { bytes, extent, direction, addresses, devices, sync, pinned, .. } = none;
            ApiLaunch { bytes, extent, direction, addresses, devices, sync, pinned, ..launch }
        } else {
            ApiLaunch { kernel: NameId::NONE, shape: None, ..launch }
        }
    }

    /// The trace; a table that it does not fill does not compile.
    pub(crate) fn tables(self) -> Tables {
        let mut tables = Tables::default();
        let Tables {
            info,
            strings,
            processes,
            threads,
            agents,
            tracks,
            shapes,
            collectives,
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
        } = &mut tables;
        info.tool = "rtl".to_owned();
        (0..NAMES).for_each(|name| {
            strings.intern(&format!("name {name}"));
        });
        let distinct = Self { values: Values::Distinct, ..self };
        processes.extend(
            (0..u64::from(self.processes)).map(|number| distinct.row::<Process>("processes", number)),
        );
        threads.extend((0..REFERENCES).map(|number| distinct.row::<Thread>("threads", number)));
        agents.extend((0..REFERENCES).map(|number| distinct.row::<Agent>("agents", number)));
        for number in 0..REFERENCES {
            tracks.intern(distinct.row::<Track>("tracks", number));
            let shape = distinct.row::<Shape>("shapes", number);
            // Work-groups follow from work-items.
            let groups = shape.items.map(|[x, y, z]| [x / 64, y / 2, z]);
            shapes.intern(Shape { groups, ..shape });
            collectives.intern(distinct.row::<Collective>("collectives", number));
            symbols.push(distinct.row::<Symbol>("symbols", number));
        }
        for number in 0..self.rows {
            dispatches.push(self.row::<Dispatch>("dispatches", number));
            copies.push(self.row::<Copy>("copies", number));
            barriers.push(self.row::<Barrier>("barriers", number));
            api_calls.push(self.row::<ApiCall>("api_calls", number));
            api_calls.arguments.push(self.row::<ApiArgument>("api_arguments", number));
            api_calls.launches.push(self.launch(number));
            ranges.push(self.row::<Range>("ranges", number));
            operators.push(self.row::<Operator>("operators", number));
            python_frames.push(self.row::<PythonFrame>("python_frames", number));
            memory_events.push(self.row::<MemoryEvent>("memory_events", number));
            spans.push(self.row::<Span>("spans", number));
            allocations.push(self.row::<Allocation>("allocations", number));
            counters.push(self.row::<Counter>("counters", number));
            monitors.push(self.row::<Monitor>("monitors", number));
            stack_frames.push(self.row::<StackFrame>("stack_frames", number));
        }
        tables
    }

    /// Sets the value of a column for the row with this number.
    fn set(self, value: &mut dyn Any, (table, column): (&str, &str), varied: u64, changed: u64) {
        let number = varied + changed;
        // One machine, which merging would number anew otherwise.
        let is_machine = table == "processes" && matches!(column, "host" | "machine_id" | "boot_id");
        let text = format!("{column} {}", if is_machine { changed } else { number });
        let id = 1 + number as i64;
        if let Some(to) = value.downcast_mut::<i64>() {
            *to = match (table, column) {
                // Ids of ops are numbered over all tables of ops.
                ("dispatches" | "counters", "id" | "dispatch") => 3 * id,
                ("copies", "id") => 3 * id + 1,
                ("barriers", "id") => 3 * id + 2,
                (_, "start") => 1_000_000 + 1_000 * id + self.later,
                (_, "end") => 1_000_500 + 1_000 * id + self.later,
                (_, "time") => id + self.later,
                ("agents", "number" | "source_id") => number as i64,
                (_, "gpu" | "queue") => number as i64 % REFERENCES as i64,
                _ => id,
            };
            return;
        }
        macro_rules! values {
            ($($type:ty => $made:expr,)*) => {
                $(if let Some(to) = value.downcast_mut::<$type>() {
                    *to = $made;
                    return;
                })*
            };
        }
        let small = (number % REFERENCES) as u32;
        values! {
            u32 => number as u32,
            u64 => 1 << 33 | number,
            bool => number % 4 < 2,
            f64 => number as f64 + 0.5,
            String => text,
            NameId => NameId((number % NAMES) as u32),
            TrackId => TrackId(small),
            AgentId => AgentId(small),
            ProcessId => ProcessId(small % self.processes),
            AgentKind => AgentKind::Gpu,
            Direction => [Direction::DeviceToDevice, Direction::HostToDevice][number as usize / 2 % 2],
            RangeKind => [RangeKind::Thread, RangeKind::Process][number as usize / 2 % 2],
            SpanKind => [SpanKind::GpuRange, SpanKind::Overhead][number as usize / 2 % 2],
            AllocationKind => [AllocationKind::Allocate, AllocationKind::Free][number as usize / 2 % 2],
            AllocationLevel => [AllocationLevel::Real, AllocationLevel::Virtual][number as usize / 2 % 2],
            Option<i64> => Some(match column {
                "duration" => 10 + number as i64 % 500,
                "absolute_index" | "logical_index" | "type_index" => number as i64,
                "start" | "end" | "enqueued" => id + self.later,
                _ => id,
            }),
            // Merging numbers nodes anew.
            Option<u32> => Some(if column == "node" { changed as u32 } else { number as u32 + 1 }),
            Option<u64> => Some(1 << 34 | number),
            Option<String> => Some(text),
            Option<ProcessId> => Some(ProcessId(small % self.processes)),
            Option<AgentId> => Some(AgentId(small)),
            Option<ShapeId> => Some(ShapeId(small)),
            Option<SymbolId> => Some(SymbolId(small)),
            Option<CollectiveId> => Some(CollectiveId(small)),
            Option<[u32; 3]> => Some([64, 2, 1]),
            Option<[u64; 3]> => Some([64 * (number + 1), 4, 3]),
            Option<(u64, u64)> => Some((number, number + 1)),
            Option<(i64, i64)> => Some((number as i64, number as i64 + 1)),
        }
        panic!("{table}.{column} has the type {}: state its values here", type_name_of_val(value));
    }
}

/// The columns of a row, with each detail of an op as one of its own.
pub(crate) fn columns_of(row: &mut impl Row) -> Vec<(&'static str, &mut dyn Any)> {
    let columns = row.columns_mut().into_iter();
    let flat = columns.flat_map(|(name, value)| match value.is::<Details>() {
        true => value.downcast_mut::<Details>().unwrap().columns_mut(),
        false => vec![(name, value)],
    });
    flat.collect()
}

/// Such a column numbers rows or refers to one by its number.
pub(crate) fn is_identity(column: &str) -> bool {
    matches!(column, "id" | "correlation" | "range" | "call" | "dispatch" | "parent")
}
