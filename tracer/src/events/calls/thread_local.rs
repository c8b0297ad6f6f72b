//! The calls of the calling thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use calls::{Begun, Details, Function, Source};

use super::chunks::{Pool, Sender, queue};
use super::event::{Call, CallParams, Entry, Piece};
use super::open::OpenCall;
use super::reader::{PENDING_THREADS, ThreadQueue};
use super::shown::{Shown, UNATTRIBUTED};
use crate::base::counters::{Lost, Skipped};
use crate::base::recording_state;
use crate::base::{clock, headroom, memory};
use crate::events::recorder_waker;
use crate::events::thread;

/// Pieces of queues at most: 2 million entries that the recorder has not taken, 120 MB.
static POOL: Pool<Entry> = Pool::new(1 << 13);

/// Numbers that a thread takes at once.
const AT_ONCE: u64 = 64;

/// Full pieces of a queue that are a reason to wake the recorder.
const MANY: usize = 8;

/// The last number that was given to a thread.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// A thread's end of its queue.
struct ThreadState {
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
    /// Whether the thread has a queue: the child of a fork asks this, because asking for `STATE` may allocate.
    static HAS_QUEUE: Cell<bool> = const { Cell::new(false) };
    static STATE: RefCell<Option<ThreadState>> = const { RefCell::new(None) };
}

impl ThreadState {
    fn new() -> Option<Self> {
        let (entries, arrived) = queue(&POOL)?;
        let shown = Arc::<Shown>::default();
        PENDING_THREADS.add(ThreadQueue::new(thread::current().tid, arrived, Arc::clone(&shown)));
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
    fn end(&mut self, source: Source, call: &Call, is_sent: bool) {
        self.innermost = call.parent;
        let open = &mut self.open[source as usize];
        *open = open.saturating_sub(1);
        self.shown.open.leave(&mut self.depth, call.correlation);
        if !is_sent {
            count(&self.shown.counts.behind[source as usize]);
        }
    }

    /// Hands a call over with what belongs to it, all of it or nothing: what belongs to a call that has found no room would
    /// belong to the next one.
    #[inline]
    fn send(&mut self, params: Option<CallParams>, arguments: &[u8], call: Call) -> bool {
        let pieces = Piece::of(arguments);
        let has_room = self.entries.make_room(usize::from(params.is_some()) + pieces.len() + 1);
        if has_room {
            params.into_iter().for_each(|params| self.push(Entry::Params(params)));
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
            recorder_waker::wake();
        }
    }
}

/// Counts one more; nobody else writes this count. Who has read it sees what was done before.
#[inline]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}

#[inline]
fn with_state<T>(act: impl FnOnce(&mut ThreadState) -> T) -> Option<T> {
    if !HAS_QUEUE.get() && !headroom::for_first_use() {
        return None;
    }
    STATE
        .try_with(|state| {
            let mut state = state.try_borrow_mut().ok()?;
            let state = match &mut *state {
                Some(state) => state,
                none => none.insert(ThreadState::new()?),
            };
            Some(act(state))
        })
        .ok()
        .flatten()
}

/// A call of this function begins. What the thread enqueues from now on has its number, but for that of a call
/// of HSA within one of HIP. `begin_recording` begins one where there is none yet.
// The caller copies the result: as a whole, the processor would wait for its parts to be written.
#[inline(always)]
#[must_use]
pub fn begin(function: Function, begin_recording: impl FnOnce()) -> Begun {
    let Some(source) = function.source() else { return Begun::default() };
    let unattributed = &UNATTRIBUTED[source as usize];
    if !recording_state::is_open() && !recording_state::opens(unattributed, begin_recording) {
        return Begun::default();
    }
    if thread::is_paused() {
        unattributed.skip(Skipped::Paused, 1);
        return Begun::default();
    }
    let Some(Beginning { call, is_for_hip }) = with_state(|state| state.begin(source, function)) else {
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
    with_state(|state| {
        if correlation < state.first {
            return;
        }
        let params = details.and_then(CallParams::of);
        let call = Call { start, end, correlation, parent, stream, function, status };
        let is_sent = state.send(params, arguments, call);
        state.end(source, &call, is_sent);
    });
}

/// Numbers from here on are larger than this one: the dispatches so far have those up to it.
pub fn number_from(last: u64) {
    NUMBERS.fetch_max(last, Ordering::Relaxed);
}

/// In the child of a fork: no recorder knows of this thread's queue, and no other thread is there. Allocates and frees nothing.
pub fn forget() {
    PENDING_THREADS.forget();
    if !HAS_QUEUE.replace(false) {
        return;
    }
    let _ = STATE.try_with(|state| {
        if let Ok(mut state) = state.try_borrow_mut() {
            // Its pieces may be in use at this moment by the parent's recorder, of which this is a copy.
            std::mem::forget(state.take());
        }
    });
}

#[cfg(test)]
mod tests;
