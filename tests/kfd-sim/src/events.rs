//! Events, with which the driver wakes waiting threads, and which it remembers if nobody waited for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The kind that programs and packets signal; the others report faults and never fire here.
const SIGNAL: u32 = 0;

/// A call that waits.
#[derive(Debug, Default)]
struct Waiter {
    /// True if it has been woken since it last looked: waking it again would be a call of the kernel for nothing.
    is_woken: AtomicBool,
    woken: Condvar,
}

#[derive(Debug)]
struct Event {
    kind: u32,
    auto_reset: bool,
    signaled: bool,
    waiters: Vec<Arc<Waiter>>,
    /// Grows with every firing; 0 means that a waiter does not care.
    age: u64,
}

impl Event {
    fn fire(&mut self) {
        self.signaled = !self.auto_reset || self.waiters.is_empty();
        self.age += 1;
    }

    /// The waiters to wake when the table is free again.
    fn to_wake(&self) -> Vec<Arc<Waiter>> {
        let sleeping = |waiter: &&Arc<Waiter>| !waiter.is_woken.swap(true, Ordering::AcqRel);
        self.waiters.iter().filter(sleeping).cloned().collect()
    }
}

/// Events by number, from 1.
#[derive(Debug, Default)]
struct Table {
    slots: Vec<Option<Event>>,
    /// All slots before this one are taken.
    full: usize,
}

impl Table {
    fn place(event: u32) -> usize {
        (event as usize).wrapping_sub(1)
    }

    fn get(&self, event: u32) -> Option<&Event> {
        self.slots.get(Self::place(event))?.as_ref()
    }

    fn get_mut(&mut self, event: u32) -> Option<&mut Event> {
        self.slots.get_mut(Self::place(event))?.as_mut()
    }

    /// Returns the event's number, the first that is free.
    fn insert(&mut self, event: Event) -> u32 {
        let place = (self.full..self.slots.len()).find(|place| self.slots[*place].is_none());
        let place = place.unwrap_or(self.slots.len());
        if place == self.slots.len() {
            self.slots.push(Some(event));
        } else {
            self.slots[place] = Some(event);
        }
        self.full = place + 1;
        self.full as u32
    }

    fn remove(&mut self, event: u32) -> Option<Event> {
        let place = Self::place(event);
        let removed = self.slots.get_mut(place)?.take();
        self.full = self.full.min(place);
        removed
    }
}

/// An event that a thread waits for, and the age at which the thread last saw it (0: none).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventWait {
    pub(crate) event: u32,
    pub(crate) age: u64,
}

/// The result of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The ages are updated.
    Complete,
    Timeout,
    /// An event does not exist, or was destroyed meanwhile.
    Gone,
}

#[derive(Debug)]
pub(crate) struct Events {
    limit: u32,
    table: Mutex<Table>,
}

impl Events {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the new event's number, from 1; `None` when the limit is reached.
    pub(crate) fn create(&self, kind: u32, auto_reset: bool) -> Option<u32> {
        let event = Event { kind, auto_reset, signaled: false, waiters: Vec::new(), age: 1 };
        let mut table = self.table();
        let number = table.insert(event);
        if number >= self.limit {
            table.remove(number);
            return None;
        }
        Some(number)
    }

    /// Wakes the waiters; false if there was no such event.
    pub(crate) fn destroy(&self, event: u32) -> bool {
        let gone = self.table().remove(event);
        wake(gone.as_ref().map(Event::to_wake));
        gone.is_some()
    }

    /// Wakes the waiters; false if there is no such event.
    pub(crate) fn fire(&self, event: u32) -> bool {
        let waiters = self.table().get_mut(event).map(|event| {
            event.fire();
            event.to_wake()
        });
        let existed = waiters.is_some();
        wake(waiters);
        existed
    }

    /// False if there is no such event.
    pub(crate) fn reset(&self, event: u32) -> bool {
        self.table().get_mut(event).map(|event| event.signaled = false).is_some()
    }

