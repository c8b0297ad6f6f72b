//! The columns of a trace as polars DataFrames, for the tools that regroup, join and write columns.
use polars as _;
use polars_io as _;
use schema as _;
