//! `rtl-trace` on simulated GPUs.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod gate;
mod hip;
mod killed;
mod processes;
mod running;
mod traced;
