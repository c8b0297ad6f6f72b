//! Tests of the simulated KFD below real ROCm runtimes.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod behaviour;
mod common;
mod kernels;
mod real;
mod runtime;
mod stacks;
