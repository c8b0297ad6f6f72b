//! Makes records of the calls of a thread, in the recorder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::call_interface::Source;

use super::call::{Call, CallParams};
use super::open::OpenCall;
use super::shown::{Counts, Shown};
use crate::base::counters::{Counters, Lost};
use crate::base::memory;

/// A call as it is written.
pub struct CallRecord {
    /// The thread that made it.
    pub tid: u32,
    pub call: Call,
    /// `None` where parameters are not recorded.
    pub params: Option<CallParams>,
    /// `None` where arguments are not recorded.
    pub arguments: Option<Box<str>>,
}

impl CallRecord {
    #[must_use]
    pub const fn unfinished(tid: u32, call: &OpenCall) -> Self {
        Self { tid, call: Call::unfinished(call), params: None, arguments: None }
    }
}

/// An open call and its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    pub tid: u32,
    pub call: OpenCall,
}

pub struct CallReader {
    shown: Arc<Shown>,
    /// The counts at the last look.
    known: Counts,
    /// The number of the call that was taken last.
    last: u64,
    /// Parameters of the next call.
    pub params: Option<CallParams>,
    /// Arguments of the next call, as far as they have come.
    pub arguments: Vec<u8>,
}

impl CallReader {
    #[must_use]
    pub fn new(shown: Arc<Shown>) -> Self {
        Self { shown, known: Counts::default(), last: 0, params: None, arguments: Vec::new() }
    }

    /// Makes the record of a call that has returned, with its parameters and arguments, which came before.
    #[inline]
    pub fn returned(&mut self, tid: u32, call: Call) -> CallRecord {
        let has_arguments = !self.arguments.is_empty();
        let arguments = has_arguments.then(|| String::from_utf8_lossy(&self.arguments).into_owned().into());
        self.arguments.clear();
        self.last = call.correlation;
        CallRecord { tid, call, params: self.params.take(), arguments }
    }

    /// The open calls of the thread. If its queue is empty, only the call that was taken last may still look open, and is left
    /// out.
    pub fn open(&self) -> impl Iterator<Item = OpenCall> {
        self.shown.open.look().filter(|call| call.correlation != self.last)
    }

    /// Counts the thread's calls and losses since the last time.
    pub fn count(&mut self, counters: [&Counters; Source::ALL.len()]) {
        // Losses are read first, because each was seen before.
        let behind = [0, 1].map(|at| since_last(&self.shown.counts.behind[at], &self.known.behind[at]));
        self.count_seen(counters);
        let why = if memory::is_short() { Lost::Memory } else { Lost::Behind };
        counters.into_iter().zip(behind).for_each(|(counters, behind)| counters.lose(why, behind));
    }

    /// Counts the thread's calls since the last time.
    pub fn count_seen(&mut self, counters: [&Counters; Source::ALL.len()]) {
        for (at, counters) in counters.into_iter().enumerate() {
            counters.see(since_last(&self.shown.counts.seen[at], &self.known.seen[at]));
        }
    }
}

fn since_last(now: &AtomicU64, known: &AtomicU64) -> u64 {
    let now = now.load(Ordering::Acquire);
    now - known.swap(now, Ordering::Relaxed)
}
