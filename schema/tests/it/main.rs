//! Reading of traces, dialect by dialect.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod bounds;
mod databases;
mod detect;
mod dialect_jax;
mod dialect_kineto;
mod dialect_lite;
mod dialect_native;
mod dialect_nsys;
mod dialect_rocprof;
mod dialect_rocprofiler;
mod dialect_rocprofiler_csv;
mod dialect_rocprofiler_json;
mod dialect_rpd;
mod dialect_rtg;
mod fast_ops;
mod fixture;
mod fuzz_smoke;
mod growing;
mod kineto_samples;
mod live;
mod op_pieces;
mod opening;
mod queries;
mod scan;
mod stream;
mod totals;
mod truncated_names;
