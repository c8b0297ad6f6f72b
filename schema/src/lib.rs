//! Every table name, column name and dialect of the traces that rtl reads and writes.
//!
//! [`Trace::open`] recognises a file by its content and [`Trace::read`] turns it into [`Tables`], structs of columns
//! that are the same for every recording tool. This crate computes nothing and prints nothing. Only this crate uses
//! SQLite.
//!
//! The types to know: [`Trace`] (an opened file), [`Tables`] (its columns), [`Select`] (which of them).
//!
//! ```no_run
//! # fn main() -> Result<(), rtl_schema::Error> {
//! let trace = rtl_schema::Trace::open("trace.db")?;
//! let tables = trace.read(&rtl_schema::Select::summary())?;
//! for dispatch in 0..tables.dispatches.len() {
//!     let name = tables.strings.get(tables.dispatches.name[dispatch]);
//!     println!("{name} started at {} ns", tables.dispatches.start[dispatch]);
//! }
//! # Ok(())
//! # }
//! ```

mod column;
mod column_set;
mod content;
mod csv;
pub mod dialect;
mod error;
mod foreign;
mod gzip;
mod ids;
mod input;
pub mod layout;
mod names;
mod run_files;
mod select;
pub mod signature;
mod spool;
pub mod sqlite;
mod strings;
pub mod table;
mod tables;
mod trace;

pub use column::{Column, Durations};
pub use dialect::{Dialect, InFlight, LiveTrace};
pub use error::{Error, Result};
pub use ids::{AgentId, CollectiveId, Id, NameId, ProcessId, ShapeId, SymbolId, TrackId};
pub use input::Input;
pub use names::{demangle, identity};
pub use run_files::join_files_of_runs;
pub use select::Select;
pub use signature::{qualified, shorten};
pub use spool::set_input_limit;
pub use strings::Strings;
pub use tables::{Problem, ProblemKind, Problems, RecorderCost, Tables, TraceInfo};
pub use trace::Trace;
