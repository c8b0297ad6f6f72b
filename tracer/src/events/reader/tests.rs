//! Tests of a thread's ranges against a model, and of ranges that several threads begin and end.

use proptest::prelude::*;

use super::*;
use crate::base::abi::RangeKind;
use crate::base::counters::Lost;
use crate::base::spsc::Bound;
use crate::events::event_queue::EventQueue;
use crate::events::ranges::annotation::MOST_STARTED;
use crate::events::ranges::event::{RangeEvent, RangeEventKind};
use crate::events::ranges::open_ranges::{DEEPEST, OpenRanges};
use crate::events::ranges::text::TEXTS;

static BOUND: Bound = Bound::new(usize::MAX, 2);

/// A sink of annotations.
#[derive(Default)]
struct SeenAnnotations(Vec<Annotation>);

impl RecordSink for SeenAnnotations {
    fn annotate(&mut self, annotation: &Annotation) {
        self.0.push(*annotation);
    }

    fn add_call(&mut self, _record: &CallRecord) {}
}

/// The side of a thread.
struct Thread {
    queue: EventQueue,
    ranges: OpenRanges,
}

impl Thread {
    fn push(
        &mut self,
        level: usize,
        text: &'static crate::events::ranges::Text,
        time: i64,
    ) -> Result<(), Lost> {
        self.ranges.push(&mut self.queue, level, text, time)
    }

    fn pop_to(&mut self, level: usize, time: i64) {
        self.ranges.pop_to(&mut self.queue, level, time);
    }

    fn innermost(&self) -> u64 {
        self.ranges.innermost()
    }

    /// False where there is no room.
    fn send(&mut self, event: RangeEvent) -> bool {
        let has_room = self.queue.make_room(1);
        if has_room {
            self.queue.push(Event::Range(event));
        }
        has_room
    }
}

/// Threads of a test with one reader.
struct Threads {
    queues: Vec<Option<Thread>>,
    reader: Reader,
    seen: SeenAnnotations,
}

impl Threads {
    fn new(count: u32) -> Self {
        Self::within(&BOUND, count)
    }

    fn within(bound: &'static Bound, count: u32) -> Self {
        let mut reader = Reader::default();
        let queue = |tid| {
            let (queue, events) = EventQueue::new(bound).unwrap();
            reader.queues.push(ReaderQueue::new(tid, events, Arc::default()));
            Some(Thread { queue, ranges: OpenRanges::default() })
        };
        Self { queues: (0..count).map(queue).collect(), reader, seen: SeenAnnotations::default() }
    }

    fn queue(&mut self, thread: usize) -> &mut Thread {
        self.queues[thread].as_mut().unwrap()
    }

    fn send(&mut self, thread: usize, what: RangeEventKind, number: u64, time: i64) {
        let event = RangeEvent { time, number, text: TEXTS.find(b"sent"), what };
        assert!(self.queue(thread).send(event));
    }

    /// Reads until all queues are empty.
    fn read(&mut self) {
        let counters = Counters::default();
        while self.reader.read([&counters, &counters], &mut self.seen) > 0 {}
    }

    /// Text, thread, start and end of each range that is known by now.
    fn ranges(&mut self) -> Vec<(String, u32, i64, Option<i64>)> {
        self.read();
        let range = |annotation: &Annotation| match *annotation {
            Annotation::Range { text, tid, start, end, kind, .. } if kind != RangeKind::Marker => {
                Some((text.spoken().into_owned(), tid, start, end))
            }
            _ => None,
        };
        std::mem::take(&mut self.seen.0).iter().filter_map(range).collect()
    }
}

/// A step of a thread of the model.
#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    /// A push while recording is paused.
    PushUnrecorded,
    Pop,
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    let choices = [(4, Step::Push), (1, Step::PushUnrecorded), (4, Step::Pop), (1, Step::Read)];
    prop::strategy::Union::new_weighted(choices.map(|(weight, step)| (weight, Just(step).boxed())).to_vec())
}

