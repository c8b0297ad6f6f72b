//! Reports the begin and the end of each call, even one that an exception leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::call_interface::{Function, Source, StartedCall};
use hsa_sys::bindings::HSA_STATUS_ERROR;

use super::arguments::Text;
use crate::events::calls::hooks;

static WITH_ARGUMENTS: AtomicBool = AtomicBool::new(false);

static BEGIN_RECORDING: OnceLock<fn()> = OnceLock::new();

/// Sets the function that begins a recording for a call where there is none yet; only the first call counts.
pub fn set_begin_recording(begin: fn()) {
    let _ = BEGIN_RECORDING.set(begin);
}

pub fn record_arguments(are_recorded: bool) {
    WITH_ARGUMENTS.store(are_recorded, Ordering::Relaxed);
}

/// The arguments of a call that is about to begin, if they are recorded.
#[inline(always)]
pub fn arguments(format: impl FnOnce(&mut Text)) -> Option<Text> {
    if !WITH_ARGUMENTS.load(Ordering::Relaxed) {
        return None;
    }
    let format = || {
        let mut text = Text::default();
        format(&mut text);
        text
    };
    catch_unwind(AssertUnwindSafe(format)).ok()
}

pub fn begin(number: u16) -> StartedCall {
    let begin_recording = || {
        if let Some(begin) = BEGIN_RECORDING.get() {
            begin();
        }
    };
    catch_unwind(|| hooks::begin(Function::new(Source::Hsa, number), begin_recording)).unwrap_or_default()
}

/// `status` is 0 where the function returns none.
pub fn end(started: &StartedCall, number: u16, status: i32, arguments: Option<&Text>) {
    let arguments = arguments.map_or(&[][..], Text::bytes);
    let _ =
        catch_unwind(|| hooks::end(started, Function::new(Source::Hsa, number), status, 0, None, arguments));
}

/// A call in progress, with its arguments if they are recorded.
pub struct Call {
    started: StartedCall,
    number: u16,
    arguments: Option<Text>,
}

impl Call {
    #[inline]
    pub fn begin(number: u16, arguments: Option<Text>) -> Self {
        Self { started: begin(number), number, arguments }
    }

    /// `status` is 0 where the function returns none.
    #[inline]
    pub fn end(mut self, status: i32) {
        end(&self.started, self.number, status, self.arguments.take().as_ref());
        std::mem::forget(self);
    }
}

/// Ends a call that an exception of an application's callback leaves, or in which the thread ends.
impl Drop for Call {
    fn drop(&mut self) {
        end(&self.started, self.number, HSA_STATUS_ERROR as i32, self.arguments.as_ref());
    }
}
