//! Every table of a trace as a frame: what data-frame tools call a column, with units in the names.

mod host;
mod ops;
mod reference;

use std::ops::Range;

use polars::prelude::*;
use rtl_schema::Tables;

/// A table of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Kernels, copies, fills and barriers.
    Ops,
    /// API calls.
    ApiCalls,
    /// Their arguments one by one, where the source has them so.
    ApiArguments,
    /// What calls asked to launch or to copy.
    ApiLaunches,
    /// Links of ops to further calls.
    Links,
    /// Ranges and markers.
    Ranges,
    /// Allocations and scratch events.
    Allocations,
    /// Hardware counters of dispatches.
    Counters,
    /// Sampled quantities.
    Monitors,
    /// Call stacks.
    StackFrames,
    /// GPUs and other agents.
    Agents,
    /// Processes.
    Processes,
    /// Named threads.
    Threads,
    /// Loaded kernels.
    Kernels,
    /// What the source says of itself.
    Metadata,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Ops,
        Self::ApiCalls,
        Self::ApiArguments,
        Self::ApiLaunches,
        Self::Links,
        Self::Ranges,
        Self::Allocations,
        Self::Counters,
        Self::Monitors,
        Self::StackFrames,
        Self::Agents,
        Self::Processes,
        Self::Threads,
        Self::Kernels,
        Self::Metadata,
    ];

    /// Its name, and that of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ops => "ops",
            Self::ApiCalls => "api_calls",
            Self::ApiArguments => "api_arguments",
            Self::ApiLaunches => "api_launches",
            Self::Links => "links",
            Self::Ranges => "ranges",
            Self::Allocations => "allocations",
            Self::Counters => "counters",
            Self::Monitors => "monitors",
            Self::StackFrames => "stack_frames",
            Self::Agents => "agents",
            Self::Processes => "processes",
            Self::Threads => "threads",
            Self::Kernels => "kernels",
            Self::Metadata => "metadata",
        }
    }

    /// Whether rows refer to it: it is complete only when the trace was read to its end.
    pub fn is_reference(self) -> bool {
        matches!(self, Self::Agents | Self::Processes | Self::Threads | Self::Kernels | Self::Metadata)
    }

    /// How many rows it has in `tables`.
    pub fn rows(self, tables: &Tables) -> usize {
        match self {
            Self::Ops => tables.dispatches.len() + tables.copies.len() + tables.barriers.len(),
            Self::ApiCalls => tables.api_calls.len(),
            Self::ApiArguments => tables.api_calls.arguments.len(),
            Self::ApiLaunches => tables.api_calls.launches.len(),
            Self::Links => tables.extra_links.len(),
            Self::Ranges => tables.ranges.len(),
            Self::Allocations => tables.allocations.len(),
            Self::Counters => tables.counters.len(),
            Self::Monitors => tables.monitors.len(),
            Self::StackFrames => tables.stack_frames.len(),
            Self::Agents => tables.agents.len(),
            Self::Processes => tables.processes.len(),
            Self::Threads => tables.threads.len(),
            Self::Kernels => tables.symbols.len(),
            Self::Metadata => tables.info.metadata.len(),
        }
    }

    /// Some of its rows: null where the trace does not know.
    ///
    /// # Errors
    /// Where polars refuses the columns.
    pub fn frame(self, tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
        match self {
            Self::Ops => ops::ops(tables, rows),
            Self::ApiCalls => host::calls(tables, rows),
            Self::ApiArguments => host::arguments(tables, rows),
            Self::ApiLaunches => host::launches(tables, rows),
            Self::Links => host::links(tables, rows),
            Self::Ranges => host::ranges(tables, rows),
            Self::Allocations => host::allocations(tables, rows),
            Self::Counters => ops::counters(tables, rows),
            Self::Monitors => host::monitors(tables, rows),
            Self::StackFrames => host::stack_frames(tables, rows),
            Self::Agents => reference::agents(tables, rows),
            Self::Processes => reference::processes(tables, rows),
            Self::Threads => reference::threads(tables, rows),
            Self::Kernels => reference::kernels(tables, rows),
            Self::Metadata => reference::metadata(tables, rows),
        }
    }
}
