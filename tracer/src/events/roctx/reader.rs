//! From what threads did to ranges with a start and an end: the recorder's side.

use rustc_hash::FxHashMap;

use super::event::{Event, What};
use super::text::Text;
use super::thread_queue::{PLACES, new_number};
use crate::base::abi::RangeKind;
use crate::events::pending_threads::PendingThreads;
use crate::events::ring::Consumer;

/// Threads whose rings no recorder reads yet.
pub static PENDING_THREADS: PendingThreads<Ring> = PendingThreads::new();

/// Ranges at most that were started and not stopped.
pub const MOST_STARTED: usize = 1 << 16;

/// Events that are taken from a thread at once.
const AT_ONCE: usize = 1024;

/// What the file says of a thread's doings.
#[derive(Clone, Copy, Debug)]
pub enum Annotation {
    /// A range or a marker.
    Range {
        /// Its own number.
        number: u64,
        /// What it is called.
        text: &'static Text,
        /// The thread that began it.
        tid: u32,
        /// In ns of CLOCK_BOOTTIME.
        start: i64,
        /// In ns of CLOCK_BOOTTIME; `None` where it was still open when the recording, or its thread, ended. Of a marker its
        /// start.
        end: Option<i64>,
        /// Whether it is a marker, or any thread could end it.
        kind: RangeKind,
    },
    /// What the application calls something.
    Name {
        /// What it is: one of [`What`]'s names.
        what: What,
        /// Which one; of a thread its tid.
        number: u64,
        /// What it is called.
        text: &'static Text,
    },
    /// A range that is one more than can be kept track of.
    Untracked,
}

/// A thread's ring as the recorder finds it.
pub struct Ring {
    /// The thread.
    pub tid: u32,
    /// What it did.
    pub events: Consumer<Event, PLACES>,
    open: Vec<Opened>,
}

impl Ring {
    /// Of a thread that has just begun.
    pub fn new(tid: u32, events: Consumer<Event, PLACES>) -> Self {
        Self { tid, events, open: Vec::new() }
    }
}

#[derive(Clone, Copy)]
struct Opened {
    number: u64,
    text: &'static Text,
    start: i64,
    tid: u32,
    /// Whether an earlier recording has it, without an end.
    is_written: bool,
}

impl Opened {
    fn range(&self, end: Option<i64>, kind: RangeKind) -> Annotation {
        let &Self { number, text, start, tid, .. } = self;
        Annotation::Range { number, text, tid, start, end, kind }
    }
}

/// Reads the rings of all threads.
#[derive(Default)]
pub struct Reader {
    rings: Vec<Ring>,
    /// By what roctxRangeStartA returned.
    started: FxHashMap<u64, Opened>,
    /// Ends whose beginnings may still be in another thread's ring.
    early: Vec<(u64, i64)>,
}

impl Reader {
    /// Takes some of what each thread did; how many events that were. When there are none, all rings were empty.
    pub fn read(&mut self, mut each: impl FnMut(Annotation)) -> usize {
        self.rings.append(&mut PENDING_THREADS.take());
        let stops = self.early.len();
        let mut events = 0;
        let mut at = 0;
        while at < self.rings.len() {
            let is_abandoned = self.rings[at].events.is_abandoned();
            let before = events;
            while events < before + AT_ONCE
                && let Some(event) = self.rings[at].events.pop()
            {
                events += 1;
                self.follow(at, &event, &mut each);
            }
            if is_abandoned && events == before {
                close(&mut self.rings.swap_remove(at), &mut each);
            } else {
                at += 1;
            }
        }
        if events == 0 {
            // The number of a range comes from its start, which therefore was in a ring by then.
            self.early.drain(..stops);
        }
        events
    }

    /// The recording ends: ranges that are open have no end in it. The rings wait for another recorder.
    pub fn finish(&mut self, mut each: impl FnMut(Annotation)) {
        for mut ring in self.rings.drain(..) {
            close(&mut ring, &mut each);
            if !ring.events.is_abandoned() {
                PENDING_THREADS.add(ring);
            }
        }
        for (_, opened) in self.started.drain() {
            each(opened.range(None, RangeKind::Started));
        }
    }

    fn follow(&mut self, ring: usize, event: &Event, each: &mut impl FnMut(Annotation)) {
        let ring = &mut self.rings[ring];
        let &Event { time, number, text, what } = event;
        let tid = ring.tid;
        match what {
            What::Push => ring.open.push(Opened { number, text, start: time, tid, is_written: false }),
            What::Pop => {
                if let Some(opened) = ring.open.pop().filter(|opened| !opened.is_written) {
                    each(opened.range(Some(time), RangeKind::Pushed));
                }
            }
            What::Mark => {
                let (end, kind) = (Some(time), RangeKind::Marker);
                each(Annotation::Range { number, text, tid, start: time, end, kind });
            }
            What::Start => {
                let opened = Opened { number: new_number(), text, start: time, tid, is_written: false };
                if let Some(stop) = self.early.iter().position(|&(stopped, _)| stopped == number) {
                    each(opened.range(Some(self.early.swap_remove(stop).1), RangeKind::Started));
                } else if self.started.len() < MOST_STARTED {
                    self.started.insert(number, opened);
                } else {
                    each(Annotation::Untracked);
                }
            }
            What::Stop => match self.started.remove(&number) {
                Some(opened) => each(opened.range(Some(time), RangeKind::Started)),
                None if self.early.len() < MOST_STARTED => self.early.push((number, time)),
                None => {}
            },
            What::NameThread => each(Annotation::Name { what, number: u64::from(tid), text }),
            What::NameAgent | What::NameDevice | What::NameStream => {
                each(Annotation::Name { what, number, text });
            }
        }
    }
}

/// Ranges that are open in a thread that has ended, or in a recording that ends.
fn close(ring: &mut Ring, each: &mut impl FnMut(Annotation)) {
    for opened in ring.open.iter_mut().filter(|opened| !opened.is_written) {
        each(opened.range(None, RangeKind::Pushed));
        opened.is_written = true;
    }
}

#[cfg(test)]
mod tests;
