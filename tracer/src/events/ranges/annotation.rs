//! Makes ranges with a start and an end of the events of threads.

use rustc_hash::FxHashMap;

use super::event::{RangeEvent, What, new_number};
use super::text::Text;
use crate::base::abi::RangeKind;

/// Ranges at most that were started and not stopped.
pub const MOST_STARTED: usize = 1 << 16;

/// A record of a range, a marker or a name.
#[derive(Clone, Copy, Debug)]
pub enum Annotation {
    /// A range or a marker.
    Range {
        number: u64,
        text: &'static Text,
        /// The thread that began it.
        tid: u32,
        /// In ns of CLOCK_BOOTTIME.
        start: i64,
        /// In ns of CLOCK_BOOTTIME; `None` where it was still open when the recording, or its thread, ended. Of a marker its
        /// start.
        end: Option<i64>,
        /// A marker, or a range by the way in which it ends.
        kind: RangeKind,
    },
    /// A name that the application gives.
    Name {
        /// One of [`What`]'s names.
        what: What,
        /// Which one; of a thread its tid.
        number: u64,
        text: &'static Text,
    },
    /// A range that is one more than can be kept track of.
    Untracked,
}

#[derive(Clone, Copy)]
struct Opened {
    number: u64,
    text: &'static Text,
    start: i64,
    tid: u32,
    /// An earlier recording has the range, without an end.
    is_written: bool,
}

impl Opened {
    fn range(&self, end: Option<i64>, kind: RangeKind) -> Annotation {
        let &Self { number, text, start, tid, .. } = self;
        Annotation::Range { number, text, tid, start, end, kind }
    }
}

/// The ranges of a thread that the recorder knows to be open, the outermost first.
#[derive(Default)]
pub struct Nesting(Vec<Opened>);

impl Nesting {
    /// The recording ends, or the thread has ended: open ranges have no end in it.
    pub fn close(&mut self, mut each: impl FnMut(Annotation)) {
        for opened in self.0.iter_mut().filter(|opened| !opened.is_written) {
            each(opened.range(None, RangeKind::Pushed));
            opened.is_written = true;
        }
    }
}

/// The ranges that one thread may begin and another one end.
#[derive(Default)]
pub struct Started {
    /// By what roctxRangeStartA returned.
    open: FxHashMap<u64, Opened>,
    /// Ends whose beginnings may still be in another thread's queue.
    early: Vec<(u64, i64)>,
}

impl Started {
    /// How many ends have come before their beginnings.
    #[must_use]
    pub fn early(&self) -> usize {
        self.early.len()
    }

    /// Forgets the first `stops` ends of [`Self::early`]: all queues have been empty since. The number of a range comes from its
    /// start, which therefore was in a queue by then.
    pub fn forget_early(&mut self, stops: usize) {
        self.early.drain(..stops);
    }

    /// The recording ends: open ranges have no end in it.
    pub fn close(&mut self, mut each: impl FnMut(Annotation)) {
        for (_, opened) in self.open.drain() {
            each(opened.range(None, RangeKind::Started));
        }
    }

    /// Follows an event of the thread `tid`.
    pub fn follow(
        &mut self,
        nesting: &mut Nesting,
        tid: u32,
        event: &RangeEvent,
        each: &mut impl FnMut(Annotation),
    ) {
        let &RangeEvent { time, number, text, what } = event;
        let opened = |number| Opened { number, text, start: time, tid, is_written: false };
        match what {
            What::Push => nesting.0.push(opened(number)),
            What::Pop => {
                if let Some(opened) = nesting.0.pop().filter(|opened| !opened.is_written) {
                    each(opened.range(Some(time), RangeKind::Pushed));
                }
            }
            What::Mark => each(opened(number).range(Some(time), RangeKind::Marker)),
            What::Start => {
                let opened = opened(new_number());
                if let Some(stop) = self.early.iter().position(|&(stopped, _)| stopped == number) {
                    each(opened.range(Some(self.early.swap_remove(stop).1), RangeKind::Started));
                } else if self.open.len() < MOST_STARTED {
                    self.open.insert(number, opened);
                } else {
                    each(Annotation::Untracked);
                }
            }
            What::Stop => match self.open.remove(&number) {
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
