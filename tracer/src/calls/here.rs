//! The calls of the calling thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use calls::{Begun, Details, Function, Source};

use super::chunks::{Pool, Sender, queue};
use super::event::{Asked, Call, Entry, Piece};
use super::open::{OpenCall, OpenCalls};
use super::reader::{Lane, NEWCOMERS};
use crate::counters::{Counters, Lost, Skipped};
use crate::{clock, control, headroom, load, memory, recording, thread};

/// Pieces of queues at most: 2 million entries that the recorder has not taken, 120 MB.
static POOL: Pool<Entry> = Pool::new(1 << 13);

/// Numbers that a thread takes at once.
const AT_ONCE: u64 = 64;

/// Full pieces of a queue that are a reason to wake the recorder.
const MANY: usize = 8;

/// The last number that was given to a thread.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// What threads count of the calls of a source.
#[derive(Debug, Default)]
pub struct Counts {
    /// Begun while recording; those of a thread are written by that thread alone.
    pub seen: [AtomicU64; Source::ALL.len()],
    /// Of those, without room for them.
    pub behind: [AtomicU64; Source::ALL.len()],
}

/// What a thread shows the recorder beside its queue.
#[derive(Debug, Default)]
pub struct Shown {
    /// What it has counted.
    pub counts: Counts,
    /// The calls that it is in.
    pub open: OpenCalls,
}

/// Calls that no thread's counts have, by source: those left out while recording is paused, those that came too late, and
/// those of threads at their end or in signal handlers that interrupted another call's recording.
pub(super) static UNATTRIBUTED: [Counters; Source::ALL.len()] =
    [const { Counters::new() }; Source::ALL.len()];

/// A thread's end of its queue.
struct Here {
    entries: Sender<Entry>,
    shown: Arc<Shown>,
    /// The last number given to a call, and the last one that the thread may give.
    number: u64,
    last: u64,
    /// The first one that it gave. A call with a smaller one was begun by the parent of a fork.
    first: u64,
    /// The innermost call that the thread is in; 0 for none.
    innermost: u64,
    /// How many calls of each source it is in.
    open: [u32; Source::ALL.len()],
    /// How many that are shown.
    depth: usize,
}

/// A call as it begins.
struct Beginning {
    call: OpenCall,
    /// Whether it is a call of HSA that HIP makes: what it enqueues is what HIP was asked for.
    is_for_hip: bool,
}

thread_local! {
    /// Whether the thread has a queue: the child of a fork asks this, because asking for `HERE` may allocate.
    static HAS_QUEUE: Cell<bool> = const { Cell::new(false) };
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}

impl Here {
    fn new() -> Option<Self> {
        let (entries, arrived) = queue(&POOL)?;
        let shown = Arc::<Shown>::default();
        NEWCOMERS.add(Lane::new(thread::current().tid, arrived, Arc::clone(&shown)));
        HAS_QUEUE.set(true);
        Some(Self::of(entries, shown))
    }

    fn of(entries: Sender<Entry>, shown: Arc<Shown>) -> Self {
        let number = NUMBERS.fetch_add(AT_ONCE, Ordering::Relaxed);
        let (first, last) = (number + 1, number + AT_ONCE);
        Self { entries, shown, number, last, first, innermost: 0, open: [0; Source::ALL.len()], depth: 0 }
    }

    #[inline]
    fn begin(&mut self, source: Source, function: Function) -> Beginning {
        if self.number == self.last {
            self.number = NUMBERS.fetch_add(AT_ONCE, Ordering::Relaxed);
            self.last = self.number + AT_ONCE;
        }
        self.number += 1;
        count(&self.shown.counts.seen[source as usize]);
        let correlation = self.number;
        let parent = std::mem::replace(&mut self.innermost, correlation);
        self.open[source as usize] += 1;
        let is_for_hip = source == Source::Hsa && self.open[Source::Hip as usize] > 0;
        let call = OpenCall { correlation, parent, start: clock::now(), function };
        self.shown.open.enter(&mut self.depth, &call);
        Beginning { call, is_for_hip }
    }

