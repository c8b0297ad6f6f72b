//! One table per file, each a struct of columns with one row type to append.
//!
//! Times are nanoseconds of the clock the source used (CLOCK_BOOTTIME or CLOCK_MONOTONIC), never rebased.
//! `correlation` ties an op to the call that caused it: equal values within one
//! [`Process::space`] belong together; 0 is unknown.

mod agents;
mod allocations;
mod api_calls;
mod barriers;
mod collectives;
mod copies;
mod counters;
mod details;
mod dispatches;
mod interned;
mod memory_events;
mod opaque;
mod operators;
mod processes;
mod python_frames;
mod ranges;
mod row;
mod shapes;
mod spans;
mod symbols;
mod tracks;

pub use agents::{Agent, AgentKind};
pub use allocations::{Allocation, AllocationKind, AllocationLevel, Allocations};
pub use api_calls::{ApiArgument, ApiCall, ApiCalls, ApiLaunch};
pub use barriers::{Barrier, Barriers};
pub use collectives::{Collective, Collectives};
pub use copies::{Copies, Copy, Direction};
pub use counters::{Counter, Counters, Monitor, StackFrame};
pub use details::{Detail, DetailColumns, Details};
pub use dispatches::{Dispatch, Dispatches};
pub use interned::{Distinct, Interned};
pub use memory_events::{MemoryEvent, MemoryEvents};
pub use opaque::{OpaqueTable, Value};
pub use operators::{Operator, Operators};
pub use processes::{Process, Thread};
pub use python_frames::{PythonFrame, PythonFrames};
pub use ranges::{Range, RangeKind, Ranges};
pub use row::Row;
pub(crate) use row::row;
pub use shapes::{Shape, Shapes};
pub(crate) use shapes::{all, axes};
pub use spans::{Span, SpanKind, Spans};
pub use symbols::Symbol;
pub use tracks::{Track, Tracks};
