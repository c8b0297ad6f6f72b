//! The native layout: its tables, the writer of their rows, and the import of traces that other tools recorded.

mod checkpoint;
mod import;
pub(crate) mod layout;
mod lookup;
mod mapping;
mod metadata;
pub(crate) mod numbering;
pub(crate) mod opaque_tables;
mod params;
mod piece;
mod range_ids;
mod recording;
pub(crate) mod rows;
mod secondary_tables;
mod string_ids;
mod template;
mod writer;

pub use checkpoint::StringLog;
pub use import::TraceImport;
pub use mapping::{ClockCorrection, TraceMapping};
pub use params::{CopyParams, LaunchParams};
pub use piece::{EncodedPiece, PieceImport};
pub use range_ids::RangeBlock;
pub use recording::Recording;
pub use rows::{Call, NO_SYMBOL, Op, OpKind, StringId};
pub use template::{CallDelta, CallTemplate, RowDelta, RowTemplate};
pub use writer::NativeWriter;
