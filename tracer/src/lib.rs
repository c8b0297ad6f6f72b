//! librtl.so: a guest in someone else's process, loaded by the ROCm runtime (`HSA_TOOLS_LIB`), that records every
//! kernel which the process dispatches.
//!
//! The way of one dispatch (docs/dispatch.md): the runtime calls the interceptor on the application's thread, which
//! takes a slot of the queue, puts the slot's signal into a copy of the packet and hands the slot to the collector.
//! That thread notices the completion, reads the times, and hands a [`dispatch::Dispatch`] to the recorder
//! ([`record`]) through a bounded [`handover`](mod@handover). Only the recorder touches files.
//!
//! `unsafe` is opened function by function, in the modules that speak C. Everything that decides is safe code.

pub mod api;
pub mod counters;
pub mod dispatch;
pub mod gpus;
pub mod handover;
pub mod kernels;
pub mod record;
pub mod registry;
pub mod settings;

use std::ffi::{c_char, c_void};

/// What the runtime calls when it has loaded this library: `table` is an `HsaApiTable`. Always true: a library
/// that cannot record lets the program run all the same.
#[expect(unsafe_code, reason = "the runtime finds this function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn OnLoad(
    _table: *mut c_void,
    _runtime_version: u64,
    _failed_tool_count: u64,
    _failed_tool_names: *const *const c_char,
) -> bool {
    true
}

/// What the runtime calls from `hsa_shut_down`, which HIP programs of ROCm 5 never do.
#[expect(unsafe_code, reason = "the runtime finds this function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn OnUnload() {}
