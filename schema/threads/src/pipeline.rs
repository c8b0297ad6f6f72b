//! Work on a sequence of items by several threads, with the results in the order of the items.

use std::any::Any;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use crate::permit::permits;

/// The number of items of each thread that may wait or be done before their turn: of those that were pushed, and of those that the
/// consumer returned.
const AHEAD: usize = 2;

/// The sequence of pushed items.
const PUSHED: usize = 0;

/// The sequence of items that the consumer returned.
const RETURNED: usize = 1;

/// Items on the way, from [`Pipeline::push`] to its consumer.
struct Queue<I, T> {
    state: Mutex<State<I, T>>,
    /// Signalled where an item waits, and at the end.
    begin: Condvar,
    /// Signalled where a result is there.
    done: Condvar,
}

struct State<I, T> {
    /// Items on which no thread works yet, with their places.
    waiting: VecDeque<(Place, I)>,
    /// Of both sequences. One does not wait for the other, because their items may take times that differ a lot.
    sequences: [Sequence<T>; 2],
    is_closed: bool,
}

/// The place of an item: its sequence and its number in it.
type Place = (usize, usize);

/// Items whose results are consumed in their order.
struct Sequence<T> {
    /// The results of the items from `first` on.
    results: VecDeque<Option<Outcome<T>>>,
    /// The number of the item whose result is next.
    first: usize,
}

impl<T> Sequence<T> {
    const EMPTY: Self = Self { results: VecDeque::new(), first: 0 };

    /// The next result, if it is there.
    fn next(&mut self) -> Option<Outcome<T>> {
        let next = self.results.pop_front_if(|result| result.is_some()).flatten();
        self.first += usize::from(next.is_some());
        next
    }
}

/// A result, or the panic in place of one.
type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// The side of the items: see [`pipeline`].
pub struct Pipeline<'scope, 'env, I, T, W, C> {
    queue: &'scope Queue<I, T>,
    work: &'scope W,
    consume: C,
    scope: &'scope Scope<'scope, 'env>,
    /// The threads beside this one.
    helpers: usize,
}

impl<I, T> Queue<I, T> {
    fn lock(&self) -> MutexGuard<'_, State<I, T>> {
        // No code of others runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item behind all others of its sequence.
    fn add(&self, sequence: usize, item: I) {
        let mut state = self.lock();
        let Sequence { results, first } = &mut state.sequences[sequence];
        let number = *first + results.len();
        results.push_back(None);
        state.waiting.push_back(((sequence, number), item));
        drop(state);
        self.begin.notify_one();
    }

    /// Works on an item and keeps the result.
    fn run(&self, ((sequence, number), item): (Place, I), work: &impl Fn(I) -> T) {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(item)));
        let mut state = self.lock();
        let Sequence { results, first } = &mut state.sequences[sequence];
        results[number - *first] = Some(outcome);
        drop(state);
        self.done.notify_one();
    }

    /// Works on items until the queue is closed.
    fn serve(&self, work: &impl Fn(I) -> T) {
        let mut state = self.lock();
        loop {
            if let Some(item) = state.waiting.pop_front() {
                drop(state);
                self.run(item, work);
                state = self.lock();
            } else if state.is_closed {
                return;
            } else {
                state = self.begin.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Closes the queue when the items end, by a panic too: the threads must not wait for more.
struct Close<'a, I, T>(&'a Queue<I, T>);

impl<I, T> Drop for Close<'_, I, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        state.waiting.clear();
        drop(state);
        self.0.begin.notify_all();
    }
}

