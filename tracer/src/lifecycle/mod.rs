//! Start and end: of the library, of the runtime's lives, of recordings, and requests to pause them.
//!
//! Nothing of the data plane (intercept, collect, events, write) imports this: it works with what is published for it.

pub mod control;
pub mod exit_hooks;
pub mod load;
pub mod presence;
pub mod recording;
pub mod tracer;

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// The life cycle of this process.
static LIFECYCLE: Lifecycle = Lifecycle {
    tracer: AtomicPtr::new(ptr::null_mut()),
    recording: AtomicPtr::new(ptr::null_mut()),
    has_loaded: AtomicBool::new(false),
    has_complained: AtomicBool::new(false),
    is_at_exit: AtomicBool::new(false),
};

struct Lifecycle {
    /// The runtime's present life, or its last one; null before the first. One that is there is never freed.
    tracer: AtomicPtr<tracer::Tracer>,
    /// The recording in use; null before it is asked for. Whatever lies in one that a fork has copied stays there.
    recording: AtomicPtr<Mutex<recording::State>>,
    /// Whether the runtime has loaded this library.
    has_loaded: AtomicBool,
    /// Whether the settings have been read, and complaints about them printed.
    has_complained: AtomicBool,
    /// Whether the end of the process is noticed.
    is_at_exit: AtomicBool,
}
