//! librtl.so: a guest in someone else's process, loaded by the ROCm runtime (`HSA_TOOLS_LIB`), that records every
//! kernel which the process dispatches.
//!
//! The way of one dispatch (docs/design/dispatch.md): the runtime calls the interceptor on the application's thread, which
//! takes a slot of the queue, puts the slot's signal into a copy of the packet and hands the slot to the collector.
//! That thread notices the completion, reads the times, and hands a [`dispatch::Dispatch`] to the recorder
//! ([`record`]) through a bounded [`handover`](mod@handover). Only the recorder touches files.
//!
//! `unsafe` is opened function by function, in the modules that speak C. Everything that decides is safe code.

pub mod api;
pub mod budget;
pub mod calls;
pub mod chain;
pub mod clock;
pub mod collector;
pub mod control;
pub mod cooperative;
pub mod copies;
pub mod cost;
pub mod counters;
pub mod dispatch;
pub mod embed;
pub mod fault;
pub mod gpus;
pub mod handover;
pub mod headroom;
pub mod hooks;
pub mod hsa;
pub mod identity;
pub mod kernels;
pub mod lane;
pub mod latch;
pub mod leave;
pub mod load;
pub mod lookup;
pub mod memory;
pub mod names;
pub mod newcomers;
pub mod others;
pub mod output;
pub mod packet;
pub mod process;
pub mod record;
pub mod recording;
pub mod registry;
pub mod requests;
pub mod ring;
pub mod roctx;
pub mod runtime;
pub mod settings;
pub mod shared;
pub mod signals;
pub mod slot;
pub mod staging;
pub mod story;
pub mod submit;
pub mod thread;
pub mod tracer;
pub mod turns;
pub mod wake;
pub mod watch;
pub mod wrapped;
