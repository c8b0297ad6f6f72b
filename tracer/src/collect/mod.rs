//! From a submitted packet to a completed one: slots, signals and the collector's thread, which hands batches to the writer.

pub mod collector;
pub mod dispatch;
pub mod handover;
pub mod lane;
pub mod names;
pub mod others;
pub mod runtime;
pub mod shared;
pub mod signals;
pub mod slot;
pub mod wake;
pub mod watch;
