//! Begin and end of calls, in the calling thread.

use crate::base::call_interface::{CallDetails, Function, StartedCall};

use super::call::{Call, CallParams};
use super::open::OpenCall;
use super::shown::UNATTRIBUTED;
use super::thread_calls::{CallStart, send};
use crate::base::clock;
use crate::base::cost::HOOKS;
use crate::base::counters::Skipped;
use crate::base::recording_state;
use crate::events::thread;
use crate::events::thread_state::with_state;

/// Begins a call. Ops that the thread enqueues from now on carry its number, except that a call of HSA within one of HIP leaves
/// them to that one. `begin_recording` begins a recording where there is none yet.
// Inlined, because the caller copies the result: as a whole, the processor would wait for its parts to be written.
#[inline(always)]
#[must_use]
pub fn begin(function: Function, begin_recording: impl FnOnce()) -> StartedCall {
    let Some(source) = function.source() else { return StartedCall::default() };
    let timed = HOOKS.begin();
    let unattributed = &UNATTRIBUTED[source as usize];
    if !recording_state::is_open() && !recording_state::opens(unattributed, begin_recording) {
        return StartedCall::default();
    }
    if thread::is_paused() {
        unattributed.skip(Skipped::Paused, 1);
        return StartedCall::default();
    }
    let CallStart { call, is_for_hip } = match with_state(|state| state.calls.begin(source, function)) {
        Ok(beginning) => beginning,
        Err(why) => {
            unattributed.lose(why, 1);
            return StartedCall::default();
        }
    };
    let OpenCall { correlation, parent, start, .. } = call;
    let link = if is_for_hip { thread::current().call } else { thread::set_call(correlation) };
    HOOKS.end(timed);
    StartedCall { start, correlation, parent, link }
}

/// Ends the innermost call of the thread, which [`begin`] has started.
#[inline]
pub fn end(
    started: &StartedCall,
    function: Function,
    status: i32,
    stream: u64,
    details: Option<&CallDetails>,
    arguments: &[u8],
) {
    let &StartedCall { start, correlation, parent, link } = started;
    if correlation == 0 {
        return;
    }
    let (timed, end) = (HOOKS.begin(), clock::now());
    thread::set_call(link);
    let Some(source) = function.source() else { return };
    // If the thread has no queue any more, the call counts as seen and not returned.
    let _ = with_state(|state| {
        if correlation < state.calls.first {
            return;
        }
        let params = details.and_then(CallParams::from_details);
        let call = Call { start, end, correlation, parent, stream, function, status };
        let is_sent = send(&mut state.queue, params, arguments, call);
        state.calls.end(source, &call, is_sent);
    });
    HOOKS.end(timed);
}
