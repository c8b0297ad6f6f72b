//! From a submitted packet to a completed one: slots, signals and the collector's thread, which hands batches to the writer.

pub mod batch_channel;
pub mod collector;
pub mod copies;
pub mod copy_or_barrier;
pub mod dispatch;
pub mod forwarded_copies;
pub mod names;
pub mod parker;
pub mod queue_channel;
pub mod recorder_state;
pub mod runtime;
pub mod shared;
pub mod signal_tracker;
pub mod signals;
pub mod slot;
