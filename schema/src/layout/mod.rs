//! Names in the files that rtl writes, shared by their readers and writers.

pub(crate) mod rpd;
pub mod tags;
