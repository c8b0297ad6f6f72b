//! Start and end of the library, of the runtime's lives and of recordings, and requests to pause them.
//!
//! Nothing of the data plane (intercept, collect, events, write) imports this module, which publishes the state that they use.

pub mod control;
pub mod exit_hooks;
pub mod load;
pub mod presence;
pub mod recording;
pub mod tracer;
