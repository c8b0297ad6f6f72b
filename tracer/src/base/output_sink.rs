//! Who gets the records of this process.

#![expect(unsafe_code, reason = "callbacks are shared by threads")]

use std::sync::atomic::{AtomicBool, Ordering};

use super::abi::{ARGUMENTS, Callbacks, ENQUEUED};
use crate::base::filter::Filter;
use crate::base::published::Published;
use crate::base::settings::{Mode, Settings};

/// Set in a process whose program gets the records, for the sake of those that it starts: they find this library among
/// the runtime's tools too, and leave no files.
pub const MARK: &str = "RTL_EMBEDDED";

/// Callbacks that a program has registered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registered {
    pub callbacks: Callbacks,
    /// [`Callbacks::mode`]; `None`: what the environment says.
    pub mode: Option<Mode>,
}

// SAFETY: `data` is only ever passed on; what is behind it is the business of who gets it, on one thread at a time. `mode` is
// not read any more.
unsafe impl Sync for Callbacks {}

/// The destination of the records.
#[derive(Clone, Copy, Debug)]
pub enum OutputSink {
    File,
    Callbacks(&'static Registered),
    /// Nobody: the program has stopped it, or another program has, of which this is a child.
    None,
}

static REGISTERED: Published<Registered> = Published::new();

/// Set when nothing is recorded, for good or until a forked child registers.
static OVER: AtomicBool = AtomicBool::new(false);

/// The callbacks, where there are any.
pub fn registered() -> Option<&'static Registered> {
    REGISTERED.get()
}

/// True where the program gets the records of calls.
#[inline]
pub fn takes_calls() -> bool {
    registered().is_some_and(|registered| registered.callbacks.calls.is_some())
}

/// Who gets the records of a recording that begins now.
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

/// From now on the program gets the records. False when someone was faster.
pub fn register(callbacks: Registered) -> bool {
    let is_first = REGISTERED.set_first(callbacks).is_ok();
    if is_first {
        OVER.store(false, Ordering::Release);
    }
    is_first
}

pub fn is_over() -> bool {
    OVER.load(Ordering::Acquire)
}

/// Nothing is recorded from now on.
pub fn end() {
    OVER.store(true, Ordering::Release);
}

/// In the child of a fork: what the program prepared for its callbacks may be in any state.
pub fn forget() {
    if REGISTERED.forget() {
        end();
    }
}

impl Registered {
    /// False where nobody gets records.
    #[must_use]
    pub fn is_any(&self) -> bool {
        let Callbacks { kernels, copies, ranges, calls, barriers, .. } = self.callbacks;
        let has_ops = kernels.is_some() || copies.is_some() || barriers.is_some();
        has_ops || ranges.is_some() || calls.is_some()
    }

    /// The settings of a recording that nobody wants more of than this.
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