proptest! {
    #[test]
    fn ranges_nest_as_a_stack_does_whatever_was_not_recorded(steps in prop::collection::vec(step(), 0..300)) {
        let mut threads = Threads::new(1);
        // For each open range, the model has its start if it was recorded, and the number that dispatches then carry.
        let mut model: Vec<(Option<i64>, u64)> = Vec::new();
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for (time, step) in (1..).zip(steps) {
            let level = model.len();
            match step {
                Step::Push => {
                    let text = TEXTS.find(format!("level {level}").as_bytes());
                    threads.queue(0).push(level, text, time).unwrap();
                    let number = threads.queue(0).innermost();
                    prop_assert!(model.iter().all(|&(_, other)| other != number));
                    model.push((Some(time), number));
                }
                Step::PushUnrecorded => {
                    let around = model.last().map_or(0, |&(_, number)| number);
                    model.push((None, around));
                }
                Step::Pop => {
                    if let Some((start, _)) = model.pop() {
                        let level = model.len();
                        threads.queue(0).pop_to(level, time);
                        expected.extend(start.map(|start| (format!("level {level}"), 0, start, Some(time))));
                    }
                }
                Step::Read => found.extend(threads.ranges()),
            }
            prop_assert_eq!(threads.queue(0).innermost(), model.last().map_or(0, |&(_, number)| number));
        }
        found.extend(threads.ranges());
        prop_assert_eq!(found, expected);
        // Ranges that are open when the thread ends have a start and no end.
        threads.queues.clear();
        let open = model.iter().zip(0..).filter_map(|((start, _), level)| Some((level, (*start)?)));
        let open: Vec<_> = open.map(|(level, start): (u32, _)| (format!("level {level}"), 0, start, None)).collect();
        prop_assert_eq!(threads.ranges(), open);
        prop_assert!(threads.reader.queues.is_empty());
    }
}

#[test]
fn a_started_range_is_stopped_by_any_thread_and_whichever_is_read_first() {
    let mut threads = Threads::new(2);
    threads.send(0, RangeEventKind::Start, 1, 10);
    threads.send(1, RangeEventKind::Stop, 1, 20);
    // The queue of thread 0 is read first, so this end comes before its beginning.
    threads.send(0, RangeEventKind::Stop, 2, 40);
    threads.send(1, RangeEventKind::Start, 2, 30);
    let sent = |tid, start, end| ("sent".to_owned(), tid, start, Some(end));
    assert_eq!(threads.ranges(), [sent(0, 10, 20), sent(1, 30, 40)]);
}

#[test]
fn an_end_without_a_beginning_is_forgotten() {
    let mut threads = Threads::new(1);
    threads.send(0, RangeEventKind::Start, 1, 10);
    threads.send(0, RangeEventKind::Stop, 1, 20);
    threads.send(0, RangeEventKind::Stop, 1, 30);
    assert_eq!(threads.ranges().len(), 1);
    assert_eq!(threads.reader.started.early(), 0);
}

#[test]
fn what_is_open_at_the_end_of_a_recording_has_no_end_and_is_not_in_the_next_one() {
    let mut threads = Threads::new(1);
    let text = TEXTS.find(b"around");
    threads.queue(0).push(0, text, 5).unwrap();
    threads.send(0, RangeEventKind::Start, 1, 7);
    threads.read();
    threads.reader.close_ranges(&mut threads.seen);
    assert_eq!(threads.ranges(), [("around".to_owned(), 0, 5, None), ("sent".to_owned(), 0, 7, None)]);

    threads.queue(0).pop_to(0, 9);
    threads.queue(0).push(0, text, 11).unwrap();
    threads.queue(0).pop_to(0, 12);
    assert_eq!(threads.ranges(), [("around".to_owned(), 0, 11, Some(12))]);
}

#[test]
fn a_queue_always_has_room_for_the_ends_of_ranges() {
    static SMALL: Bound = Bound::new(8, 2);
    let mut threads = Threads::within(&SMALL, 1);
    let text = TEXTS.find(b"deep");
    for level in 0..500 {
        threads.queue(0).push(level, text, 1).unwrap();
    }
    while threads.queue(0).send(RangeEvent { time: 1, number: 0, text, what: RangeEventKind::Mark }) {}
    assert_eq!(threads.queue(0).push(500, text, 2), Err(Lost::Behind));
    threads.queue(0).pop_to(0, 3);
    assert_eq!(threads.queue(0).innermost(), 0);
    let ranges = threads.ranges();
    assert!(ranges.len() == 500 && ranges.iter().all(|range| range.3 == Some(3)));
    threads.queue(0).push(0, text, 4).unwrap();
}

#[test]
fn ranges_beyond_the_bounds_are_refused_and_those_around_them_are_not() {
    let mut threads = Threads::new(1);
    let text = TEXTS.find(b"deep");
    for level in 0..DEEPEST {
        threads.queue(0).push(level, text, 1).unwrap();
    }
    let innermost = threads.queue(0).innermost();
    assert_eq!(threads.queue(0).push(DEEPEST, text, 1), Err(Lost::Bounds));
    threads.queue(0).pop_to(DEEPEST, 2);
    assert_eq!(threads.queue(0).innermost(), innermost);
    threads.queue(0).pop_to(0, 3);
    assert_eq!(threads.ranges().len(), DEEPEST);

    let mut threads = Threads::new(1);
    for number in 1..=MOST_STARTED as u64 + 1 {
        threads.send(0, RangeEventKind::Start, number, 1);
        threads.read();
    }
    let untracked = threads.seen.0.iter().filter(|seen| matches!(seen, Annotation::Untracked)).count();
    assert_eq!(untracked, 1);
}
