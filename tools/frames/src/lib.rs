//! The columns of a trace as polars DataFrames, for the tools that regroup, join and write columns.
//!
//! What it is: [`columns`] turns [`rtl_schema::Tables`] into frames, [`kernels`] numbers the kernels of many runs by joining
//! them, [`table`] has every table with all its columns and [`files`] writes them as CSV or Parquet. What it is not: the way to statistics of single kernels. Those need durations in launch order, and a counting
//! sort into one buffer (`rtl_analysis::profile`) does more for less than a partition of the same rows: docs/bench/tools.md.

pub mod columns;
pub mod files;
mod frame;
pub mod kernels;
pub mod table;

pub use polars::error::{PolarsError, PolarsResult};
pub use polars::frame::DataFrame;
