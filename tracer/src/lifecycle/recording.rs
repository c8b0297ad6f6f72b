//! The recorder of this process: the first range or the first queue begins it, and the end of the runtime or of the process ends
//! it.
//!
//! A program may use ranges long before it uses a GPU, or never use one. Both are recorded in one file.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use crate::base::published::Published;
use crate::base::recording_state;
use crate::base::settings::Settings;
use crate::base::try_lock::lock;
use crate::base::{headroom, log};
use crate::collect::batch_channel::{Sender, batch_channel};
use crate::collect::dispatch::Dispatch;
use crate::collect::recorder_state::RecorderState;
use crate::events::recorder_waker;
use crate::lifecycle::control;
use crate::write::record::{Ending, Recorder};

#[derive(Default)]
struct State {
    known: Option<Arc<RecorderState>>,
    /// The sender of dispatches, until a collector takes it.
    sender: Option<Sender<Dispatch>>,
    recorder: Option<Recorder>,
}

/// The recording in use. A forked child leaks the one of its parent, whose lock may be held.
static CURRENT: Published<Mutex<State>> = Published::new();

fn current() -> &'static Mutex<State> {
    let new = || CURRENT.set_first(Mutex::default()).unwrap_or_else(|there| there);
    CURRENT.get().unwrap_or_else(new)
}

fn state() -> MutexGuard<'static, State> {
    lock(current())
}

impl State {
    fn known(&mut self) -> Arc<RecorderState> {
        Arc::clone(self.known.get_or_insert_default())
    }

    /// Starts the thread unless there is one.
    fn begin(&mut self, settings: &Settings) -> io::Result<()> {
        if self.recorder.is_none() {
            let budget = Arc::clone(&self.known().budget);
            budget.set_bound(settings.buffer);
            let (sender, receiver) = batch_channel(budget);
            let waker = receiver.waker();
            headroom::for_a_thread()?;
            self.recorder = Some(Recorder::start(settings.clone(), self.known(), receiver, control::pause)?);
            self.sender = Some(sender);
            recorder_waker::set(waker);
        }
        recording_state::begin();
        Ok(())
    }
}

/// The shared state of the recorder, also before it has begun.
pub fn known() -> Arc<RecorderState> {
    state().known()
}

/// Begins the recording unless a range has; returns the sender of dispatches.
///
/// # Errors
/// The thread could not be started, or another collector has the sender.
pub fn open(settings: &Settings) -> io::Result<Sender<Dispatch>> {
    let mut state = state();
    state.begin(settings)?;
    state.sender.take().ok_or_else(|| io::ErrorKind::ResourceBusy.into())
}

/// Begins the recording for ranges. Where another thread is beginning it, this returns without waiting.
pub fn begin(settings: &Settings) {
    if let Ok(mut state) = current().try_lock()
        && let Err(error) = state.begin(settings)
    {
        recording_state::end();
        log::warn(format_args!("cannot start a thread: {error}; no range is recorded"));
    }
}

/// Makes the recorder create the file at the next request, and begins the recording of a runtime with these settings that has no
/// queue yet. False where there is nothing to record, or where another thread is beginning the recording: this never waits.
pub fn keep_file(settings: Option<&Settings>) -> bool {
    let Ok(mut state) = current().try_lock() else { return false };
    if let Some(settings) = settings
        && state.recorder.is_none()
        && state.begin(settings).is_err()
    {
        return false;
    }
    let begun = state.known.as_ref().filter(|_| state.recorder.is_some());
    begun.inspect(|known| known.creates_file.store(true, Ordering::Release)).is_some()
}

/// Ends the recording, if there is one, after the collector has given up its sender. The thread that ends the process may have
/// interrupted a thread that begins a recording, which is then left alone.
pub fn end(deadline: Instant) -> Ending {
    recording_state::end();
    let State { known, sender, recorder } = match current().try_lock() {
        Ok(mut state) => std::mem::take(&mut *state),
        Err(_) => return Ending::default(),
    };
    drop(sender);
    let ending = recorder.map(|recorder| recorder.finish(deadline)).unwrap_or_default();
    let why = ending.failure.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    if let Some(line) = known.and_then(|known| log::ranges_lost(&known.ranges.snapshot())) {
        log::warn_of_file(format_args!("{line}{why}"));
    }
    ending
}

/// True where a recording is running or is being begun.
pub fn has_begun() -> bool {
    current().try_lock().map_or(true, |state| state.recorder.is_some())
}

/// Called in the child of a fork, which owns nothing of its parent's recording. Does not allocate.
pub fn forget() {
    CURRENT.forget();
    recorder_waker::forget();
    recording_state::renew();
}
