//! Kernels, copies and barriers.

use rtl_schema::table::{Copy, Details, Dispatch, Shape, Symbol, Track};
use rtl_schema::{NameId, Select, Tables, TrackId};

use crate::column::Column;
use crate::dictionary::Dictionary;
use crate::loaded::Loaded;
use crate::table::{Table, known};

const IDS: Select = Select { ids: true, ..NOTHING };
const LINKS: Select = Select { links: true, ..NOTHING };
const RANGES: Select = Select { ranges: true, ..NOTHING };
const SHAPES: Select = Select { shapes: true, ..NOTHING };
const LAUNCH: Select = Select { launch: true, ..NOTHING };
const LATENCY: Select = Select { links: true, api: true, ..NOTHING };
const NOTHING: Select = Select {
    ids: false,
    shapes: false,
    launch: false,
    collectives: false,
    links: false,
    ranges: false,
    api: false,
    args: false,
    operators: false,
    python: false,
    memory: false,
    secondary: false,
};

const LATENCY_TEXT: &str = "From the launch to the start in ns: from the enqueueing where it is recorded, else from the start of the call";

/// The columns of the place where an op ran, by its track.
fn place(track: fn(&Loaded, usize) -> TrackId) -> [Column; 5] {
    let of = move |trace: &Loaded, row| -> Track { trace.tables.tracks.get(track(trace, row)) };
    [
        Column::integer("gpu", "Number of the GPU", move |trace, row| trace.gpu(Some(of(trace, row).agent))),
        Column::integer("queue", "HSA queue", move |trace, row| Some(of(trace, row).queue)),
        Column::integer("stream", "HIP or CUDA stream", move |trace, row| of(trace, row).stream),
        Column::integer("rank", "Rank of its process", move |trace, row| trace.rank(of(trace, row).process)),
        Column::integer("pid", "Id of its process", move |trace, row| trace.pid(of(trace, row).process)),
    ]
}

/// Columns that an op has by its whole row.
fn links(op: fn(&Loaded, usize) -> Dispatch) -> impl Iterator<Item = Column> {
    let links = [
        Column::integer("tid", "Launching thread", move |trace, row| op(trace, row).tid).needing(LINKS),
        Column::integer("correlation_id", "Id that its call has too", move |trace, row| {
            known(op(trace, row).correlation)
        })
        .needing(LINKS),
        Column::integer("range_id", "Id of the innermost range at its launch", move |trace, row| {
            known(op(trace, row).range)
        })
        .needing(RANGES),
    ];
    let details = Details::ALL.into_iter().enumerate().map(move |(at, detail)| {
        let value = move |trace: &Loaded, row| op(trace, row).details.values()[at];
        Column::integer(detail.name, detail.about, value).needing(LINKS)
    });
    let id =
        Column::integer("id", "Id of the source", move |trace, row| Some(op(trace, row).id)).needing(IDS);
    links.into_iter().chain(details).chain([id])
}

/// The row of an op: dispatches come first, then copies, then barriers.
fn op(trace: &Loaded, row: usize) -> Dispatch {
    let (dispatches, copies) = (trace.tables.dispatches.len(), trace.tables.copies.len());
    match row.checked_sub(dispatches) {
        None => trace.tables.dispatches.get(row),
        Some(row) if row < copies => (&trace.tables.copies[row]).into(),
        Some(row) => (&trace.tables.barriers[row - copies]).into(),
    }
}

/// Apart from the rest of a row, because most queries read nothing else of it: the start and the duration of an op.
fn times(trace: &Loaded, row: usize) -> (i64, Option<i64>) {
    let Tables { dispatches, copies, barriers, .. } = &trace.tables;
    match row.checked_sub(dispatches.len()) {
        None => (dispatches.start[row], dispatches.duration.get(row)),
        Some(row) if row < copies.len() => (copies[row].start, copies[row].duration),
        Some(row) => (barriers[row - copies.len()].start, barriers[row - copies.len()].duration),
    }
}

fn kind(trace: &Loaded, row: usize) -> &'static str {
    let (dispatches, copies) = (trace.tables.dispatches.len(), trace.tables.copies.len());
    match row.checked_sub(dispatches) {
        None => "kernel",
        Some(row) if row < copies => "copy",
        Some(_) => "barrier",
    }
}

fn is_kernel(trace: &Loaded, row: usize) -> bool {
    row < trace.tables.dispatches.len()
}

pub(super) fn ops() -> Table {
    let rows = |trace: &Loaded| {
        let tables = &trace.tables;
        tables.dispatches.len() + tables.copies.len() + tables.barriers.len()
    };
    let latency = |trace: &Loaded, row: usize| {
        let latencies = trace.latencies();
        let copies = &latencies.copies;
        latencies
            .dispatches
            .get(row)
            .or_else(|| copies.get(row - latencies.dispatches.len()))
            .copied()
            .flatten()
    };
    Table::new("ops", "Kernels, copies and barriers", rows)
        .with([
            Column::word("kind", "kernel, copy or barrier", |trace, row| Some(kind(trace, row))),
            Column::dictionary("name", "Name; of a kernel without .kd", Dictionary::Kernels, |trace, row| {
                trace.place(op(trace, row).name)
            }),
            Column::dictionary("category", "Category of a kernel", Dictionary::Categories, |trace, row| {
                trace.place(if is_kernel(trace, row) { op(trace, row).name } else { NameId::NONE })
            }),
        ])
        .with_times(|trace, row| times(trace, row).0, |trace, row| times(trace, row).1)
        .with(place(|trace, row| op(trace, row).track))
        .with([Column::integer("launch_latency", LATENCY_TEXT, latency).needing(LATENCY)])
        .with(links(op))
}

