//! `rtl`, installed and as a wheel.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod data_sets;
mod guides;
mod installed;
mod kept_lines;
mod memory;
mod mistakes;
mod packages;
mod planted;
mod wheel;
