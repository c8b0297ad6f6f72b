//! The columns of a trace as polars DataFrames, for the tools that regroup, join and write columns.
//!
//! What it is: [`columns`] turns [`schema::Tables`] into frames, [`kernels`] numbers the kernels of many runs by joining
//! them. What it is not: the way to statistics of single kernels. Those need durations in launch order, and a counting
//! sort into one buffer (`analysis::profile`) does more for less than a partition of the same rows: docs/bench.md.

pub mod columns;
pub mod kernels;

pub use polars::error::{PolarsError, PolarsResult};
pub use polars::frame::DataFrame;
// The codecs of columnar files are named here, so that every tool that writes them gets the same ones.
pub use polars_io::csv::write::CsvWriter;
pub use polars_io::parquet::write::ParquetWriter;
