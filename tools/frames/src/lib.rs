//! The tables of a trace as polars DataFrames, and as CSV and Parquet files.
//!
//! [`table`] declares every table with its columns, [`files`] writes them.
//! Statistics of single kernels are not made here: they need durations in launch order, which `rtl_analysis::profile`
//! computes without frames.

pub mod files;
mod frame;
pub mod table;

pub use polars::error::{PolarsError, PolarsResult};
pub use polars::frame::DataFrame;
