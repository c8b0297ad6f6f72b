//! Says of a call that it begins and that it has ended, whatever happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::call_interface::{Function, Source, StartedCall};
use hsa_sys::bindings::HSA_STATUS_ERROR;

use super::arguments::Text;
use crate::events::calls::hooks;

static WITH_ARGUMENTS: AtomicBool = AtomicBool::new(false);

/// Begins a recording for a call where there is none yet.
static BEGIN_RECORDING: OnceLock<fn()> = OnceLock::new();

/// Sets the function that begins a recording; only the first call counts.
pub fn begin_recordings_by(begin: fn()) {
    let _ = BEGIN_RECORDING.set(begin);
}

/// From now on, whether calls are told with their arguments.
pub fn record_arguments(are_told: bool) {
    WITH_ARGUMENTS.store(are_told, Ordering::Relaxed);
}

/// The arguments of a call that is about to begin, where they are told.
#[inline(always)]
pub fn arguments(say: impl FnOnce(&mut Text)) -> Option<Text> {
    if !WITH_ARGUMENTS.load(Ordering::Relaxed) {
        return None;
    }
    let say = || {
        let mut text = Text::default();
        say(&mut text);
        text
    };
    catch_unwind(AssertUnwindSafe(say)).ok()
}

/// A call of this function begins.
pub fn begin(number: u16) -> StartedCall {
    let begin_recording = || {
        if let Some(begin) = BEGIN_RECORDING.get() {
            begin();
        }
    };
    catch_unwind(|| hooks::begin(Function::new(Source::Hsa, number), begin_recording)).unwrap_or_default()
}

/// The call of this function has ended with this status, 0 where it returns none.
pub fn end(started: &StartedCall, number: u16, status: i32, arguments: Option<&Text>) {
    let arguments = arguments.map_or(&[][..], Text::bytes);
    let _ =
        catch_unwind(|| hooks::end(started, Function::new(Source::Hsa, number), status, 0, None, arguments));
}

/// A call that is going on, with what is told of its arguments.
pub struct Call {
    started: StartedCall,
    number: u16,
    arguments: Option<Text>,
}

impl Call {
    /// A call of this function begins.
    #[inline]
    pub fn begin(number: u16, arguments: Option<Text>) -> Self {
        Self { started: begin(number), number, arguments }
    }

    /// It has ended with this status, 0 where it returns none.
    #[inline]
    pub fn end(mut self, status: i32) {
        end(&self.started, self.number, status, self.arguments.take().as_ref());
        std::mem::forget(self);
    }
}

/// An exception of a callback of the application leaves it, or the thread ends in it.
impl Drop for Call {
    fn drop(&mut self) {
        end(&self.started, self.number, HSA_STATUS_ERROR as i32, self.arguments.as_ref());
    }
}
