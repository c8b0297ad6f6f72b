//! The tables of a trace as CSV and Parquet files.
//!
//! [`table`] declares every table with its columns, [`files`] writes them on several threads.

mod csv;
pub mod files;
mod layout;
mod row_groups;
mod rows;
pub mod table;

pub use row_groups::{Encoded, RowGroup};
pub use rows::{Column, Piece, Selected};
