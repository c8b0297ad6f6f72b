//! Tests of the recorder and of the names of kernels, through the crate's public functions.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod file_size;
mod kernel_names;
mod kill;
mod real_names;
