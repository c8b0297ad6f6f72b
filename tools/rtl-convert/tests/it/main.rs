//! `rtl-convert`, judged by readers of each format.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

mod columns;
mod cut_off;
mod databases;
mod drawing;
mod formats;
mod interrupted;
mod options;
mod perfetto;
mod perfetto_json;
mod pftrace;
mod rocprofv3;
mod split;
mod streams;
