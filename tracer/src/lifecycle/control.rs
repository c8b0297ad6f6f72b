//! Pauses and resumes recording.

use crate::base::{output_sink, recording_state};
use crate::events::recorder_waker;
use crate::intercept::context;

/// Starts or stops leaving out dispatches and ranges. A repeated call changes nothing, and a recording that has ended for good
/// does not go on.
pub fn pause(is_paused: bool) {
    if !is_paused && output_sink::is_over() {
        return;
    }
    recording_state::pause(is_paused);
    if let Some(context) = context::get() {
        context.shared.pause(is_paused);
    }
    if is_paused {
        recorder_waker::wake();
    }
}