    /// Blocks until one of the events, or all of them, fired; `None` waits for ever.
    pub(crate) fn wait(&self, awaited: &mut [EventWait], all: bool, timeout: Option<Duration>) -> Outcome {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let waiter = Arc::new(Waiter::default());
        let mut table = self.table();
        let mut done = Vec::with_capacity(awaited.len());
        let mut ages = Vec::with_capacity(awaited.len());
        for one in awaited.iter() {
            let Some(event) = table.get_mut(one.event) else {
                stop_waiting(&mut table, &awaited[..done.len()], &waiter);
                return Outcome::Gone;
            };
            let newer = event.kind == SIGNAL && one.age != 0 && one.age != event.age;
            done.push(event.signaled || newer);
            ages.push(event.age);
            event.signaled = event.signaled && !event.auto_reset;
            event.waiters.push(Arc::clone(&waiter));
        }
        let outcome = loop {
            let enough = if all { done.iter().all(|done| *done) } else { done.contains(&true) };
            if enough || awaited.is_empty() {
                break Outcome::Complete;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            waiter.is_woken.store(false, Ordering::Release);
            let woken = &waiter.woken;
            table = match left {
                Some(Duration::ZERO) => break Outcome::Timeout,
                Some(left) => woken.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0,
                None => woken.wait(table).unwrap_or_else(PoisonError::into_inner),
            };
            let mut gone = false;
            for (at, one) in awaited.iter().enumerate() {
                match table.get(one.event) {
                    Some(event) => done[at] |= event.age != ages[at],
                    None => gone = true,
                }
            }
            if gone {
                break Outcome::Gone;
            }
        };
        stop_waiting(&mut table, awaited, &waiter);
        if outcome == Outcome::Complete {
            for (one, _) in awaited.iter_mut().zip(&done).filter(|(one, done)| **done && one.age != 0) {
                one.age = table.get(one.event).map_or(one.age, |event| event.age);
            }
        }
        outcome
    }
}

fn wake(waiters: Option<Vec<Arc<Waiter>>>) {
    for waiter in waiters.into_iter().flatten() {
        waiter.woken.notify_one();
    }
}

fn stop_waiting(table: &mut Table, awaited: &[EventWait], waiter: &Arc<Waiter>) {
    for one in awaited {
        if let Some(event) = table.get_mut(one.event) {
            event.waiters.retain(|other| !Arc::ptr_eq(other, waiter));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOT_AT_ALL: Option<Duration> = Some(Duration::ZERO);

    fn wait(events: &Events, event: u32, age: u64) -> (Outcome, u64) {
        let mut awaited = [EventWait { event, age }];
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
        let waiting = || events.table().get(event).is_some_and(|event| event.waiters.len() == 1);
        for (act, outcome) in
            [(Events::fire as fn(&Events, u32) -> bool, Outcome::Complete), (Events::destroy, Outcome::Gone)]
        {
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| events.wait(&mut [EventWait { event, age: 0 }], true, None));
                while !waiting() {
                    std::thread::yield_now();
                }
                act(&events, event);
                assert_eq!(waiter.join().unwrap(), outcome);
            });
        }
    }

    #[test]
    fn firing_wakes_who_waits_and_nobody_else() {
        let events = Events::new(4096);
        let two = [events.create(SIGNAL, true).unwrap(), events.create(SIGNAL, true).unwrap()];
        let waiting = |event| events.table().get(event).is_some_and(|event| event.waiters.len() == 1);
        std::thread::scope(|scope| {
            let waiters = two.map(|event| {
                let events = &events;
                scope.spawn(move || events.wait(&mut [EventWait { event, age: 0 }], true, None))
            });
            while !two.into_iter().all(waiting) {
                std::thread::yield_now();
            }
            events.fire(two[1]);
            while waiting(two[1]) {
                std::thread::yield_now();
            }
            assert!(waiting(two[0]));
            events.fire(two[0]);
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Outcome::Complete);
            }
        });
    }

    #[test]
    fn all_or_one_is_what_the_caller_says() {
        let events = Events::new(4096);
        let two = [events.create(SIGNAL, false).unwrap(), events.create(SIGNAL, false).unwrap()];
        events.fire(two[1]);
        let mut awaited = two.map(|event| EventWait { event, age: 0 });
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
