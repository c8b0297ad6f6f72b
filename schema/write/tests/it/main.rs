//! Writing of traces, read back.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod append;
mod append_like;
mod call_bytes;
mod pieces;
mod round_trip;
mod rpd_written;
mod views;
mod write;
