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
//!
//! # Examples
//! What a file is and what it has, before its rows are read:
//!
//! ```
//! # fn main() -> Result<(), rtl_schema::Error> {
//! let trace = rtl_schema::Trace::open("../tests/fixtures/real/gpt-loader.json.gz")?;
//! assert_eq!(trace.dialect().label(), "kineto-json");
//! assert!(rtl_schema::Trace::open("Cargo.toml").is_err(), "the content decides, not the name");
//! # Ok(())
//! # }
//! ```
//!
//! Rows in pieces, in memory that does not grow with the file:
//!
//! ```
//! # fn main() -> Result<(), rtl_schema::Error> {
//! use rtl_schema::{Error, Select, Trace};
//!
//! let trace = Trace::open("../tests/fixtures/real/gpt-loader.json.gz")?;
//! let (mut calls, mut bytes) = (0, 0);
//! trace.stream(&Select { api: true, ..Select::ops() }, |piece| {
//!     calls += piece.api_calls.len();
//!     bytes += piece.copies.iter().map(|copy| copy.bytes.unwrap_or(0)).sum::<u64>();
//!     Ok::<_, Error>(())
//! })?;
//! assert_eq!((calls, bytes), (1726, 503_610_840));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! The crate has no features: every build reads every dialect. Runs of data sets, which are Parquet, are read by another crate,
//! which [`set_data_set_reader`] names. It brings SQLite with it and needs a C compiler for that.
//!
//! # Versions
//! Until 1.0 the second number of the version rises with every change that can break a program, and the third with all others.
//! A new dialect, a new column and a new field of [`Select`] are such changes of the second number, as structs of columns are
//! meant to be written out. The oldest Rust that compiles the crate is in its manifest and rises with the second number alone.
//! Files are another matter: what one version reads, all later ones read.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod column;
mod column_set;
mod content;
mod csv;
mod data_set;
pub mod dialect;
mod error;
mod foreign;
mod gzip;
mod hash;
mod ids;
mod input;
pub mod layout;
mod names;
mod optional_column;
mod piece_sink;
mod run_files;
mod select;
pub mod signature;
mod spool;
pub mod sqlite;
mod strings;
pub mod table;
mod table_builder;
mod tables;
mod trace;

pub use column::{Column, Durations};
pub use data_set::{MANIFEST, OpenRun, StoredRun, runs_of_data_set, set_data_set_reader};
pub use dialect::{Dialect, InFlight, LiveTrace};
pub use error::{Error, Result};
pub use ids::{AgentId, CollectiveId, Id, NameId, ProcessId, ShapeId, SymbolId, TrackId};
pub use input::Input;
pub use names::{demangle, identity};
pub use optional_column::{OptionalColumn, Sentinel};
pub use piece_sink::{Each, PieceSink};
pub use run_files::join_files_of_runs;
pub use select::Select;
pub use signature::{qualified, shorten};
pub use spool::set_input_limit;
pub use strings::Strings;
pub use tables::{Problem, ProblemKind, Problems, RecorderCost, StrayOps, Tables, TraceInfo};
pub use trace::{Trace, last_opened};
