//! Data sets: the tables of many runs as Parquet files, for engines that read folders of them.
//!
//! `job=J/run=R/kind=TABLE/bucket=B/part-0.parquet`; `docs/guide/dataset.md` describes the layout. [`add()`] writes a run, which
//! appears whole or not at all: it grows in a temporary folder beside, and a rename gives it its name. [`stored()`] says which
//! columns a table has there, `buffer` and `rows` turn columns of a trace into row groups, `stats` aggregates, and
//! [`Manifest`] says where a run comes from, [`files()`] lists it, `buckets` says which ranks share a file. `read` turns a run into the trace that it was made from, with what `facts` has kept
//! beside the tables; [`read_as_traces()`] lets every reader of traces take runs.

mod add;
mod buckets;
mod buffer;
mod damage;
mod error;
mod facts;
mod files;
mod frameworks;
mod manifest;
mod read;
mod rows;
mod stats;
mod stored;

pub use add::{Added, Provenance, Run, add, add_packed, check};
pub use buckets::{Bucket, Packing};
pub use damage::damage_in;
pub use error::Error;
pub use files::files;
pub use manifest::{MANIFEST, Manifest, SCHEMA, Source, TableManifest, Writer, has_runs, names, runs_where};
pub use read::read_as_traces;
pub use stats::{AGGREGATED, NUMBERS};
pub use stored::{INVALID_STOP, Stored, name_in_files, stored};

pub type Result<T> = std::result::Result<T, Error>;

/// Rows of a row group: as many as DuckDB gives to a thread at once.
pub const GROUP: usize = 122_880;
