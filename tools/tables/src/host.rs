//! Tables of the host: calls, operators, ranges and allocations.

use rtl_schema::Select;
use rtl_schema::table::{Allocation, Range, RangeKind};

use crate::column::Column;
use crate::loaded::Loaded;
use crate::table::{Table, known};

const ARGS: Select = Select { args: true, ..API };
const API: Select = Select {
    ids: false,
    shapes: false,
    launch: false,
    collectives: false,
    links: true,
    ranges: false,
    api: true,
    args: false,
    operators: false,
    python: false,
    memory: false,
    secondary: false,
};

pub(super) fn api_calls() -> Table {
    Table::new("api_calls", "Calls of HIP, HSA, RCCL and other libraries", |trace| {
        trace.tables.api_calls.len()
    })
    .needing(API)
    .with([
        Column::text("name", "Name of the function", |trace, row| trace.tables.api_calls.name[row]),
        Column::text("domain", "Library or layer", |trace, row| trace.tables.api_calls.domain.get(row)),
        Column::text("arguments", "All arguments as one text", |trace, row| {
            trace.tables.api_calls.args.get(row)
        })
        .needing(ARGS),
    ])
    .with_times(
        |trace, row| trace.tables.api_calls.start[row],
        |trace, row| trace.tables.api_calls.duration.get(row),
    )
    .of_process(|trace, row| trace.tables.api_calls.process.get(row))
    .with([
        Column::integer("tid", "Calling thread", |trace, row| trace.tables.api_calls.tid.get(row)),
        Column::integer("correlation_id", "Id that its ops have too", |trace, row| {
            known(trace.tables.api_calls.correlation.get(row))
        }),
        Column::integer("parent_id", "Correlation id of the call around it", |trace, row| {
            known(trace.tables.api_calls.parent.get(row))
        }),
        Column::integer("stream", "Stream of its arguments", |trace, row| {
            trace.tables.api_calls.stream.get(row)
        }),
        Column::integer("result", "Status that it returned; 0 is success or unknown", |trace, row| {
            Some(trace.tables.api_calls.result.get(row))
        }),
        Column::integer("id", "Id of the source", |trace, row| Some(trace.tables.api_calls.id.get(row)))
            .needing(Select { ids: true, ..API }),
    ])
}

pub(super) fn operators() -> Table {
    Table::new("operators", "Operators of frameworks", |trace| trace.tables.operators.len())
        .needing(Select { operators: true, ..Select::ops() })
        .with([
            Column::text("name", "Name, such as aten::mm", |trace, row| trace.tables.operators.name[row]),
            Column::text("shapes", "Sizes of the inputs", |trace, row| {
                trace.tables.operators.shapes.get(row)
            }),
            Column::text("types", "Types of the inputs", |trace, row| trace.tables.operators.types.get(row)),
        ])
        .with_times(
            |trace, row| trace.tables.operators.start[row],
            |trace, row| trace.tables.operators.duration.get(row),
        )
        .of_process(|trace, row| trace.tables.operators.process.get(row))
        .with([
            Column::integer("tid", "Executing thread", |trace, row| trace.tables.operators.tid.get(row)),
            Column::integer("sequence", "Number of the node of the autograd graph", |trace, row| {
                trace.tables.operators.sequence.get(row).map(i64::from)
            }),
            Column::integer(
                "forward_thread",
                "Thread of the forward operator, of a backward one",
                |trace, row| known(trace.tables.operators.forward_thread.get(row).into()),
            ),
        ])
}

pub(super) fn ranges() -> Table {
    let range = |trace: &Loaded, row: usize| -> Range { trace.tables.ranges[row] };
    let kind = |kind| match kind {
        RangeKind::Thread => Some("thread"),
        RangeKind::Process => Some("process"),
        RangeKind::Marker => Some("marker"),
        RangeKind::Unknown => None,
    };
    Table::new("ranges", "Ranges and markers of programs", |trace| trace.tables.ranges.len())
        .needing(Select { ranges: true, ..Select::ops() })
        .with([
            Column::text("name", "Text of the program", move |trace, row| range(trace, row).name),
            Column::word("kind", "thread, process or marker", move |trace, row| kind(range(trace, row).kind)),
            Column::text("category", "Class of the source", move |trace, row| range(trace, row).category),
            Column::bool("marker", "Whether it is an instant", move |trace, row| {
                Some(range(trace, row).is_marker())
            }),
        ])
        .with_times(
            |trace, row| trace.tables.ranges[row].start,
            |trace, row| trace.tables.ranges[row].duration,
        )
        .of_process(|trace, row| trace.tables.ranges[row].process)
        .with([
            Column::integer("tid", "Thread", move |trace, row| range(trace, row).tid),
            Column::integer("correlation_id", "Correlation id", move |trace, row| {
                known(range(trace, row).correlation)
            }),
            Column::integer("id", "Id of the source, range_id of ops", move |trace, row| {
                Some(range(trace, row).id)
            }),
        ])
}

pub(super) fn allocations() -> Table {
    let row_of = |trace: &Loaded, row: usize| -> Allocation { trace.tables.allocations[row] };
    Table::new("allocations", "Allocations, releases and scratch events of the runtime", |trace| {
        trace.tables.allocations.len()
    })
    .needing(Select { memory: true, ..Select::ops() })
    .with([
        Column::word("kind", "allocate, free, reallocate or reclaim", move |trace, row| {
            Some(row_of(trace, row).kind.label())
        }),
        Column::word("level", "real, virtual or scratch", move |trace, row| {
            Some(row_of(trace, row).level.label())
        }),
        Column::integer("bytes", "Size in bytes", move |trace, row| {
            Some(row_of(trace, row).bytes.cast_signed())
        }),
        Column::integer("address", "Address", move |trace, row| {
            row_of(trace, row).address.map(u64::cast_signed)
        }),
    ])
    .with_times(
        |trace, row| trace.tables.allocations[row].start,
        |trace, row| trace.tables.allocations[row].duration,
    )
    .with([
        Column::integer("gpu", "GPU whose memory it is", move |trace, row| {
            trace.gpu(row_of(trace, row).agent)
        }),
        Column::integer("queue", "HSA queue, of scratch", move |trace, row| row_of(trace, row).queue),
        Column::integer("stream", "HIP stream", move |trace, row| row_of(trace, row).stream),
    ])
    .of_process(|trace, row| trace.tables.allocations[row].process)
    .with([
        Column::integer("tid", "Thread", move |trace, row| row_of(trace, row).tid),
        Column::integer("correlation_id", "Correlation id", move |trace, row| {
            known(row_of(trace, row).correlation)
        }),
    ])
}
