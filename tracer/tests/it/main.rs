//! The recorder and the names of kernels, from outside.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod file_size;
mod kernel_names;
mod kill;
mod real_names;
