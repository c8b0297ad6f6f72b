//! `rtl-trace` on simulated GPUs.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

#[cfg(feature = "dataset")]
mod data_set;
mod gate;
mod hip;
mod killed;
mod processes;
mod running;
mod traced;
