//! Why GPUs were idle.

use rtl_analysis::idle::IdlePiece;
use rtl_schema::Select;

use crate::column::Column;
use crate::loaded::Loaded;
use crate::table::Table;

pub(super) fn idle() -> Table {
    fn piece(trace: &Loaded, row: usize) -> &IdlePiece {
        &trace.idle()[row]
    }
    let select =
        Select { links: true, ranges: true, api: true, operators: true, python: true, ..Select::ops() };
    Table::new("idle", "Pieces of time in which a GPU had nothing to do, each with its cause", |trace| {
        trace.idle().len()
    })
    .needing(select)
    .with([
        Column::word("cause", "synchronise, launch, host, queued, ...", |trace, row| {
            Some(piece(trace, row).cause.label())
        }),
        Column::text("within", "Operator, Python function or range that the thread was in", |trace, row| {
            piece(trace, row).within
        }),
        Column::text("call", "Call that the thread was in, or on its way to", |trace, row| {
            piece(trace, row).call
        }),
    ])
    .with_times(
        |trace, row| piece(trace, row).start_ns,
        |trace, row| Some(piece(trace, row).end_ns.saturating_sub(piece(trace, row).start_ns)),
    )
    .with([Column::integer("gpu", "Number of the GPU", |trace, row| {
        trace.gpu(Some(piece(trace, row).agent))
    })])
}
