//! The recorder's side: all threads' queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use calls::Source;

use super::chunks::Receiver;
use super::event::{Call, CallParams, Entry};
use super::open::OpenCall;
use super::shown::{Counts, Shown, UNATTRIBUTED};
use crate::base::clock;
use crate::base::counters::{Counters, Lost};
use crate::base::memory;
use crate::events::pending_threads::PendingThreads;

/// Threads whose queues no recorder reads yet.
pub static PENDING_THREADS: PendingThreads<ThreadQueue> = PendingThreads::new();

/// Entries that are taken from a thread at once.
const AT_ONCE: usize = 1024;

/// A thread's queue as the recorder finds it.
pub struct ThreadQueue {
    tid: u32,
    entries: Receiver<Entry>,
    shown: Arc<Shown>,
    /// What of its counts the recorder knows.
    known: Counts,
    /// The number of the call that was taken last.
    last: u64,
    params: Option<CallParams>,
    arguments: Vec<u8>,
}

impl ThreadQueue {
    /// Of a thread that makes its first call.
    #[must_use]
    pub fn new(tid: u32, entries: Receiver<Entry>, shown: Arc<Shown>) -> Self {
        let (known, arguments) = (Counts::default(), Vec::new());
        Self { tid, entries, shown, known, last: 0, params: None, arguments }
    }
}

/// What is handed to who writes it.
pub struct CallRecord {
    /// The thread that made it.
    pub tid: u32,
    /// The call.
    pub call: Call,
    /// What it asked for, where that is kept.
    pub params: Option<CallParams>,
    /// Its arguments, where those are told.
    pub arguments: Option<Box<str>>,
}

/// A call that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The thread that made it.
    pub tid: u32,
    /// The call.
    pub call: OpenCall,
}

/// When the last recording ended, in ns of CLOCK_BOOTTIME.
static ENDED: AtomicI64 = AtomicI64::new(0);

/// Reads the queues of all threads.
pub struct Reader {
    queues: Vec<ThreadQueue>,
    /// Calls that were begun before this belong to the recording before, which has counted them.
    since: i64,
}

impl Default for Reader {
    fn default() -> Self {
        Self { queues: Vec::new(), since: ENDED.load(Ordering::Relaxed) }
    }
}

impl Reader {
    /// Takes some of the calls of each thread; how many entries that were. When there are none, all queues were empty.
    /// `counters` are those of each source.
    // Profiles tell by it what calls cost from what dispatches do.
    #[inline(never)]
    pub fn read(
        &mut self,
        counters: [&Counters; Source::ALL.len()],
        mut each: impl FnMut(CallRecord),
    ) -> usize {
        let since = self.since;
        let mut each = |record: CallRecord| {
            if record.call.start >= since {
                each(record);
            }
        };
        self.queues.append(&mut PENDING_THREADS.take());
        let mut entries = 0;
        self.queues.retain_mut(|queue| {
            // What a thread has counted before it went is visible after its end was seen.
            let is_abandoned = queue.entries.is_abandoned();
            let taken = queue.read(&mut each);
            queue.count(counters);
            entries += taken;
            let is_over = is_abandoned && taken == 0;
            if is_over {
                // It has gone in the middle of them.
                queue.finish(counters, &mut each);
            }
            !is_over
        });
        for (counters, unattributed) in counters.into_iter().zip(&UNATTRIBUTED) {
            counters.see(counters.take_over(unattributed));
        }
        entries
    }

    /// The calls that were begun before this moment and that threads are in now, at most `most`: those that have taken
    /// longest.
    #[must_use]
    pub fn open(&self, before: i64, most: usize) -> Vec<Open> {
        let all = self.queues.iter().flat_map(|queue| queue.open().map(|call| Open { tid: queue.tid, call }));
        let mut open: Vec<Open> =
            all.filter(|open| (self.since..before).contains(&open.call.start)).collect();
        open.sort_unstable_by_key(|open| (open.call.start, open.call.correlation));
        open.truncate(most);
        open
    }

    /// The recording ends: takes the rest, and then the calls that have not returned. The queues wait for another recorder,
    /// which leaves out what was begun before.
    pub fn finish(&mut self, counters: [&Counters; Source::ALL.len()], mut each: impl FnMut(CallRecord)) {
        while self.read(counters, &mut each) > 0 {}
        let since = self.since;
        let mut each = |record: CallRecord| {
            if record.call.start >= since {
                each(record);
            }
        };
        self.queues.iter_mut().for_each(|queue| queue.finish(counters, &mut each));
        ENDED.store(clock::now(), Ordering::Relaxed);
        for queue in self.queues.drain(..) {
            PENDING_THREADS.add(queue);
        }
    }
}

/// What a thread has counted since the last time.
fn news(now: &AtomicU64, known: &AtomicU64) -> u64 {
    let now = now.load(Ordering::Acquire);
    now - known.swap(now, Ordering::Relaxed)
}

impl ThreadQueue {
    pub(super) fn read(&mut self, each: &mut impl FnMut(CallRecord)) -> usize {
        for taken in 0..AT_ONCE {
            match self.entries.pop() {
                None => return taken,
                Some(Entry::Params(params)) => self.params = Some(params),
                Some(Entry::Arguments(piece)) => self.arguments.extend_from_slice(piece.bytes()),
                Some(Entry::Call(call)) => {
                    let params = self.params.take();
                    let has_arguments = !self.arguments.is_empty();
                    let arguments =
                        has_arguments.then(|| String::from_utf8_lossy(&self.arguments).into_owned().into());
                    self.arguments.clear();
                    self.last = call.correlation;
                    each(CallRecord { tid: self.tid, call, params, arguments });
                }
            }
        }
        AT_ONCE
    }

    /// The calls that the thread is in. Where its queue is empty, only what was taken last may look as if it were one.
    pub(super) fn open(&self) -> impl Iterator<Item = OpenCall> {
        self.shown.open.look().filter(|call| call.correlation != self.last)
    }

    fn count(&mut self, counters: [&Counters; Source::ALL.len()]) {
        for source in Source::ALL {
            let at = source as usize;
            // What is lost is read first: it was seen before.
            let behind = news(&self.shown.counts.behind[at], &self.known.behind[at]);
            counters[at].see(news(&self.shown.counts.seen[at], &self.known.seen[at]));
            let why = if memory::is_short() { Lost::Memory } else { Lost::Behind };
            counters[at].lose(why, behind);
        }
    }

    /// Takes the rest, and then the calls that have not returned by now. What is counted as lost was read before: none of
    /// these is among it.
    pub(super) fn finish(
        &mut self,
        counters: [&Counters; Source::ALL.len()],
        each: &mut impl FnMut(CallRecord),
    ) {
        let open = loop {
            let open: Vec<OpenCall> = self.open().collect();
            // A call that returned before is in the queue.
            if self.read(each) == 0 {
                break open;
            }
        };
        for source in Source::ALL {
            let at = source as usize;
            counters[at].see(news(&self.shown.counts.seen[at], &self.known.seen[at]));
        }
        for call in open {
            each(CallRecord { tid: self.tid, call: Call::unfinished(&call), params: None, arguments: None });
        }
    }
}
