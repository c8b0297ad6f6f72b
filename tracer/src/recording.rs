//! The recorder of this process: begun by the first range or the first queue, whichever comes first, ended with the
//! runtime or the process.
//!
//! A program may use ranges long before it uses a GPU, or never use one. What both hand over goes to one file.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use std::{io, ptr};

use crate::dispatch::Dispatch;
use crate::handover::{Nudge, Sender, handover};
use crate::latch::lock;
use crate::record::{Ending, Known, Recorder};
use crate::settings::Settings;
use crate::{control, headroom, story};

/// What there is of a recording.
#[derive(Default)]
struct State {
    known: Option<Arc<Known>>,
    /// What dispatches are handed over by, until a collector takes it.
    sender: Option<Sender<Dispatch>>,
    recorder: Option<Recorder>,
}

/// The one in use; null before it is asked for. Whatever lies in one that a fork has copied stays there.
static CURRENT: AtomicPtr<Mutex<State>> = AtomicPtr::new(ptr::null_mut());

/// Wakes the recorder.
static NUDGE: AtomicPtr<Nudge> = AtomicPtr::new(ptr::null_mut());

#[expect(unsafe_code, reason = "a pointer that is read by threads of the application at any time")]
fn current() -> &'static Mutex<State> {
    // SAFETY: null, or what was put there below, which is never freed.
    if let Some(current) = unsafe { CURRENT.load(Ordering::Acquire).as_ref() } {
        return current;
    }
    let new = Box::into_raw(Box::default());
    let put = CURRENT.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
    let current = put.map_or_else(
        |other| {
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            other
        },
        |_| new,
    );
    // SAFETY: what is put there is never freed.
    unsafe { &*current }
}

fn state() -> MutexGuard<'static, State> {
    lock(current())
}

impl State {
    fn known(&mut self) -> Arc<Known> {
        Arc::clone(self.known.get_or_insert_default())
    }

    /// Starts the thread unless there is one.
    fn begin(&mut self, settings: &Settings) -> io::Result<()> {
        if self.recorder.is_none() {
            let budget = Arc::clone(&self.known().budget);
            budget.set_bound(settings.buffer);
            let (sender, receiver) = handover(budget);
            let nudge = Box::into_raw(Box::new(receiver.nudge()));
            headroom::for_a_thread()?;
            self.recorder = Some(Recorder::start(settings.clone(), Vec::new(), self.known(), receiver)?);
            self.sender = Some(sender);
            NUDGE.store(nudge, Ordering::Release);
        }
        control::begin();
        Ok(())
    }
}

/// What the recorder knows besides what is handed over to it, also before it has begun.
pub fn known() -> Arc<Known> {
    state().known()
}

/// Begins the recording unless a range has; what dispatches are handed over by.
///
/// # Errors
/// The thread could not be started, or another collector has the sender.
pub fn open(settings: &Settings) -> io::Result<Sender<Dispatch>> {
    let mut state = state();
    state.begin(settings)?;
    state.sender.take().ok_or_else(|| io::ErrorKind::ResourceBusy.into())
}

/// Begins the recording for the sake of ranges. Whoever finds someone else at it does not wait.
pub fn begin(settings: &Settings) {
    if let Ok(mut state) = current().try_lock()
        && let Err(error) = state.begin(settings)
    {
        control::end();
        story::say(format_args!("cannot start a thread: {error}; no range is recorded"));
    }
}

/// What wakes the recorder, while there is one.
#[expect(unsafe_code, reason = "a pointer that is read by threads of the application at any time")]
pub fn recorder() -> Option<&'static Nudge> {
    // SAFETY: null, or what `begin` has put there, which is never freed.
    unsafe { NUDGE.load(Ordering::Acquire).as_ref() }.filter(|nudge| !nudge.is_done())
}

/// Has the recorder look before its time.
pub fn nudge() {
    if let Some(recorder) = recorder() {
        recorder.give();
    }
}

/// Ends the recording, if there is one; the collector has given up its sender. Whoever ends the process may have
/// interrupted a thread that begins one: that one is left alone.
pub fn end(deadline: Instant) -> Ending {
    control::end();
    let State { known, sender, recorder } = match current().try_lock() {
        Ok(mut state) => std::mem::take(&mut *state),
        Err(_) => return Ending::default(),
    };
    drop(sender);
    let ending = recorder.map(|recorder| recorder.finish(deadline)).unwrap_or_default();
    let why = ending.failure.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    if let Some(line) = known.and_then(|known| story::ranges_lost(&known.ranges.snapshot())) {
        story::say_of_file(format_args!("{line}{why}"));
    }
    ending
}

/// Whether there is a recording, or was one that the process has not ended.
pub fn has_begun() -> bool {
    current().try_lock().map_or(true, |state| state.recorder.is_some())
}

/// In the child of a fork: nothing of this is its own. Allocates nothing.
pub fn forget() {
    CURRENT.store(ptr::null_mut(), Ordering::Release);
    NUDGE.store(ptr::null_mut(), Ordering::Release);
    control::renew();
}
