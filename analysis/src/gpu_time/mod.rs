//! Where did the GPU time go? One module for each way to divide the time of kernels, copies, host calls and memory.

pub mod allocations;
pub mod api;
pub mod copies;
pub mod distribution;
pub(crate) mod drift;
pub mod kernels;
pub(crate) mod late_calls;
pub mod memory;
pub mod operators;
pub mod ranges;
pub mod rocprofv3;
pub mod rpt;
pub mod sweep;
