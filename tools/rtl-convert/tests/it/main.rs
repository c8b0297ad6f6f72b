//! `rtl-convert`, judged by readers of each format.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

#[cfg(feature = "columns")]
mod any_run;
mod any_trace;
mod columns;
mod cut_off;
mod databases;
mod dataset;
mod drawing;
mod formats;
mod frameworks;
mod fuzz_smoke;
mod idle_causes;
mod interrupted;
mod loopback;
mod options;
mod perfetto;
mod perfetto_json;
mod pftrace;
mod readers;
mod regions;
mod rocprof;
mod rocprofv3;
mod split;
mod streams;
mod threads;
