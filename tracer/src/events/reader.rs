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
use super::ranges::annotation::{Annotation, Nesting, Started};
use crate::base::clock;
use crate::base::cost::HOOKS;
use crate::base::counters::Counters;
use crate::base::spsc::Consumer;

/// Threads whose queues no recorder reads yet.
pub static PENDING_THREADS: PendingThreads<ReaderQueue> = PendingThreads::new();

/// Events that are taken from a thread at once.
const AT_ONCE: usize = 1024;

/// The counters of the calls of each source.
pub type CallCounters<'a> = [&'a Counters; Source::ALL.len()];

/// Takes the records.
pub trait RecordSink {
    /// A range, a marker or a name.
    fn annotate(&mut self, annotation: &Annotation);
    /// A call.
    fn add_call(&mut self, record: &CallRecord);
}

/// A thread's queue as the recorder finds it.
pub struct ReaderQueue {
    tid: u32,
    events: Consumer<Event, BLOCK>,
    ranges: Nesting,
    calls: CallReader,
}

/// When the last recording ended, in ns of CLOCK_BOOTTIME.
static ENDED: AtomicI64 = AtomicI64::new(0);

/// Reads the queues of all threads.
pub struct Reader {
    queues: Vec<ReaderQueue>,
    started: Started,
    /// Calls that were begun before this belong to the recording before, which has counted them.
    since: i64,
}

impl Default for Reader {
    fn default() -> Self {
        Self { queues: Vec::new(), started: Started::default(), since: ENDED.load(Ordering::Relaxed) }
    }
}

impl Reader {
    /// Takes some of the events of each thread; how many that were. When there are none, all queues were empty.
    // Profiles tell by it what ranges and calls cost from what dispatches do.
    #[inline(never)]
    pub fn read(&mut self, counters: CallCounters<'_>, sink: &mut impl RecordSink) -> usize {
        self.queues.append(&mut PENDING_THREADS.take());
        let Self { queues, started, since } = self;
        let early = started.early();
        let mut events = 0;
        queues.retain_mut(|queue| {
            // What a thread has counted before it went is visible after its end was seen.
            let is_abandoned = queue.events.is_abandoned();
            let taken = queue.read(started, *since, sink);
            queue.calls.count(counters);
            events += taken;
            let is_over = is_abandoned && taken == 0;
            if is_over {
                // It has gone in the middle of them.
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

    /// The calls that were begun before this moment and that threads are in now, at most `most`: those that have taken
    /// longest.
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

    /// Hands over the ranges that are open now, without an end. What ends later is not handed over again.
    pub fn close_ranges(&mut self, sink: &mut impl RecordSink) {
        for queue in &mut self.queues {
            queue.ranges.close(|annotation| sink.annotate(&annotation));
        }
        self.started.close(|annotation| sink.annotate(&annotation));
    }

    /// The recording ends: takes the rest, and then the ranges and calls that have not ended. The queues wait for another
    /// recorder, which leaves out what was begun before.
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
    /// Of a thread that has just begun.
    #[must_use]
    pub fn new(tid: u32, events: Consumer<Event, BLOCK>, shown: Arc<Shown>) -> Self {
        Self { tid, events, ranges: Nesting::default(), calls: CallReader::new(shown) }
    }

    pub(super) fn read(&mut self, started: &mut Started, since: i64, sink: &mut impl RecordSink) -> usize {
        let mut hooks = 0;
        let taken = self.take(&mut hooks, started, since, sink);
        HOOKS.count(hooks);
        taken
    }

    fn take(
        &mut self,
        hooks: &mut usize,
        started: &mut Started,
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

    /// The calls that the thread is in.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = OpenCall> {
        self.calls.open()
    }

    /// Takes the rest, and then the calls that have not returned by now. What is counted as lost was read before: none of
    /// these is among it.
    pub(super) fn finish_calls(
        &mut self,
        counters: CallCounters<'_>,
        started: &mut Started,
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
