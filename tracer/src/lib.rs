//! librtl.so: a guest in someone else's process, loaded by the ROCm runtime (`HSA_TOOLS_LIB`), that records every
//! kernel which the process dispatches.
//!
//! The path of one dispatch (docs/design/dispatch.md): the runtime calls the interceptor on the application's thread, which
//! takes a slot of the queue, puts the slot's signal into a copy of the packet and hands the slot to the collector.
//! That thread notices the completion, reads the times, and hands a [`collect::dispatch::Dispatch`] to the recorder
//! ([`write::record`]) through a bounded [`collect::batch_channel`]. Only the recorder touches files.
//!
//! `unsafe` is opened function by function, in the modules that speak C. Everything that decides is safe code.

pub mod base;
pub mod capi;
pub mod collect;
pub mod events;
pub mod intercept;
pub mod lifecycle;
pub mod write;
