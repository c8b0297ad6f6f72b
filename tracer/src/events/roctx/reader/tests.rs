//! A thread's ranges against a model, and ranges that several threads have to do with.

use proptest::prelude::*;

use super::*;
use crate::base::counters::Lost;
use crate::events::roctx::text::TEXTS;
use crate::events::roctx::thread_queue::{DEEPEST, ThreadQueue};

/// What a test's threads did, in one reader.
struct Threads {
    queues: Vec<Option<ThreadQueue>>,
    reader: Reader,
    seen: Vec<Annotation>,
}

impl Threads {
    fn new(count: u32) -> Self {
        let mut reader = Reader::default();
        let queue = |tid| {
            let (queue, events) = ThreadQueue::new().unwrap();
            reader.rings.push(Ring::new(tid, events));
            Some(queue)
        };
        Self { queues: (0..count).map(queue).collect(), reader, seen: Vec::new() }
    }

    fn queue(&mut self, thread: usize) -> &mut ThreadQueue {
        self.queues[thread].as_mut().unwrap()
    }

    fn send(&mut self, thread: usize, what: What, number: u64, time: i64) {
        self.queue(thread).send(Event { time, number, text: TEXTS.find(b"sent"), what }).unwrap();
    }

    /// Reads until there is nothing.
    fn read(&mut self) {
        while self.reader.read(|annotation| self.seen.push(annotation)) > 0 {}
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
        std::mem::take(&mut self.seen).iter().filter_map(range).collect()
    }
}

/// What a thread of the model does.
#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    /// While recording is paused.
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
        // Of each open range: its start where it was recorded, and the number that dispatches then carry.
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
        // What is open when the thread ends has a start and no end.
        threads.queues.clear();
        let open = model.iter().zip(0..).filter_map(|((start, _), level)| Some((level, (*start)?)));
        let open: Vec<_> = open.map(|(level, start): (u32, _)| (format!("level {level}"), 0, start, None)).collect();
        prop_assert_eq!(threads.ranges(), open);
        prop_assert!(threads.reader.rings.is_empty());
    }
}

#[test]
fn a_started_range_is_stopped_by_any_thread_and_whichever_is_read_first() {
    let mut threads = Threads::new(2);
    threads.send(0, What::Start, 1, 10);
    threads.send(1, What::Stop, 1, 20);
    // The ring of thread 0 is read first, so this end comes before its beginning.
    threads.send(0, What::Stop, 2, 40);
    threads.send(1, What::Start, 2, 30);
    let sent = |tid, start, end| ("sent".to_owned(), tid, start, Some(end));
    assert_eq!(threads.ranges(), [sent(0, 10, 20), sent(1, 30, 40)]);
}

#[test]
fn an_end_without_a_beginning_is_forgotten() {
    let mut threads = Threads::new(1);
    threads.send(0, What::Start, 1, 10);
    threads.send(0, What::Stop, 1, 20);
    threads.send(0, What::Stop, 1, 30);
    assert_eq!(threads.ranges().len(), 1);
    assert!(threads.reader.early.is_empty());
}

#[test]
fn what_is_open_at_the_end_of_a_recording_has_no_end_and_is_not_in_the_next_one() {
    let mut threads = Threads::new(1);
    let text = TEXTS.find(b"around");
    threads.queue(0).push(0, text, 5).unwrap();
    threads.send(0, What::Start, 1, 7);
    threads.read();
    // Its ring would go to the pending threads, where other tests would find it.
    let mut ring = threads.reader.rings.pop().unwrap();
    close(&mut ring, &mut |annotation| threads.seen.push(annotation));
    threads.reader.finish(|annotation| threads.seen.push(annotation));
    assert_eq!(threads.ranges(), [("around".to_owned(), 0, 5, None), ("sent".to_owned(), 0, 7, None)]);

    threads.reader.rings.push(ring);
    threads.queue(0).pop_to(0, 9);
    threads.queue(0).push(0, text, 11).unwrap();
    threads.queue(0).pop_to(0, 12);
    assert_eq!(threads.ranges(), [("around".to_owned(), 0, 11, Some(12))]);
}

#[test]
fn a_ring_always_has_room_for_what_ends() {
    let mut threads = Threads::new(1);
    let text = TEXTS.find(b"deep");
    for level in 0..500 {
        threads.queue(0).push(level, text, 1).unwrap();
    }
    let event = Event { time: 1, number: 0, text, what: What::Mark };
    while threads.queue(0).send(event).is_ok() {}
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
        threads.send(0, What::Start, number, 1);
        threads.read();
    }
    let untracked = threads.seen.iter().filter(|seen| matches!(seen, Annotation::Untracked)).count();
    assert_eq!(untracked, 1);
}
