//! Start and end: of the library, of the runtime's lives, of recordings, and requests to pause them.
//!
//! Nothing of the data plane (intercept, collect, events, write) imports this: it works with what is published for it.

pub mod control;
pub mod exit_hooks;
pub mod load;
pub mod presence;
pub mod recording;
pub mod tracer;
