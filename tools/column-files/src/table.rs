//! Every table of a trace, with its columns as data-frame tools call them, and units in the names.

mod host;
mod ops;
mod reference;

use std::ops::Range;

use rtl_schema::Tables;

use crate::rows::{Column, Piece};

/// A table of a trace: null where the trace does not know a value.
#[derive(Debug)]
pub struct Table {
    /// Also the name of its file.
    pub name: &'static str,
    /// Rows of other tables refer to it: it is complete only when the whole trace was read.
    pub is_reference: bool,
    pub rows: fn(&Tables) -> usize,
    pub columns: fn(Piece<'_>, Range<usize>) -> Vec<Column>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Declares tables, and lists them in this order.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $name:literal, $is_reference:literal, $rows:expr, $columns:path;)*) => {
        impl Table {
            $($(#[$doc])* pub const $table: &'static Self =
                &Self { name: $name, is_reference: $is_reference, rows: $rows, columns: $columns };)*

            pub const ALL: &'static [&'static Self] = &[$(Self::$table),*];
        }
    };
}

tables! {
    OPS: "ops", false, |tables| tables.dispatches.len() + tables.copies.len() + tables.barriers.len(), ops::ops;
    API_CALLS: "api_calls", false, |tables| tables.api_calls.len(), host::calls;
    API_ARGUMENTS: "api_arguments", false, |tables| tables.api_calls.arguments.len(), host::arguments;
    API_LAUNCHES: "api_launches", false, |tables| tables.api_calls.launches.len(), host::launches;
    LINKS: "links", false, |tables| tables.extra_links.len(), host::links;
    RANGES: "ranges", false, |tables| tables.ranges.len(), host::ranges;
    ALLOCATIONS: "allocations", false, |tables| tables.allocations.len(), host::allocations;
    OPERATORS: "operators", false, |tables| tables.operators.len(), host::operators;
    PYTHON_FRAMES: "python_frames", false, |tables| tables.python_frames.len(), host::python_frames;
    MEMORY_EVENTS: "memory_events", false, |tables| tables.memory_events.len(), host::memory_events;
    SPANS: "spans", false, |tables| tables.spans.len(), host::spans;
    COUNTERS: "counters", false, |tables| tables.counters.len(), ops::counters;
    MONITORS: "monitors", false, |tables| tables.monitors.len(), host::monitors;
    STACK_FRAMES: "stack_frames", false, |tables| tables.stack_frames.len(), host::stack_frames;
    AGENTS: "agents", true, |tables| tables.agents.len(), reference::agents;
    PROCESSES: "processes", true, |tables| tables.processes.len(), reference::processes;
    THREADS: "threads", true, |tables| tables.threads.len(), reference::threads;
    KERNELS: "kernels", true, |tables| tables.symbols.len(), reference::kernels;
    METADATA: "metadata", true, |tables| tables.info.metadata.len(), reference::metadata;
}
