//! The recorder's side: empties the queues of all threads and makes records of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::base::call_interface::Source;

use super::calls::open::OpenCall;
use super::calls::record::{CallReader, CallRecord, Open};
use super::calls::shown::{Shown, UNATTRIBUTED};
use super::event::Event;
use super::event_queue::BLOCK;
use super::pending_threads::PendingThreads;
use super::ranges::annotation::{Annotation, NestedRanges, StartedRanges};
use crate::base::clock;
use crate::base::cost::HOOKS;
use crate::base::counters::Counters;
use crate::base::spsc::Consumer;

/// Threads whose queues no recorder reads yet.
pub static PENDING_THREADS: PendingThreads<ReaderQueue> = PendingThreads::new();

/// Limit on the events that are taken from a thread before the next thread's turn.
const AT_ONCE: usize = 1024;

/// The counters of the calls of each source.
pub type CallCounters<'a> = [&'a Counters; Source::ALL.len()];

pub trait RecordSink {
    fn annotate(&mut self, annotation: &Annotation);
    fn add_call(&mut self, record: &CallRecord);
}

/// A thread's queue, from the recorder's side.
pub struct ReaderQueue {
    tid: u32,
    events: Consumer<Event, BLOCK>,
    ranges: NestedRanges,
    calls: CallReader,
}

/// Time at which the last recording ended, in ns of CLOCK_BOOTTIME.
static ENDED: AtomicI64 = AtomicI64::new(0);

pub struct Reader {
    queues: Vec<ReaderQueue>,
    started: StartedRanges,
    /// Calls that began before this time belong to the recording before, which has counted them.
    since: i64,
}

impl Default for Reader {
    fn default() -> Self {
        Self { queues: Vec::new(), started: StartedRanges::default(), since: ENDED.load(Ordering::Relaxed) }
    }
}

impl Reader {
    /// Takes some of the events of each thread; returns their number. If it is 0, all queues were empty.
    // Not inlined, so that profiles separate the cost of ranges and calls from that of dispatches.
    #[inline(never)]
    pub fn read(&mut self, counters: CallCounters<'_>, sink: &mut impl RecordSink) -> usize {
        self.queues.append(&mut PENDING_THREADS.take());
        let Self { queues, started, since } = self;
        let early = started.early();
        let mut events = 0;
        queues.retain_mut(|queue| {
            // Once the end of a thread is seen, everything that it has counted before is visible.
            let is_abandoned = queue.events.is_abandoned();
            let taken = queue.read(started, *since, sink);
            queue.calls.count(counters);
            events += taken;
            let is_over = is_abandoned && taken == 0;
            if is_over {
                // The thread has ended within these calls.
                queue.finish_calls(counters, started, *since, sink);
                queue.ranges.close(|annotation| sink.annotate(&annotation));
            }
            !is_over
        });
        if events == 0 {
            started.forget_early(early);
        }
        for (counters, unattributed) in counters.into_iter().zip(&UNATTRIBUTED) {
            counters.see(counters.take_over(unattributed));
        }
        events
    }

    /// The calls that began before this time and that threads are in now: the `most` ones that have taken longest.
    #[must_use]
    pub fn open_calls(&self, before: i64, most: usize) -> Vec<Open> {
        let open = |queue: &'_ ReaderQueue| {
            let tid = queue.tid;
            queue.open_calls().map(move |call| Open { tid, call }).collect::<Vec<_>>()
        };
        let mut open: Vec<Open> = self.queues.iter().flat_map(open).collect();
        open.retain(|open| (self.since..before).contains(&open.call.start));
        open.sort_unstable_by_key(|open| (open.call.start, open.call.correlation));
        open.truncate(most);
        open
    }

    /// Hands over the ranges that are open now, without an end. They are not handed over again when they end.
    pub fn close_ranges(&mut self, sink: &mut impl RecordSink) {
        for queue in &mut self.queues {
            queue.ranges.close(|annotation| sink.annotate(&annotation));
        }
        self.started.close(|annotation| sink.annotate(&annotation));
    }

    /// Called when the recording ends: takes the rest, and then the ranges and calls that have not ended. The queues wait for
    /// another recorder, which leaves out calls and ranges that began before.
    pub fn finish(&mut self, counters: CallCounters<'_>, sink: &mut impl RecordSink) {
        while self.read(counters, sink) > 0 {}
        for queue in &mut self.queues {
            queue.finish_calls(counters, &mut self.started, self.since, sink);
        }
        self.close_ranges(sink);
        ENDED.store(clock::now(), Ordering::Relaxed);
        for queue in self.queues.drain(..) {
            PENDING_THREADS.add(queue);
        }
    }
}

impl ReaderQueue {
    /// Called for a thread that has just begun.
    #[must_use]
    pub fn new(tid: u32, events: Consumer<Event, BLOCK>, shown: Arc<Shown>) -> Self {
        Self { tid, events, ranges: NestedRanges::default(), calls: CallReader::new(shown) }
    }

    pub(super) fn read(
        &mut self,
        started: &mut StartedRanges,
        since: i64,
        sink: &mut impl RecordSink,
    ) -> usize {
        let mut hooks = 0;
        let taken = self.take(&mut hooks, started, since, sink);
        HOOKS.count(hooks);
        taken
    }

    fn take(
        &mut self,
        hooks: &mut usize,
        started: &mut StartedRanges,
        since: i64,
        sink: &mut impl RecordSink,
    ) -> usize {
        for taken in 0..AT_ONCE {
            match self.events.pop() {
                None => return taken,
                Some(Event::Range(event)) => {
                    *hooks += 1;
                    let each = &mut |annotation| sink.annotate(&annotation);
                    started.follow(&mut self.ranges, self.tid, &event, each);
                }
                Some(Event::Params(params)) => self.calls.params = Some(params),
                Some(Event::Arguments(piece)) => self.calls.arguments.extend_from_slice(piece.bytes()),
                Some(Event::Call(call)) => {
                    let record = self.calls.returned(self.tid, call);
                    *hooks += 2;
                    if call.start >= since {
                        sink.add_call(&record);
                    }
                }
            }
        }
        AT_ONCE
    }

    pub(super) fn open_calls(&self) -> impl Iterator<Item = OpenCall> {
        self.calls.open()
    }

    /// Takes the rest, and then the calls that have not returned by now. Losses were read before, and include none of these.
    pub(super) fn finish_calls(
        &mut self,
        counters: CallCounters<'_>,
        started: &mut StartedRanges,
        since: i64,
        sink: &mut impl RecordSink,
    ) {
        let open = loop {
            let open: Vec<_> = self.open_calls().collect();
            // A call that returned before is in the queue.
            if self.read(started, since, sink) == 0 {
                break open;
            }
        };
        self.calls.count_seen(counters);
        for call in open.into_iter().filter(|call| call.start >= since) {
            sink.add_call(&CallRecord::unfinished(self.tid, &call));
        }
    }
}

#[cfg(test)]
mod tests;
