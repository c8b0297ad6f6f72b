//! Tables that are no tables of SQL: what frameworks record of Python and of their allocators, without which reports differ.

use columnar::{Data, Field, Text, Type, Values};
use rtl_schema::table::AgentKind;
use rtl_schema::{NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

use crate::rows::{Ranks, integers};
use crate::stored::INVALID_STOP;

/// A table with its columns, of which the first one orders the rows.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) name: &'static str,
    rows: fn(&Tables) -> usize,
    process: fn(&Tables, usize) -> ProcessId,
    columns: &'static [(&'static str, Value)],
}

#[derive(Debug, Clone, Copy)]
enum Value {
    Integer(fn(&Tables, usize) -> Option<i64>),
    Name(fn(&Tables, usize) -> NameId),
}

pub(crate) const EXTRA: [Extra; 2] = [
    Extra {
        name: "python_frames",
        rows: |tables| tables.python_frames.len(),
        process: |tables, row| tables.python_frames.process.get(row),
        columns: &[
            ("start", Value::Integer(|tables, row| Some(tables.python_frames.start[row]))),
            ("duration", Value::Integer(|tables, row| tables.python_frames.duration.valid(row))),
            (INVALID_STOP, Value::Integer(invalid_stop)),
            ("name", Value::Name(|tables, row| tables.python_frames.name[row])),
            ("tid", Value::Integer(|tables, row| tables.python_frames.tid.get(row))),
            ("number", Value::Integer(|tables, row| tables.python_frames.number.get(row).map(i64::from))),
            ("caller", Value::Integer(|tables, row| tables.python_frames.caller.get(row).map(i64::from))),
            ("module", Value::Integer(|tables, row| tables.python_frames.module.get(row).map(i64::from))),
            ("id", Value::Integer(|tables, row| Some(tables.python_frames.id.get(row)))),
        ],
    },
    Extra {
        name: "memory_events",
        rows: |tables| tables.memory_events.len(),
        process: |tables, row| tables.memory_events[row].process,
        columns: &[
            ("time", Value::Integer(|tables, row| Some(tables.memory_events[row].time))),
            ("bytes", Value::Integer(|tables, row| Some(tables.memory_events[row].bytes))),
            ("address", Value::Integer(|tables, row| bits(tables.memory_events[row].address))),
            ("allocated", Value::Integer(|tables, row| bits(tables.memory_events[row].allocated))),
            ("reserved", Value::Integer(|tables, row| bits(tables.memory_events[row].reserved))),
            ("gpu", Value::Integer(memory_gpu)),
            ("tid", Value::Integer(|tables, row| tables.memory_events[row].tid)),
            ("id", Value::Integer(|tables, row| Some(tables.memory_events[row].id))),
        ],
    },
];

/// The column of the process, behind the others.
const PID: &str = "pid";

impl Extra {
    pub(crate) fn fields(&self) -> Vec<Field> {
        let field = |name: &str, kind| Field { name: name.to_owned(), kind };
        let columns = self.columns.iter().map(|(name, value)| match value {
            Value::Integer(_) => field(name, Type::Integer),
            Value::Name(_) => field(name, Type::Text),
        });
        columns.chain([field(PID, Type::Integer)]).collect()
    }

    /// The rows of each rank in their order.
    pub(crate) fn by_rank(&self, tables: &Tables) -> Ranks {
        let mut parts = Ranks::new();
        for row in 0..(self.rows)(tables) {
            let process = tables.processes.get((self.process)(tables, row).index());
            let rank = process.and_then(|process| process.rank).map(i64::from);
            parts.entry(rank).or_default().push(row as u32);
        }
        if let Some((_, Value::Integer(time))) = self.columns.first() {
            parts.values_mut().for_each(|rows| rows.sort_by_key(|&row| time(tables, row as usize)));
        }
        parts
    }

    pub(crate) fn values(&self, tables: &Tables, position: usize, rows: &[u32]) -> Values {
        let integers =
            |value: &dyn Fn(usize) -> Option<i64>| integers(rows.iter().map(|&row| value(row as usize)));
        match self.columns.get(position) {
            Some((_, Value::Integer(value))) => integers(&|row| value(tables, row)),
            Some((_, Value::Name(value))) => {
                let mut texts: FxHashMap<NameId, Text> = FxHashMap::default();
                let names: Vec<NameId> = rows.iter().map(|&row| value(tables, row as usize)).collect();
                let mut text =
                    |id: &NameId| texts.entry(*id).or_insert_with(|| tables.strings.get(*id).into()).clone();
                let data = Data::Texts(names.iter().map(&mut text).collect());
                Values { data, known: names.iter().map(|&name| name != NameId::NONE).collect() }
            }
            None => integers(&|row| tables.processes.get((self.process)(tables, row).index())?.pid),
        }
    }
}

fn bits(number: Option<u64>) -> Option<i64> {
    number.map(u64::cast_signed)
}

fn invalid_stop(tables: &Tables, row: usize) -> Option<i64> {
    let frames = &tables.python_frames;
    let duration = frames.duration.get(row).filter(|&duration| duration < 0)?;
    Some(frames.start[row].saturating_add(duration))
}

fn memory_gpu(tables: &Tables, row: usize) -> Option<i64> {
    let agent = tables.agents.get(tables.memory_events[row].agent?.index())?;
    (agent.kind == AgentKind::Gpu).then_some(agent.number)
}
