//! Compares the queue with a model, and runs it between two threads.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const PLACES: usize = 64;

fn blocks<T, const N: usize>(producer: &Producer<T, N>) -> usize {
    producer.shared.blocks.load(Ordering::Relaxed)
}

proptest! {
    #[test]
    fn a_queue_holds_as_many_values_as_were_reserved(
        steps in prop::collection::vec((any::<bool>(), 1_usize..200), 0..60),
        bound in 1_usize..400,
    ) {
        let (mut producer, mut consumer) = unbounded::<Box<usize>, PLACES>();
        prop_assert!(producer.reserve(bound));
        let (mut model, mut number) = (VecDeque::new(), 0);
        for (put, count) in steps {
            for _ in 0..count {
                if put && model.len() < bound {
                    prop_assert!(producer.push(Box::new(number)).is_ok());
                    model.push_back(number);
                    number += 1;
                } else if !put {
                    prop_assert_eq!(consumer.pop().map(|value| *value), model.pop_front());
                }
                prop_assert_eq!(consumer.is_empty(), model.is_empty());
            }
            producer.trim(bound);
        }
        prop_assert!(blocks(&producer) <= bound.div_ceil(PLACES) + MORE);
    }

    #[test]
    fn values_that_were_given_room_find_it_whatever_happens_in_between(
        steps in prop::collection::vec((0_u8..3, 1_usize..40), 0..200),
    ) {
        static BOUND: Bound = Bound::new(12, 2);
        let Some((mut producer, mut consumer)) = channel::<Box<usize>, 8>(&BOUND) else { return Ok(()) };
        let (mut model, mut number, mut room) = (VecDeque::new(), 0, 0);
        for (step, count) in steps {
            match step {
                0 => room = if producer.make_room(count) { count } else { 0 },
                1 => for _ in 0..count.min(room) {
                    prop_assert!(producer.push(Box::new(number)).is_ok());
                    model.push_back(number);
                    (number, room) = (number + 1, room - 1);
                },
                _ => for _ in 0..count {
                    prop_assert_eq!(consumer.pop().map(|value| *value), model.pop_front());
                },
            }
            prop_assert!(blocks(&producer) <= 12);
        }
    }
}

#[test]
fn between_two_threads_every_value_arrives_once_and_in_order() {
    static FREEING: Bound = Bound::new(usize::MAX, 2);
    for bound in [&UNBOUNDED, &FREEING] {
        let (mut producer, mut consumer) = channel::<Box<u32>, PLACES>(bound).unwrap();
        let count = if cfg!(miri) { 2_000 } else { 50_000 };
        let reader = std::thread::spawn(move || {
            let mut expected = 0;
            while expected < count {
                match consumer.pop() {
                    Some(value) => {
                        assert_eq!(*value, expected);
                        expected += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
        });
        for number in 0..count {
            assert!(producer.make_room(1));
            assert!(producer.push(Box::new(number)).is_ok());
        }
        reader.join().unwrap();
    }
}

#[test]
fn a_value_without_a_block_comes_back_and_goes_through_when_one_is_empty() {
    let (mut producer, mut consumer) = unbounded::<_, PLACES>();
    for number in 0..PLACES {
        assert_eq!(producer.push(number), Ok(()));
    }
    assert_eq!(producer.push(PLACES), Err(PLACES));
    assert!(producer.reserve(0), "as many as are in use when it is empty");
    assert_eq!(producer.push(PLACES), Ok(()));
    assert!((0..=PLACES).all(|number| consumer.pop() == Some(number)));
    assert_eq!((consumer.pop(), consumer.is_abandoned()), (None, false));
    drop(producer);
    assert!(consumer.is_abandoned());
}

#[test]
fn memory_that_is_not_needed_any_more_is_freed() {
    let (mut producer, mut consumer) = unbounded::<_, PLACES>();
    assert!(producer.reserve(100 * PLACES));
    assert_eq!(blocks(&producer), 100 + MORE);
    (0..100 * PLACES).for_each(|number| producer.push(number).unwrap());
    while consumer.pop().is_some() {}
    producer.trim(PLACES);
    assert_eq!(blocks(&producer), 1 + MORE);
}

#[test]
fn queues_grow_to_the_bound_that_they_share_and_again_when_they_were_emptied() {
    static BOUND: Bound = Bound::new(3, usize::MAX);
    let (mut producer, mut consumer) = channel::<usize, PLACES>(&BOUND).unwrap();
    for number in 0..3 * PLACES {
        assert!(producer.make_room(1));
        assert_eq!(producer.push(number), Ok(()));
    }
    assert!(!producer.make_room(1));
    assert_eq!((producer.push(0), producer.waiting()), (Err(0), 2));
    assert!(channel::<usize, PLACES>(&BOUND).is_none());
    assert!((0..=PLACES).all(|number| consumer.pop() == Some(number)));
    assert_eq!((producer.push(3 * PLACES), producer.waiting()), (Ok(()), 2));
    assert!((PLACES + 1..=3 * PLACES).all(|number| consumer.pop() == Some(number)));
    assert_eq!(consumer.pop(), None);
}

#[test]
fn a_queue_that_was_emptied_keeps_no_more_blocks_than_its_bound_says() {
    static BOUND: Bound = Bound::new(usize::MAX, 4);
    let (mut producer, mut consumer) = channel::<usize, PLACES>(&BOUND).unwrap();
    for number in 0..100 * PLACES {
        assert!(producer.make_room(1));
        assert_eq!(producer.push(number), Ok(()));
    }
    assert_eq!(blocks(&producer), 100);
    while consumer.pop().is_some() {}
    assert_eq!(blocks(&producer), 4);
    drop((producer, consumer));
    assert_eq!(BOUND.blocks.load(Ordering::Relaxed), 0);
}

#[test]
fn values_that_were_not_taken_are_dropped_with_the_queue() {
    let value = Arc::new(());
    for is_consumer_first in [false, true] {
        let (mut producer, mut consumer) = unbounded::<_, PLACES>();
        assert!(producer.reserve(2 * PLACES));
        (0..PLACES + 3).for_each(|_| producer.push(Arc::clone(&value)).unwrap());
        drop(consumer.pop());
        if is_consumer_first {
            drop(consumer);
            producer.push(Arc::clone(&value)).unwrap();
        } else {
            drop(producer);
        }
    }
    assert_eq!(Arc::strong_count(&value), 1);
}
