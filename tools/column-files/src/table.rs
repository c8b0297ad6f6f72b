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
    /// Its name, and that of its file.
    pub name: &'static str,
    /// Whether rows of other tables refer to it: it is complete only when the whole trace was read.
    pub is_reference: bool,
    /// The number of its rows.
    pub rows: fn(&Tables) -> usize,
    /// Some of its rows.
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

            /// All tables.
            pub const ALL: &'static [&'static Self] = &[$(Self::$table),*];
        }
    };
}

tables! {
    /// Kernels, copies, fills and barriers.
    OPS: "ops", false, |tables| tables.dispatches.len() + tables.copies.len() + tables.barriers.len(), ops::ops;
    /// API calls.
    API_CALLS: "api_calls", false, |tables| tables.api_calls.len(), host::calls;
    /// Arguments of calls, one by one, where the source has them so.
    API_ARGUMENTS: "api_arguments", false, |tables| tables.api_calls.arguments.len(), host::arguments;
    /// Parameters of launches and copies, as the call states them.
    API_LAUNCHES: "api_launches", false, |tables| tables.api_calls.launches.len(), host::launches;
    /// Links of ops to further calls.
    LINKS: "links", false, |tables| tables.extra_links.len(), host::links;
    /// Ranges and markers.
    RANGES: "ranges", false, |tables| tables.ranges.len(), host::ranges;
    /// Allocations and scratch events.
    ALLOCATIONS: "allocations", false, |tables| tables.allocations.len(), host::allocations;
    /// Operators of frameworks.
    OPERATORS: "operators", false, |tables| tables.operators.len(), host::operators;
    /// Python functions and modules of frameworks.
    PYTHON_FRAMES: "python_frames", false, |tables| tables.python_frames.len(), host::python_frames;
    /// Allocations and releases of the allocators of frameworks.
    MEMORY_EVENTS: "memory_events", false, |tables| tables.memory_events.len(), host::memory_events;
    /// Spans that a profiler states beside the events that it recorded.
    SPANS: "spans", false, |tables| tables.spans.len(), host::spans;
    /// Hardware counters of dispatches.
    COUNTERS: "counters", false, |tables| tables.counters.len(), ops::counters;
    /// Sampled quantities.
    MONITORS: "monitors", false, |tables| tables.monitors.len(), host::monitors;
    /// Call stacks.
    STACK_FRAMES: "stack_frames", false, |tables| tables.stack_frames.len(), host::stack_frames;
    /// GPUs and other agents.
    AGENTS: "agents", true, |tables| tables.agents.len(), reference::agents;
    /// Processes.
    PROCESSES: "processes", true, |tables| tables.processes.len(), reference::processes;
    /// Named threads.
    THREADS: "threads", true, |tables| tables.threads.len(), reference::threads;
    /// Loaded kernels.
    KERNELS: "kernels", true, |tables| tables.symbols.len(), reference::kernels;
    /// Metadata of the source.
    METADATA: "metadata", true, |tables| tables.info.metadata.len(), reference::metadata;
}