impl<'scope, I, T, W, C, N, E> Pipeline<'scope, '_, I, T, W, C>
where
    I: Send + 'scope,
    T: Send + 'scope,
    W: Fn(I) -> T + Sync,
    C: FnMut(T) -> Result<N, E>,
    N: IntoIterator<Item = I>,
{
    /// Adds an item. Where two for each thread are on the way, it first works on some or passes results on.
    ///
    /// # Errors
    /// Those of the consumer.
    pub fn push(&mut self, item: I) -> Result<(), E> {
        self.start_helper();
        if self.helpers == 0 {
            let mut next = VecDeque::from([item]);
            while let Some(item) = next.pop_front() {
                next.extend((self.consume)((self.work)(item))?);
            }
            return Ok(());
        }
        self.drain(AHEAD * (self.helpers + 1) - 1)?;
        self.queue.add(PUSHED, item);
        Ok(())
    }

    /// Starts one more thread where items may wait for it and the bound allows it.
    fn start_helper(&mut self) {
        if self.helpers > 0 && self.queue.lock().waiting.is_empty() {
            return;
        }
        let Some(permit) = permits(1).pop() else { return };
        let (queue, work) = (self.queue, self.work);
        let serve = move || {
            let _permit = permit;
            queue.serve(work);
        };
        // Where the system starts no thread, the others do its work.
        let started = std::thread::Builder::new().spawn_scoped(self.scope, serve);
        self.helpers += usize::from(started.is_ok());
    }

    /// Passes results on until at most `left` items of each sequence are on the way.
    fn drain(&mut self, left: usize) -> Result<(), E> {
        let most = AHEAD * (self.helpers + 1);
        let mut state = self.queue.lock();
        loop {
            let [pushed, returned] = &mut state.sequences;
            let mut next = returned.next();
            // What is returned for it needs room.
            if next.is_none() && returned.results.len() < most {
                next = pushed.next();
            }
            if let Some(outcome) = next {
                drop(state);
                let items = (self.consume)(outcome.unwrap_or_else(|panic| resume_unwind(panic)))?;
                items.into_iter().for_each(|item| self.queue.add(RETURNED, item));
                state = self.queue.lock();
            } else if pushed.results.len() <= left && returned.results.len() <= left {
                return Ok(());
            } else if let Some(item) = state.waiting.pop_front() {
                drop(state);
                self.queue.run(item, self.work);
                state = self.queue.lock();
            } else {
                state = self.queue.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Runs `produce`, which pushes items; does `work` on them on several threads, this one included; and calls `consume` on
/// this thread for the results, in the order of the items. Items that `consume` returns are for work with a step in between
/// that needs the order. They are a sequence of their own, which is consumed in the order in which they were returned, but
/// before or after any pushed items. After an error of `consume`, later items may be worked on, but not consumed.
///
/// # Errors
/// The first of `produce` and `consume`.
pub fn pipeline<I: Send, T: Send, N: IntoIterator<Item = I>, E, W, C>(
    work: W,
    consume: C,
    produce: impl FnOnce(&mut Pipeline<'_, '_, I, T, W, C>) -> Result<(), E>,
) -> Result<(), E>
where
    W: Fn(I) -> T + Sync,
    C: FnMut(T) -> Result<N, E>,
{
    let state = State { waiting: VecDeque::new(), sequences: [Sequence::EMPTY; 2], is_closed: false };
    let queue = Queue { state: Mutex::new(state), begin: Condvar::new(), done: Condvar::new() };
    let (queue, work) = (&queue, &work);
    std::thread::scope(|scope| {
        let _close = Close(queue);
        let mut pipeline = Pipeline { queue, work, consume, scope, helpers: 0 };
        produce(&mut pipeline)?;
        pipeline.drain(0)
    })
}

/// Does `work` on all items on several threads and calls `consume` on this one for the results, in the order of the items.
///
/// # Errors
/// The first one of `consume`.
pub fn in_order<I: Send, T: Send, E>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
    mut consume: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = items.into_iter();
    if items.size_hint().1.is_some_and(|most| most < 2) {
        return items.map(work).try_for_each(consume);
    }
    let consume = |result| consume(result).map(|()| None::<I>);
    pipeline(work, consume, |pipeline| items.try_for_each(|item| pipeline.push(item)))
}

/// The results of `work` on all items, in their order.
pub fn map<I: Send, T: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let mut results = Vec::new();
    let Ok(()) = in_order(items, work, |result| {
        results.push(result);
        Ok::<(), Infallible>(())
    });
    results
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::time::Duration;

    use super::*;

    /// Work that ends in no order.
    fn slow(number: u64) -> u64 {
        std::thread::sleep(Duration::from_micros(number * 7_919 % 400));
        number * number
    }

    #[test]
    fn results_come_in_the_order_of_the_items_with_any_number_of_threads() {
        let expected: Vec<u64> = (0..200).map(|number| number * number).collect();
        for threads in [1, 2, 5, 16] {
            crate::set_limit(NonZero::new(threads).unwrap());
            assert_eq!(map(0..200, slow), expected, "{threads} threads");
        }
    }

    #[test]
    fn what_the_consumer_returns_is_worked_on_in_its_order_too() {
        for threads in [1, 2, 5, 16] {
            crate::set_limit(NonZero::new(threads).unwrap());
            let (mut first, mut second) = (Vec::new(), Vec::new());
            let work = |(number, is_again): (u64, bool)| {
                slow(number);
                (number, is_again)
            };
            let consume = |(number, is_again): (u64, bool)| {
                if is_again {
                    second.push(number);
                    return Ok::<_, Infallible>(Vec::new());
                }
                first.push(number);
                Ok(vec![(number, true); number as usize % 3])
            };
            let Ok(()) = pipeline(work, consume, |pipeline| {
                (0..200).try_for_each(|number| pipeline.push((number, false)))
            });
            assert!(first.into_iter().eq(0..200), "{threads} threads");
            let expected = (0..200).flat_map(|number| std::iter::repeat_n(number, number as usize % 3));
            assert!(second.into_iter().eq(expected), "{threads} threads");
        }
    }

    #[test]
    fn work_within_work_keeps_the_bound() {
        crate::set_limit(NonZero::new(3).unwrap());
        let running = std::sync::atomic::AtomicUsize::new(0);
        let most = map(0..20_u64, |outer| {
            let inner = map(0..5_u64, |number| {
                let now = running.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                slow(outer * 5 + number);
                running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                now
            });
            inner.into_iter().max()
        });
        assert!(most.into_iter().flatten().max() <= Some(3));
    }

    #[test]
    fn after_an_error_of_the_consumer_nothing_is_consumed() {
        crate::set_limit(NonZero::new(4).unwrap());
        let mut seen = Vec::new();
        let failed = in_order(0..100, slow, |square| {
            seen.push(square);
            if square == 49 { Err(square) } else { Ok(()) }
        });
        assert_eq!((failed, seen), (Err(49), vec![0, 1, 4, 9, 16, 25, 36, 49]));
    }

    #[test]
    fn a_panic_of_the_work_is_one_of_the_caller() {
        crate::set_limit(NonZero::new(4).unwrap());
        let caught = catch_unwind(|| map(0..50, |number| assert_ne!(number, 17)));
        assert!(caught.is_err());
        assert_eq!(map(0..3, slow), [0, 1, 4], "the threads are free again");
    }

    #[test]
    fn few_items_are_on_the_way_at_a_time() {
        crate::set_limit(NonZero::new(3).unwrap());
        let begun = std::sync::atomic::AtomicUsize::new(0);
        let mut consumed = 0;
        let all = in_order(
            0..100_u64,
            |_| begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
            |_| {
                consumed += 1;
                let ahead = begun.load(std::sync::atomic::Ordering::SeqCst) - consumed;
                if ahead > 6 { Err(ahead) } else { Ok(()) }
            },
        );
        assert_eq!(all, Ok(()));
    }
}
