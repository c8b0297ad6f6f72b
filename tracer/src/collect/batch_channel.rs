//! The bounded channel from the collector to the recorder.
//!
//! It passes batches, so that the lock is taken once for up to a thousand dispatches. Emptied batches go back last in, first out,
//! so that a recorder that keeps up works on a few hundred kilobytes that stay in the cache. Neither side is a thread of the
//! application, so neither can make one wait.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::base::budget::Budget;
use crate::base::headroom;
use crate::base::try_lock::lock;
use crate::events::recorder_waker::{Waker, Wakeup};

/// Entries in a batch.
pub const BATCH: usize = 1024;

/// This number of batches wakes the recorder, and this many empty ones are kept. Further ones are made as they are needed and
/// freed again.
const USUAL: usize = 128;

struct State<T> {
    full: std::collections::VecDeque<Vec<T>>,
    empty: Vec<Vec<T>>,
    closed: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    wakeup: Arc<Wakeup>,
    budget: Arc<Budget>,
    /// Number of full batches that wakes the recorder before its time.
    wakes: usize,
}

pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    filling: Vec<T>,
    /// True once the receiver was shown a batch.
    has_shown: bool,
}

pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

/// Makes a channel that holds as much as the budget allows.
#[must_use]
pub fn batch_channel<T>(budget: Arc<Budget>) -> (Sender<T>, Receiver<T>) {
    let state = State { full: std::collections::VecDeque::new(), empty: Vec::new(), closed: false };
    let wakes = (budget.bound() / bytes::<T>()).div_ceil(2).clamp(1, USUAL);
    let shared = Arc::new(Shared { state: Mutex::new(state), wakeup: Arc::default(), budget, wakes });
    (Sender { shared: Arc::clone(&shared), filling: Vec::new(), has_shown: false }, Receiver { shared })
}

const fn bytes<T>() -> usize {
    BATCH * size_of::<T>()
}

/// Makes a channel that holds at most `batches` times [`BATCH`] entries.
#[cfg(test)]
pub(crate) fn batch_channel_of<T>(batches: usize) -> (Sender<T>, Receiver<T>) {
    batch_channel(Arc::new(Budget::new(batches * bytes::<T>())))
}

impl<T> Sender<T> {
    /// True if [`Sender::send`] will take the next entry.
    pub fn has_room(&mut self) -> bool {
        self.filling.len() < self.filling.capacity() || self.swap_batch()
    }

    /// Fails when the recorder is so far behind that there is no room.
    ///
    /// # Errors
    /// The entry itself.
    pub fn send(&mut self, entry: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(entry);
        }
        self.filling.push(entry);
        Ok(())
    }

    /// Shows the receiver the entries so far, unless it has not even taken those that it was shown before: then a batch may as
    /// well become full. Wakes it only when many batches wait, and for the first one of all.
    pub fn flush(&mut self) {
        if !self.filling.is_empty() && lock(&self.shared.state).full.is_empty() {
            self.swap_batch();
        }
    }

    /// True if entries were sent that the receiver has not been shown.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        !self.filling.is_empty()
    }

    /// Passes the present batch on and takes an empty one; false when there is none.
    fn swap_batch(&mut self) -> bool {
        let mut state = lock(&self.shared.state);
        if !self.filling.is_empty() {
            state.full.push_back(std::mem::take(&mut self.filling));
            let is_first = !std::mem::replace(&mut self.has_shown, true);
            if is_first {
                self.shared.wakeup.is_urgent.store(true, Ordering::Release);
            }
            if is_first || state.full.len() >= self.shared.wakes {
                self.shared.wakeup.has_come.notify_one();
            }
        }
        self.filling = match state.empty.pop() {
            Some(batch) => batch,
            // The first two batches may be in reserved memory, because they are always used again.
            None if (!headroom::is_gone() || state.full.is_empty())
                && self.shared.budget.take_batch(bytes::<T>()) =>
            {
                Vec::with_capacity(BATCH)
            }
            None => {
                self.shared.budget.set_behind(true);
                return false;
            }
        };
        self.shared.budget.set_behind(false);
        true
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.full.push_back(std::mem::take(&mut self.filling));
        state.closed = true;
        self.shared.wakeup.has_come.notify_one();
    }
}

