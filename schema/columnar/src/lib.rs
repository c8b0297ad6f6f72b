//! Parquet files of plain columns: signed integers, floating-point numbers, booleans and texts, each of which may be null.
//! The only crate that links `parquet`.
//!
//! An [`Encoder`] makes row groups, [`Writer`] writes one after another, [`Reader`] reads a column of a row group. Types, encodings and compression are those that readers of 2023 know.

mod read;
mod values;
mod write;

pub use parquet::errors::ParquetError as Error;
pub use read::Reader;
pub use values::{Data, Field, Text, Type, Values};
pub use write::{Encoder, Group, Options, Writer};

pub type Result<T> = std::result::Result<T, Error>;

/// The error of the file behind a Parquet error, else the same error.
pub fn io_error(error: Error) -> std::result::Result<std::io::Error, Error> {
    match error {
        Error::External(source) => {
            source.downcast::<std::io::Error>().map(|error| *error).map_err(Error::External)
        }
        other => Err(other),
    }
}
