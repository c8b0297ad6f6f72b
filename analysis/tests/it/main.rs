//! Analysis of traces, against values by hand, generated truth and real traces.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod advice;
mod common;
mod host_findings;
mod idle;
mod idle_oracle;
mod jobs;
mod judgements;
mod launches;
mod live;
mod memory_events;
mod modules;
mod nesting;
mod operators;
mod profile;
mod properties;
mod ranks;
mod rocprofv3;
mod rpt;
mod stories;
mod thread_counts;
mod work;