impl<T> Receiver<T> {
    /// A handle by which others than the sender wake the recorder.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker::new(&self.shared.wakeup)
    }

    /// Returns when many batches wait, when the sender is dropped, on a [`Waker`], or after `most`. False if the sender is
    /// dropped or the recorder is to end without that: [`Receiver::take`] then returns the rest.
    pub fn wait(&self, most: Duration) -> bool {
        let state = lock(&self.shared.state);
        let wakeup = &*self.shared.wakeup;
        let calm = |state: &mut State<T>| {
            !state.closed
                && state.full.len() < self.shared.wakes
                && !wakeup.is_urgent.swap(false, Ordering::Acquire)
                && !wakeup.is_over.load(Ordering::Acquire)
                && !wakeup.is_requested()
        };
        let waited = wakeup.has_come.wait_timeout_while(state, most, calm);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !state.closed && !wakeup.is_over.load(Ordering::Acquire)
    }

    /// Number of requests to bring everything up to date: they include everything that has come by now.
    #[must_use]
    pub fn requested(&self) -> u32 {
        self.shared.wakeup.requested.load(Ordering::Acquire)
    }

    /// Calls `update` if there is a request up to `requested` that is not answered.
    pub fn answer(&self, requested: u32, update: impl FnOnce()) {
        let wakeup = &*self.shared.wakeup;
        if requested != wakeup.answered.load(Ordering::Relaxed) {
            update();
            wakeup.answered.store(requested, Ordering::Release);
        }
    }

    /// Passes each of the oldest entries, at most [`BATCH`], to `each`; returns their number, 0 when there is none.
    pub fn take(&self, mut each: impl FnMut(&T)) -> usize {
        let Some(mut batch) = lock(&self.shared.state).full.pop_front() else { return 0 };
        for entry in &batch {
            each(entry);
        }
        let count = batch.len();
        batch.clear();
        if batch.capacity() > 0 {
            let mut state = lock(&self.shared.state);
            if state.empty.len() < USUAL {
                state.empty.push(batch);
            } else {
                drop(state);
                drop(batch);
                self.shared.budget.give_batch_back(bytes::<T>());
            }
        }
        count
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.wakeup.is_done.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::counters::Lost;

    const ENTRIES: u64 = if cfg!(miri) { 5_000 } else { 100_000 };

    fn taken(receiver: &Receiver<u64>) -> Vec<u64> {
        let mut all = Vec::new();
        while receiver.take(|&entry| all.push(entry)) > 0 {}
        all
    }

    #[test]
    fn what_is_flushed_arrives_in_order() {
        let (mut sender, receiver) = batch_channel_of(4);
        for entry in 0..3 {
            sender.send(entry).unwrap();
        }
        assert!(taken(&receiver).is_empty(), "not shown yet");
        sender.flush();
        assert_eq!(taken(&receiver), [0, 1, 2]);
    }

    #[test]
    fn what_is_shown_first_wakes_the_receiver() {
        let (mut sender, receiver) = batch_channel_of(4);
        let receiving = std::thread::spawn(move || {
            let mut all = Vec::new();
            while all.is_empty() && receiver.wait(Duration::from_secs(3600)) {
                all = taken(&receiver);
            }
            all
        });
        sender.send(1).unwrap();
        sender.flush();
        assert_eq!(receiving.join().unwrap(), [1]);
    }

    #[test]
    fn entries_are_held_back_while_others_wait() {
        let (mut sender, receiver) = batch_channel_of(4);
        for (entry, is_held_back) in [(0, false), (1, true)] {
            sender.send(entry).unwrap();
            sender.flush();
            assert_eq!(sender.holds_back(), is_held_back);
        }
        assert_eq!(taken(&receiver), [0]);
        sender.flush();
        assert!(!sender.holds_back());
        assert_eq!(taken(&receiver), [1]);
    }

    #[test]
    fn without_room_the_entry_comes_back_and_goes_through_when_there_is_room_again() {
        let (mut sender, receiver) = batch_channel_of(2);
        let room = 2 * BATCH as u64;
        for entry in 0..room {
            sender.send(entry).unwrap();
        }
        assert_eq!(sender.send(room), Err(room));
        assert_eq!(sender.send(room), Err(room));
        assert_eq!(receiver.take(|_| ()), BATCH);
        sender.send(room).unwrap();
        drop(sender);
        assert_eq!(taken(&receiver), (BATCH as u64..=room).collect::<Vec<_>>());
    }

    #[test]
    fn a_receiver_that_is_late_gets_what_the_budget_holds_and_the_memory_is_free_afterwards() {
        let batches = 4 * USUAL;
        let budget = Arc::new(Budget::new(batches * bytes::<u64>()));
        let (mut sender, receiver) = batch_channel(Arc::clone(&budget));
        let room = (batches * BATCH) as u64;
        for entry in 0..room {
            sender.send(entry).unwrap();
        }
        assert_eq!(
            (sender.send(room), budget.used(), budget.loss()),
            (Err(room), budget.bound(), Lost::Behind)
        );
        assert!(taken(&receiver).into_iter().eq(0..room));
        assert_eq!(budget.used(), USUAL * bytes::<u64>());
        sender.send(room).unwrap();
        assert_eq!(budget.loss(), Lost::Buffer);
    }

    #[test]
    fn the_receiver_learns_that_the_sender_is_gone() {
        let (mut sender, receiver) = batch_channel_of(2);
        assert!(receiver.wait(Duration::ZERO));
        sender.send(7).unwrap();
        drop(sender);
        assert!(!receiver.wait(Duration::from_secs(3600)));
        assert_eq!(taken(&receiver), [7]);
    }

    #[test]
    fn a_nudge_ends_one_wait() {
        let (_sender, receiver) = batch_channel_of::<u64>(2);
        receiver.waker().wake();
        assert!(receiver.wait(Duration::from_secs(3600)));
        assert!(receiver.wait(Duration::ZERO));
    }

    #[test]
    fn the_receiver_ends_without_waiting_for_the_sender_when_it_is_told_to() {
        let (_sender, receiver) = batch_channel_of::<u64>(2);
        let waker = receiver.waker();
        waker.close();
        assert!(!receiver.wait(Duration::from_secs(3600)) && !waker.is_done());
        drop(receiver);
        assert!(waker.is_done());
    }

    #[test]
    fn who_asks_learns_when_everything_is_up_to_date() {
        let (_sender, receiver) = batch_channel_of::<u64>(2);
        let waker = receiver.waker();
        let mut updates = 0;
        receiver.answer(receiver.requested(), || updates += 1);
        let (first, second) = (waker.request(), waker.request());
        assert!(receiver.wait(Duration::from_secs(3600)) && !waker.has_answered(first));
        receiver.answer(receiver.requested(), || updates += 1);
        assert!(waker.has_answered(first) && waker.has_answered(second));
        receiver.answer(receiver.requested(), || updates += 1);
        assert_eq!(updates, 1);
        assert!(!waker.has_answered(waker.request()));
    }

    #[test]
    fn between_two_threads_nothing_is_lost_or_turned_around() {
        let (mut sender, receiver) = batch_channel_of(3);
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            loop {
                let open = receiver.wait(Duration::from_millis(1));
                while receiver.take(|&entry| all.push(entry)) > 0 {}
                if !open {
                    return all;
                }
            }
        });
        for entry in 0..ENTRIES {
            while sender.send(entry).is_err() {
                std::thread::yield_now();
            }
            if entry % 100 == 0 {
                sender.flush();
            }
        }
        drop(sender);
        assert!(reader.join().unwrap().into_iter().eq(0..ENTRIES));
    }
}
