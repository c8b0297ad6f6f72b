//! Start and end: of the library, of the runtime's lives, of recordings, and requests to pause them.
//!
//! Nothing of the data plane (intercept, collect, events, write) imports this: it works with what is published for it.

pub mod control;
pub mod exit_hooks;
pub mod load;
pub mod presence;
pub mod recording;
pub mod tracer;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::base::published::Published;

/// The life cycle of this process.
static LIFECYCLE: Lifecycle = Lifecycle {
    tracer: Published::new(),
    recording: Published::new(),
    has_loaded: AtomicBool::new(false),
    has_complained: AtomicBool::new(false),
    is_at_exit: AtomicBool::new(false),
};

struct Lifecycle {
    /// The runtime's present life, or its last one.
    tracer: Published<tracer::Tracer>,
    /// The recording in use. Whatever lies in one that a fork has copied stays there.
    recording: Published<Mutex<recording::State>>,
    /// Whether the runtime has loaded this library.
    has_loaded: AtomicBool,
    /// Whether the settings have been read, and complaints about them printed.
    has_complained: AtomicBool,
    /// Whether the end of the process is noticed.
    is_at_exit: AtomicBool,
}
