//! DuckDB behind a safe interface; with `arrow` the only crate of the tools that has `unsafe`.
//!
//! Nothing is linked: [`load`] opens `libduckdb.so` while the program runs and looks up the functions that are used
//! (`functions.rs`), so that building needs no library and programs start without it; the features `linked` and `bundled` link one
//! (`linked.rs`). [`Database::open`] makes a database in
//! memory, [`Connection::register`] adds a table of one's own ([`TableFunction`]), [`Database::replace_tables`] gives names a
//! meaning when a query has them, [`Connection::statements`] splits a text into statements, and [`Statement::execute`] gives
//! [`Rows`] of [`Value`]s, on one thread unless [`Workers`] join.
//!
//! A handle (`handles.rs`) is a pointer that DuckDB has returned; this crate alone makes and destroys them.

#![expect(unsafe_code, reason = "calls of C")]

mod callback;
mod database;
mod error;
mod functions;
mod handles;
#[cfg_attr(feature = "linked", path = "linked.rs")]
mod library;
mod logical_type;
mod output;
mod replacement;
mod rows;
mod statement;
mod table_function;
mod value;
mod vector;
mod workers;

pub use database::{Connection, Database, Interrupter, Settings};
pub use error::{Error, Result, VERSION};
pub use library::{load, version};
pub use logical_type::Type;
pub use output::{Chunk, Dictionary, OutputVector};
pub use replacement::Replacement;
pub use rows::Rows;
pub use statement::{Effect, Parameter, Statement, Statements};
pub use table_function::{Bound, Call, Scan, TableFunction};
pub use value::Value;
pub use workers::Workers;

/// The most rows of a chunk.
pub const CHUNK: usize = 2048;
