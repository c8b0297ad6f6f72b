//! Writers of native, RPD and rocpd files.
//!
//! [`NativeWriter`] writes rows of the native layout one by one, or whole [`Tables`](rtl_schema::Tables); [`TraceImport`]
//! takes a trace in pieces, so that memory does not grow with its rows. [`Recording`] adds publication: a file that is a valid
//! database after every write. [`RpdWriter`] and [`RocpdWriter`] write other tools' files. Who
//! calls them makes the file, with crate `atomic-file` where the output has to appear complete or not at all.

#![warn(missing_docs)]

mod btree;
mod native;
mod output;
mod rocpd;
mod rpd;
mod script;

pub use btree::Target;
pub use native::{
    Call, CallDelta, CallTemplate, ClockCorrection, CopyParams, EncodedPiece, LaunchParams, NO_SYMBOL,
    NativeWriter, Op, OpKind, PieceImport, RangeBlock, Recording, RowDelta, RowTemplate, StringId, StringLog,
    TraceImport, TraceMapping,
};
pub use rocpd::{
    AgentInfo, Argument, CounterInfo, Event, KernelDispatch, KernelInfo, MemoryAllocation, MemoryCopy,
    ProcessIdentity, ProcessInfo, RocpdWriter, TableSetId,
};
pub use rpd::RpdWriter;
