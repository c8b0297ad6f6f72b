//! A native file that is whole at every moment: what the tracer records into.
//!
//! [`Recording`] makes the same rows as [`write::NativeWriter`](crate::write::NativeWriter), byte for byte, but builds the pages of the
//! SQLite file itself. It only appends, and it never changes a page that the file refers to, with one exception: the
//! first page. That page holds the number of pages, the list of unused ones and the root of the schema, whose rows
//! hold the roots of all tables; so writing it is what publishes everything that was written before. After every
//! single write the file is a valid database with all that was published so far, whenever the process is killed. There
//! is no journal, no lock and no sync, so a file system where those hang or fail is as good as any other.

mod database;
mod params;
mod recording;
mod strings;
mod template;

pub use crate::btree::Target;
pub use params::{CopyParams, LaunchParams};
pub use recording::{COMPLETE, OPEN_CALL, Recording};
pub use template::{CallDelta, CallTemplate, RowDelta, RowTemplate};
