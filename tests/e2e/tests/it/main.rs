//! One hazard per file. Where the runtime is not installed each test says so in one line.

#![expect(clippy::unwrap_used, reason = "a test fails loudly and prints figures")]

mod again;
mod barriers;
mod batches;
mod code_objects;
mod containers;
mod copies;
mod dependencies;
mod descriptors;
mod embedding;
mod ends;
mod enqueued;
mod execs;
mod exports;
mod floor;
mod forks;
mod generations;
mod hardware;
mod hip;
mod hip_calls;
mod hip_graphs;
mod hip_launches;
mod hip_memory;
mod hsa_calls;
mod leftovers;
mod modes;
mod multiprocessing;
mod no_work;
mod output;
mod own_signal;
mod profiler;
mod queues;
mod quiet;
mod ranges;
mod ranks;
mod readers;
mod real;
mod rights;
mod roctx_edges;
mod shared_signal;
mod signal_reuse;
mod soak;
mod threads;
mod valgrind;
mod windows;
