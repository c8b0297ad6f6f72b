//! Ranges and calls: one queue for each thread of the application, and the readers that empty them.

pub mod calls;
pub mod chain;
pub mod pending_threads;
pub mod recorder_waker;
pub mod ring;
pub mod roctx;
pub mod thread;