pub(super) fn dispatches() -> Table {
    let shape = |trace: &Loaded, row: usize| -> Shape {
        trace.tables.dispatches.shape.get(row).map(|shape| trace.tables.shapes.get(shape)).unwrap_or_default()
    };
    let symbol = |trace: &Loaded, row: usize| -> Option<Symbol> {
        trace.tables.symbols.get(trace.tables.dispatches.symbol.get(row)?.index()).copied()
    };
    let name = |trace: &Loaded, row: usize| trace.place(trace.tables.dispatches.name[row]);
    let size = |name, about, value: fn(&Shape) -> Option<u64>| {
        Column::integer(name, about, move |trace, row| value(&shape(trace, row)).map(u64::cast_signed))
            .needing(SHAPES)
    };
    let register = |name, about, value: fn(&Symbol) -> Option<u32>| {
        Column::integer(name, about, move |trace, row| value(&symbol(trace, row)?).map(i64::from))
            .needing(LAUNCH)
    };
    Table::new("dispatches", "Kernel launches", |trace| trace.tables.dispatches.len())
        .with([
            Column::dictionary("name", "Name of the kernel without .kd", Dictionary::Kernels, name),
            Column::dictionary(
                "display_name",
                "Short name that no other kernel has",
                Dictionary::DisplayNames,
                name,
            ),
            Column::dictionary(
                "category",
                "Kind of kernel by its name: gemm, collective, ...",
                Dictionary::Categories,
                name,
            ),
        ])
        .with_times(
            |trace, row| trace.tables.dispatches.start[row],
            |trace, row| trace.tables.dispatches.duration.get(row),
        )
        .with(place(|trace, row| trace.tables.dispatches.track[row]))
        .with([Column::integer("launch_latency", LATENCY_TEXT, |trace, row| {
            trace.latencies().dispatches[row]
        })
        .needing(LATENCY)])
        .with(links(|trace, row| trace.tables.dispatches.get(row)))
        .with([
            size("grid_x", "Work-items along x", |shape| Some(shape.items?[0])),
            size("grid_y", "Work-items along y", |shape| Some(shape.items?[1])),
            size("grid_z", "Work-items along z", |shape| Some(shape.items?[2])),
            size("workgroup_x", "Work-items of a work-group along x", |shape| {
                Some(shape.workgroup?[0].into())
            }),
            size("workgroup_y", "Work-items of a work-group along y", |shape| {
                Some(shape.workgroup?[1].into())
            }),
            size("workgroup_z", "Work-items of a work-group along z", |shape| {
                Some(shape.workgroup?[2].into())
            }),
            size("lds_bytes", "LDS of a work-group in bytes", |shape| shape.lds.map(u64::from))
                .needing(LAUNCH),
            size("scratch_bytes", "Scratch of a work-item in bytes", |shape| shape.scratch.map(u64::from))
                .needing(LAUNCH),
            register("vgprs", "Vector registers", |symbol| symbol.vgprs),
            register("sgprs", "Scalar registers", |symbol| symbol.sgprs),
            register("agprs", "Accumulation registers", |symbol| symbol.agprs),
            Column::bool("graph", "Whether a graph launched it", |trace, row| {
                Some(trace.tables.dispatches.graph.get(row))
            }),
        ])
}

pub(super) fn copies() -> Table {
    let copy = |trace: &Loaded, row: usize| -> Copy { trace.tables.copies[row] };
    let bits = |name, about, value: fn(&Copy) -> Option<u64>| {
        Column::integer(name, about, move |trace, row| value(&copy(trace, row)).map(u64::cast_signed))
    };
    Table::new("copies", "Copies and fills", |trace| trace.tables.copies.len())
        .with([
            Column::text("name", "Name as stored", move |trace, row| copy(trace, row).name),
            Column::word("direction", "host-to-device, device-to-host, ...", move |trace, row| {
                Some(copy(trace, row).direction.label())
            }),
            bits("bytes", "Size in bytes", |copy| copy.bytes),
        ])
        .with_times(
            |trace, row| trace.tables.copies[row].start,
            |trace, row| trace.tables.copies[row].duration,
        )
        .with(place(|trace, row| trace.tables.copies[row].track))
        .with([
            Column::integer("source_gpu", "GPU read from", move |trace, row| {
                trace.gpu(copy(trace, row).source)
            }),
            Column::integer("destination_gpu", "GPU written to", move |trace, row| {
                trace.gpu(copy(trace, row).destination)
            }),
            bits("source_address", "Address read from", |copy| copy.source_address),
            bits("destination_address", "Address written to", |copy| copy.destination_address),
            Column::integer("launch_latency", LATENCY_TEXT, |trace, row| trace.latencies().copies[row])
                .needing(LATENCY),
        ])
        .with(links(|trace, row| (&trace.tables.copies[row]).into()))
}

pub(super) fn barriers() -> Table {
    Table::new("barriers", "Barriers of queues", |trace| trace.tables.barriers.len())
        .with([Column::text("name", "Name as stored", |trace, row| trace.tables.barriers[row].name)])
        .with_times(
            |trace, row| trace.tables.barriers[row].start,
            |trace, row| trace.tables.barriers[row].duration,
        )
        .with(place(|trace, row| trace.tables.barriers[row].track))
        .with(links(|trace, row| (&trace.tables.barriers[row]).into()))
}
