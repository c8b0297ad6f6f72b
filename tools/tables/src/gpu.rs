//! Tables of what belongs to single kernels: collectives and hardware counters.

use rtl_schema::table::{Collective, Counter, Track};
use rtl_schema::{NameId, Select};

use crate::column::Column;
use crate::dictionary::Dictionary;
use crate::loaded::Loaded;
use crate::table::Table;

/// The dispatch behind a row of collectives.
fn dispatch(trace: &Loaded, row: usize) -> usize {
    trace.collectives()[row] as usize
}

fn track(trace: &Loaded, row: usize) -> Track {
    trace.tables.tracks.get(trace.tables.dispatches.track[dispatch(trace, row)])
}

fn stated(trace: &Loaded, row: usize) -> Collective {
    let id = trace.tables.dispatches.collective.get(dispatch(trace, row));
    id.map(|id| trace.tables.collectives.get(id)).unwrap_or_default()
}

fn start(trace: &Loaded, row: usize) -> i64 {
    trace.tables.dispatches.start[dispatch(trace, row)]
}

fn duration(trace: &Loaded, row: usize) -> Option<i64> {
    trace.tables.dispatches.duration.get(dispatch(trace, row))
}

pub(super) fn collectives() -> Table {
    let text = |name, about, value: fn(&Collective) -> NameId| {
        Column::text(name, about, move |trace, row| value(&stated(trace, row)))
    };
    let number = |name, about, value: fn(&Collective) -> Option<u64>| {
        Column::integer(name, about, move |trace, row| value(&stated(trace, row)).map(u64::cast_signed))
    };
    Table::new("collectives", "Kernels that communicate, and what frameworks state of them", |trace| {
        trace.collectives().len()
    })
    .needing(Select { collectives: true, ..Select::ops() })
    .with([
        Column::dictionary("name", "Name of the kernel", Dictionary::Kernels, |trace, row| {
            trace.place(trace.tables.dispatches.name[dispatch(trace, row)])
        }),
        text("operation", "What it does: allreduce, ...", |collective| collective.operation),
        text("communicator", "Name of the communicator or process group", |collective| {
            collective.communicator
        }),
        text("ranks", "Ranks of the communicator", |collective| collective.ranks),
        number("size", "How many ranks", |collective| collective.size.map(u64::from)),
        text("data_type", "Type of the elements", |collective| collective.data_type),
        number("sent", "Elements that a rank gives", |collective| collective.sent),
        number("received", "Elements that a rank gets", |collective| collective.received),
        number("sequence", "Number within the communicator", |collective| collective.sequence.map(u64::from)),
    ])
    .with_times(start, duration)
    .with([
        Column::integer("gpu", "Number of the GPU", |trace, row| trace.gpu(Some(track(trace, row).agent))),
        Column::integer("queue", "HSA queue", |trace, row| Some(track(trace, row).queue)),
        Column::integer("stream", "HIP or CUDA stream", |trace, row| track(trace, row).stream),
    ])
    .of_process(|trace, row| track(trace, row).process)
}

pub(super) fn counters() -> Table {
    let counter = |trace: &Loaded, row: usize| -> Counter { trace.tables.counters[row] };
    Table::new("counters", "Hardware counters of dispatches; several rows of one name add up", |trace| {
        trace.tables.counters.len()
    })
    .needing(Select { secondary: true, ids: true, ..Select::ops() })
    .with([
        Column::integer("op_id", "Id of the dispatch, its column id", move |trace, row| {
            Some(counter(trace, row).dispatch)
        }),
        Column::text("name", "Name of the counter", move |trace, row| counter(trace, row).name),
        Column::float("value", "Value", move |trace, row| Some(counter(trace, row).value)),
        Column::integer("gpu", "Number of the GPU", move |trace, row| trace.gpu(counter(trace, row).agent)),
    ])
    .of_process(|trace, row| trace.tables.counters[row].process)
}
