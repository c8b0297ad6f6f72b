//! Names in the files that rtl writes, shared by their readers and writers.

pub mod objects;
pub mod rpd;
pub mod tags;
