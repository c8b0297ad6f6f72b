//! One hazard per file. Where the runtime is not installed each test says so in one line.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails loudly and says what it skips")]

mod again;
mod batches;
mod code_objects;
mod dependencies;
mod ends;
mod exports;
mod floor;
mod modes;
mod no_work;
mod own_signal;
mod profiler;
mod queues;
mod readers;
mod real_programs;
mod shared_signal;
mod signal_reuse;
mod threads;
