//! Events: what the driver wakes waiting threads with, and how it remembers what nobody waited for.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The kind that programs and packets signal; the others report faults and never fire here.
const SIGNAL: u32 = 0;

#[derive(Debug)]
struct Event {
    kind: u32,
    auto_reset: bool,
    signaled: bool,
    waiting: u32,
    /// Grows with every firing; 0 means that a waiter does not care.
    age: u64,
}

impl Event {
    /// Whether somebody waits for it.
    fn fire(&mut self) -> bool {
        self.signaled = !self.auto_reset || self.waiting == 0;
        self.age += 1;
        self.waiting > 0
    }
}

/// What a thread waits for: an event, and the age at which it last saw it (0: none).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited {
    pub(crate) event: u32,
    pub(crate) age: u64,
}

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The ages are updated.
    Complete,
    Timeout,
    /// An event does not exist, or was destroyed meanwhile.
    Gone,
}

/// The events of the process.
#[derive(Debug)]
pub(crate) struct Events {
    limit: u32,
    table: Mutex<HashMap<u32, Event>>,
    fired: Condvar,
}

impl Events {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, table: Mutex::default(), fired: Condvar::new() }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u32, Event>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The new event's number, from 1; `None` when the limit is reached.
    pub(crate) fn create(&self, kind: u32, auto_reset: bool) -> Option<u32> {
        let mut table = self.table();
        // Programs that destroy nothing fill the numbers in order, and need no search.
        let next = table.len() as u32 + 1;
        let event = (next..self.limit).chain(1..next).find(|number| !table.contains_key(number))?;
        table.insert(event, Event { kind, auto_reset, signaled: false, waiting: 0, age: 1 });
        Some(event)
    }

    /// Whether there was such an event. Who waits for it wakes.
    pub(crate) fn destroy(&self, event: u32) -> bool {
        let existed = self.table().remove(&event).is_some();
        self.fired.notify_all();
        existed
    }

    /// Whether there is such an event. Who waits for it wakes.
    pub(crate) fn fire(&self, event: u32) -> bool {
        let awaited = self.table().get_mut(&event).map(Event::fire);
        // Waking nobody is still a call of the kernel.
        if awaited == Some(true) {
            self.fired.notify_all();
        }
        awaited.is_some()
    }

    /// Whether there is such an event.
    pub(crate) fn reset(&self, event: u32) -> bool {
        self.table().get_mut(&event).map(|event| event.signaled = false).is_some()
    }

    /// Blocks until one of the events, or all of them, fired; `None` waits for ever.
    pub(crate) fn wait(&self, awaited: &mut [Awaited], all: bool, timeout: Option<Duration>) -> Outcome {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut table = self.table();
        let mut done = Vec::with_capacity(awaited.len());
        let mut ages = Vec::with_capacity(awaited.len());
        for one in awaited.iter() {
            let Some(event) = table.get_mut(&one.event) else {
                stop_waiting(&mut table, &awaited[..done.len()]);
                return Outcome::Gone;
            };
            let newer = event.kind == SIGNAL && one.age != 0 && one.age != event.age;
            done.push(event.signaled || newer);
            ages.push(event.age);
            event.signaled = event.signaled && !event.auto_reset;
            event.waiting += 1;
        }
        let outcome = loop {
            let enough = if all { done.iter().all(|done| *done) } else { done.contains(&true) };
            if enough || awaited.is_empty() {
                break Outcome::Complete;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            table = match left {
                Some(Duration::ZERO) => break Outcome::Timeout,
                Some(left) => self.fired.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.fired.wait(table).unwrap_or_else(PoisonError::into_inner),
            };
            let mut gone = false;
            for (at, one) in awaited.iter().enumerate() {
                match table.get(&one.event) {
                    Some(event) => done[at] |= event.age != ages[at],
                    None => gone = true,
                }
            }
            if gone {
                break Outcome::Gone;
            }
        };
        stop_waiting(&mut table, awaited);
        if outcome == Outcome::Complete {
            for (one, _) in awaited.iter_mut().zip(&done).filter(|(one, done)| **done && one.age != 0) {
                one.age = table.get(&one.event).map_or(one.age, |event| event.age);
            }
        }
        outcome
    }
}

fn stop_waiting(table: &mut HashMap<u32, Event>, awaited: &[Awaited]) {
    for one in awaited {
        if let Some(event) = table.get_mut(&one.event) {
            event.waiting = event.waiting.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOT_AT_ALL: Option<Duration> = Some(Duration::ZERO);

    fn wait(events: &Events, event: u32, age: u64) -> (Outcome, u64) {
        let mut awaited = [Awaited { event, age }];
        let outcome = events.wait(&mut awaited, true, NOT_AT_ALL);
        (outcome, awaited[0].age)
    }

    #[test]
    fn an_event_that_fired_before_anybody_waited_is_remembered_once() {
        let events = Events::new(4096);
        let event = events.create(SIGNAL, true).unwrap();
        assert_eq!(wait(&events, event, 0).0, Outcome::Timeout);
        events.fire(event);
        assert_eq!(wait(&events, event, 0).0, Outcome::Complete);
        assert_eq!(wait(&events, event, 0).0, Outcome::Timeout);
    }

    #[test]
    fn an_event_without_auto_reset_stays_fired_until_it_is_reset() {
        let events = Events::new(4096);
        let event = events.create(SIGNAL, false).unwrap();
        events.fire(event);
        assert_eq!(wait(&events, event, 0).0, Outcome::Complete);
        assert_eq!(wait(&events, event, 0).0, Outcome::Complete);
        events.reset(event);
        assert_eq!(wait(&events, event, 0).0, Outcome::Timeout);
    }

    #[test]
    fn another_age_satisfies_at_once_and_the_new_age_comes_back() {
        let events = Events::new(4096);
        let event = events.create(SIGNAL, true).unwrap();
        events.fire(event);
        assert_eq!(wait(&events, event, 1), (Outcome::Complete, 2));
        assert_eq!(wait(&events, event, 2), (Outcome::Timeout, 2));
    }

    #[test]
    fn a_waiting_thread_wakes_when_the_event_fires_or_goes() {
        let events = Events::new(4096);
        let event = events.create(SIGNAL, true).unwrap();
        let waiting = || events.table().get(&event).is_some_and(|event| event.waiting == 1);
        for (act, outcome) in
            [(Events::fire as fn(&Events, u32) -> bool, Outcome::Complete), (Events::destroy, Outcome::Gone)]
        {
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| events.wait(&mut [Awaited { event, age: 0 }], true, None));
                while !waiting() {
                    std::thread::yield_now();
                }
                act(&events, event);
                assert_eq!(waiter.join().unwrap(), outcome);
            });
        }
    }

    #[test]
    fn all_or_one_is_what_the_caller_says() {
        let events = Events::new(4096);
        let two = [events.create(SIGNAL, false).unwrap(), events.create(SIGNAL, false).unwrap()];
        events.fire(two[1]);
        let mut awaited = two.map(|event| Awaited { event, age: 0 });
        assert_eq!(events.wait(&mut awaited, false, NOT_AT_ALL), Outcome::Complete);
        assert_eq!(events.wait(&mut awaited, true, NOT_AT_ALL), Outcome::Timeout);
    }

    #[test]
    fn the_limit_is_an_error_and_not_a_surprise() {
        let events = Events::new(3);
        assert_eq!([(); 3].map(|()| events.create(SIGNAL, true)), [Some(1), Some(2), None]);
        assert!(events.destroy(1));
        assert_eq!(events.create(SIGNAL, true), Some(1));
    }
}
