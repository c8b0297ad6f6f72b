//! Start and end: of the library, of the runtime's lives, of recordings, and requests to pause them.

pub mod control;
pub mod exit_hooks;
pub mod load;
pub mod recording;
pub mod tracer;
