//! Makes ranges with a start and an end from the events of threads.

use rustc_hash::FxHashMap;

use super::event::{RangeEvent, RangeEventKind, new_number};
use super::text::Text;
use crate::base::abi::RangeKind;

/// Limit on ranges that were started and not stopped.
pub const MOST_STARTED: usize = 1 << 16;

/// A record of a range, a marker or a name.
#[derive(Clone, Copy, Debug)]
pub enum Annotation {
    Range {
        number: u64,
        text: &'static Text,
        /// The thread that began the range.
        tid: u32,
        /// In ns of CLOCK_BOOTTIME.
        start: i64,
        /// In ns of CLOCK_BOOTTIME; `None` where the range was still open when the recording, or its thread, ended. A marker ends
        /// at its start.
        end: Option<i64>,
        /// A marker, or a range by the way in which it ends.
        kind: RangeKind,
    },
    /// A name that the application gives.
    Name {
        /// One of the kinds of names.
        what: RangeEventKind,
        /// The object's number; for a thread the tid.
        number: u64,
        text: &'static Text,
    },
    /// A range beyond the number of open ranges that are kept track of.
    Untracked,
}

#[derive(Clone, Copy)]
struct OpenRange {
    number: u64,
    text: &'static Text,
    start: i64,
    tid: u32,
    /// True if an earlier recording has the range, without an end.
    is_written: bool,
}

impl OpenRange {
    fn range(&self, end: Option<i64>, kind: RangeKind) -> Annotation {
        let &Self { number, text, start, tid, .. } = self;
        Annotation::Range { number, text, tid, start, end, kind }
    }
}

/// The open ranges of a thread, as far as the recorder knows them, the outermost first.
#[derive(Default)]
pub struct NestedRanges(Vec<OpenRange>);

impl NestedRanges {
    /// Called when the recording or the thread ends: hands over the open ranges, without an end.
    pub fn close(&mut self, mut each: impl FnMut(Annotation)) {
        for opened in self.0.iter_mut().filter(|opened| !opened.is_written) {
            each(opened.range(None, RangeKind::Pushed));
            opened.is_written = true;
        }
    }
}

/// Ranges that one thread may begin and another one end.
#[derive(Default)]
pub struct StartedRanges {
    /// Open ranges by the result of roctxRangeStartA.
    open: FxHashMap<u64, OpenRange>,
    /// Ends in ns whose beginnings may still be in another thread's queue.
    early: Vec<(u64, i64)>,
}

impl StartedRanges {
    /// Number of ends that have come before their beginnings.
    #[must_use]
    pub fn early(&self) -> usize {
        self.early.len()
    }

    /// Forgets the first `stops` ends of [`Self::early`]: all queues have been empty since. The number of a range comes from its
    /// start, which therefore was in a queue by then.
    pub fn forget_early(&mut self, stops: usize) {
        self.early.drain(..stops);
    }

    /// Called when the recording ends: hands over the open ranges, without an end.
    pub fn close(&mut self, mut each: impl FnMut(Annotation)) {
        for (_, opened) in self.open.drain() {
            each(opened.range(None, RangeKind::Started));
        }
    }

    /// Applies an event of the thread `tid`.
    pub fn follow(
        &mut self,
        nesting: &mut NestedRanges,
        tid: u32,
        event: &RangeEvent,
        each: &mut impl FnMut(Annotation),
    ) {
        let &RangeEvent { time, number, text, what } = event;
        let opened = |number| OpenRange { number, text, start: time, tid, is_written: false };
        match what {
            RangeEventKind::Push => nesting.0.push(opened(number)),
            RangeEventKind::Pop => {
                if let Some(opened) = nesting.0.pop().filter(|opened| !opened.is_written) {
                    each(opened.range(Some(time), RangeKind::Pushed));
                }
            }
            RangeEventKind::Mark => each(opened(number).range(Some(time), RangeKind::Marker)),
            RangeEventKind::Start => {
                let opened = opened(new_number());
                if let Some(stop) = self.early.iter().position(|&(stopped, _)| stopped == number) {
                    each(opened.range(Some(self.early.swap_remove(stop).1), RangeKind::Started));
                } else if self.open.len() < MOST_STARTED {
                    self.open.insert(number, opened);
                } else {
                    each(Annotation::Untracked);
                }
            }
            RangeEventKind::Stop => match self.open.remove(&number) {
                Some(opened) => each(opened.range(Some(time), RangeKind::Started)),
                None if self.early.len() < MOST_STARTED => self.early.push((number, time)),
                None => {}
            },
            RangeEventKind::NameThread => each(Annotation::Name { what, number: u64::from(tid), text }),
            RangeEventKind::NameAgent | RangeEventKind::NameDevice | RangeEventKind::NameStream => {
                each(Annotation::Name { what, number, text });
            }
        }
    }
}