    /// The call is over, and what is to be told of it is in the queue, or has found no room there. Only now it is none
    /// of those that the thread is in: who looks at these first and empties the queue then meets every call.
    #[inline]
    fn end(&mut self, source: Source, call: &Call, is_told: bool) {
        self.innermost = call.parent;
        let open = &mut self.open[source as usize];
        *open = open.saturating_sub(1);
        self.shown.open.leave(&mut self.depth, call.correlation);
        if !is_told {
            count(&self.shown.counts.behind[source as usize]);
        }
    }

    /// Hands a call over with what belongs to it, all of it or nothing: what belongs to a call that has found no room would
    /// belong to the next one.
    #[inline]
    fn tell(&mut self, asked: Option<Asked>, arguments: &[u8], call: Call) -> bool {
        let pieces = Piece::of(arguments);
        let has_room = self.entries.make_room(usize::from(asked.is_some()) + pieces.len() + 1);
        if has_room {
            asked.into_iter().for_each(|asked| self.push(Entry::Asked(asked)));
            pieces.for_each(|piece| self.push(Entry::Arguments(piece)));
            self.push(Entry::Call(call));
        }
        has_room
    }

    /// There is room for it.
    #[inline]
    fn push(&mut self, entry: Entry) {
        let _ = self.entries.push(entry);
        if self.entries.has_gone_on() && self.entries.waiting() >= MANY {
            recording::nudge();
        }
    }
}

/// Counts one more; nobody else writes this count. Who has read it sees what was done before.
#[inline]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}

#[inline]
fn with_here<T>(act: impl FnOnce(&mut Here) -> T) -> Option<T> {
    if !HAS_QUEUE.get() && !headroom::for_first_use() {
        return None;
    }
    HERE.try_with(|here| {
        let mut here = here.try_borrow_mut().ok()?;
        let here = match &mut *here {
            Some(here) => here,
            none => none.insert(Here::new()?),
        };
        Some(act(here))
    })
    .ok()
    .flatten()
}

/// A call of this function begins. What the thread enqueues from now on has its number, but for that of a call
/// of HSA within one of HIP.
// What it returns is copied by whoever calls it: as a whole, the processor would wait for its parts to be written.
#[inline(always)]
#[must_use]
pub fn begin(function: Function) -> Begun {
    let Some(source) = function.source() else { return Begun::default() };
    let unattributed = &UNATTRIBUTED[source as usize];
    if !control::is_open() && !load::opens(unattributed) {
        return Begun::default();
    }
    if thread::is_paused() {
        unattributed.skip(Skipped::Paused, 1);
        return Begun::default();
    }
    let Some(Beginning { call, is_for_hip }) = with_here(|here| here.begin(source, function)) else {
        let why = if memory::is_short() { Lost::Memory } else { Lost::Interrupted };
        unattributed.lose(why, 1);
        return Begun::default();
    };
    let OpenCall { correlation, parent, start, .. } = call;
    let link = if is_for_hip { thread::current().call } else { thread::set_call(correlation) };
    Begun { start, correlation, parent, link }
}

/// The innermost call of the thread, which [`begin`] has begun, ends.
#[inline]
pub fn end(
    begun: &Begun,
    function: Function,
    status: i32,
    stream: u64,
    details: Option<&Details>,
    arguments: &[u8],
) {
    let &Begun { start, correlation, parent, link } = begun;
    if correlation == 0 {
        return;
    }
    let end = clock::now();
    thread::set_call(link);
    let Some(source) = function.source() else { return };
    // Where this finds no queue any more, the call stays one that was seen and did not return.
    with_here(|here| {
        if correlation < here.first {
            return;
        }
        let asked = details.and_then(Asked::of);
        let call = Call { start, end, correlation, parent, stream, function, status };
        let is_told = here.tell(asked, arguments, call);
        here.end(source, &call, is_told);
    });
}

/// Numbers from here on are larger than this one: the dispatches so far have those up to it.
pub fn number_from(last: u64) {
    NUMBERS.fetch_max(last, Ordering::Relaxed);
}

/// In the child of a fork: no recorder knows of this thread's queue, and no other thread is there. Allocates and frees nothing.
pub fn forget() {
    NEWCOMERS.forget();
    if !HAS_QUEUE.replace(false) {
        return;
    }
    let _ = HERE.try_with(|here| {
        if let Ok(mut here) = here.try_borrow_mut() {
            // Its pieces may be in use at this moment by the parent's recorder, of which this is a copy.
            std::mem::forget(here.take());
        }
    });
}

#[cfg(test)]
mod tests;
