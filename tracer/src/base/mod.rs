//! Modules that every folder uses: the runtime's functions, settings, counters, clock, locks, messages, packets, and facts about
//! GPUs and kernels. This folder imports none of the others.

pub mod abi;
#[cfg(test)]
pub(crate) mod allocation_count;
pub mod api;
pub mod budget;
pub mod call_interface;
pub mod clock;
pub mod cost;
pub mod counters;
pub mod fault;
pub mod filter;
pub mod gpus;
pub mod headroom;
pub mod kernels;
pub mod log;
pub mod memory;
pub mod output_sink;
pub mod packet;
pub mod process;
pub mod published;
pub mod recording_state;
pub mod registry;
pub mod settings;
pub mod spsc;
pub mod timed_mutex;
pub mod try_lock;
pub mod variables;
