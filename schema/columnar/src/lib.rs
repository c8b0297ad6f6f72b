//! Parquet files of plain columns: signed integers, floating-point numbers, booleans and texts, each of which may be null.
//! The only crate that links `parquet`.
//!
//! [`Writer`] writes one row group after another, [`Reader`] reads a column of a row group. Types, encodings and compression are those that readers of 2023 know.

mod read;
mod values;
mod write;

pub use parquet::errors::ParquetError as Error;
pub use read::Reader;
pub use values::{Data, Field, Text, Type, Values};
pub use write::{Options, Writer};

/// The result of reading or writing.
pub type Result<T> = std::result::Result<T, Error>;
