//! Decides who receives the records of this process: a file, or callbacks of the program.

#![expect(unsafe_code, reason = "callbacks are shared by threads")]

use std::sync::atomic::{AtomicBool, Ordering};

use super::abi::{ARGUMENTS, Callbacks, ENQUEUED};
use crate::base::filter::Filter;
use crate::base::published::Published;
use crate::base::settings::{Mode, Settings};

/// Set in a process whose callbacks receive the records, for the processes that it starts: they find this library among the
/// runtime's tools too, and must leave no files.
pub const MARK: &str = "RTL_EMBEDDED";

/// Callbacks that a program has registered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registration {
    pub callbacks: Callbacks,
    /// The parsed [`Callbacks::mode`]; `None` where the environment decides.
    pub mode: Option<Mode>,
}

// SAFETY: `data` is only passed on, to one thread at a time, and the program is responsible for the memory behind it. `mode` is
// not read any more.
unsafe impl Sync for Callbacks {}

#[derive(Clone, Copy, Debug)]
pub enum OutputSink {
    File,
    Callbacks(&'static Registration),
    /// Nothing is recorded, because the program has stopped it, or because the program that started this one receives records.
    None,
}

static REGISTERED: Published<Registration> = Published::new();

/// Set when nothing is recorded, for good or until a forked child registers.
static OVER: AtomicBool = AtomicBool::new(false);

pub fn registered() -> Option<&'static Registration> {
    REGISTERED.get()
}

/// True if callbacks receive the records of calls.
#[inline]
pub fn takes_calls() -> bool {
    registered().is_some_and(|registered| registered.callbacks.calls.is_some())
}

/// The destination of a recording that begins now.
pub fn output_sink() -> OutputSink {
    if is_over() {
        OutputSink::None
    } else if let Some(registered) = registered() {
        OutputSink::Callbacks(registered)
    } else if std::env::var_os(MARK).is_some_and(|mark| !mark.is_empty()) {
        OutputSink::None
    } else {
        OutputSink::File
    }
}

/// Makes the program receive the records. False if another thread has registered before.
pub fn register(callbacks: Registration) -> bool {
    let is_first = REGISTERED.set_first(callbacks).is_ok();
    if is_first {
        OVER.store(false, Ordering::Release);
    }
    is_first
}

pub fn is_over() -> bool {
    OVER.load(Ordering::Acquire)
}

/// Stops recording.
pub fn end() {
    OVER.store(true, Ordering::Release);
}

/// Called in the child of a fork, where the data behind the callbacks may be in any state.
pub fn forget() {
    if REGISTERED.forget() {
        end();
    }
}

impl Registration {
    /// True if there is a callback for any kind of record.
    #[must_use]
    pub fn is_any(&self) -> bool {
        let Callbacks { kernels, copies, ranges, calls, barriers, .. } = self.callbacks;
        let has_ops = kernels.is_some() || copies.is_some() || barriers.is_some();
        has_ops || ranges.is_some() || calls.is_some()
    }

    /// Reduces the settings to the records that the callbacks receive.
    pub fn adapt(&self, settings: &mut Settings) {
        let Callbacks { kernels, copies, calls, barriers, options, .. } = self.callbacks;
        settings.mode = match self.mode.unwrap_or(settings.mode) {
            _ if calls.is_some() => Mode::Hip,
            Mode::Hip => Mode::Standard,
            other => other,
        };
        if calls.is_none() {
            settings.hsa_filter = Filter::default();
        }
        settings.barriers = barriers.is_some();
        // Kernels and barriers are on the same queues.
        settings.no_kernels = kernels.is_none() && !settings.barriers;
        settings.no_copies |= copies.is_none();
        settings.host_dispatch |= options & ENQUEUED != 0;
        settings.hip_arguments |= options & ARGUMENTS != 0;
        settings.hsa_arguments |= options & ARGUMENTS != 0;
    }
}
