//! Work on a sequence of items by several threads, with the results in the order of the items.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use crate::queue::{PUSHED, RETURNED, Results, Team, Turn, with_team};

/// The result of an item, once its job has ended.
type Slot<T> = Arc<Mutex<Option<T>>>;

/// The side of the items: see [`pipeline`].
pub struct Pipeline<'a, 'job, I, T, C> {
    team: Team<'a, 'job>,
    /// The results of the items on the way, in their order, by sequence.
    slots: [VecDeque<Slot<T>>; 2],
    work: &'job (dyn Fn(I) -> T + Sync),
    consume: C,
}

impl<'job, I, T, C, N, E> Pipeline<'_, 'job, I, T, C>
where
    I: Send + 'job,
    T: Send + 'job,
    C: FnMut(T) -> Result<N, E>,
    N: IntoIterator<Item = I>,
{
    /// Adds an item. Where as many are on the way as may be, it first works on some or passes results on.
    pub fn push(&mut self, item: I) -> Result<(), E> {
        self.drain(self.team.most() - 1)?;
        self.add(PUSHED, item);
        if self.team.is_alone() { self.drain(0) } else { Ok(()) }
    }

    fn add(&mut self, sequence: usize, item: I) {
        let slot = Slot::default();
        self.slots[sequence].push_back(Arc::clone(&slot));
        let (work, mut item) = (self.work, Some(item));
        let job = move || {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = item.take().map(work);
            Turn::Over
        };
        self.team.add(sequence, Box::new(job));
    }

    fn drain(&mut self, left: usize) -> Result<(), E> {
        while let Some(sequence) = self.team.next(left) {
            let slot = self.slots[sequence].pop_front().expect("an item on the way has a slot");
            let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let items = (self.consume)(result.expect("a job that ended has a result"))?;
            items.into_iter().for_each(|item| self.add(RETURNED, item));
        }
        Ok(())
    }
}

/// Runs `produce`, which pushes items; does `work` on them on several threads, this one included; and calls `consume` on
/// this thread for the results, in the order of the items. Items that `consume` returns are for work with a step in between
/// that needs the order. They are a sequence of their own, which is consumed in the order in which they were returned, but
/// before or after any pushed items. After an error of `consume`, later items may be worked on, but not consumed.
///
/// # Errors
/// The first of `produce` and `consume`.
pub fn pipeline<I: Send, T: Send, N: IntoIterator<Item = I>, E, C>(
    results: Results,
    work: impl Fn(I) -> T + Sync,
    consume: C,
    produce: impl FnOnce(&mut Pipeline<'_, '_, I, T, C>) -> Result<(), E>,
) -> Result<(), E>
where
    C: FnMut(T) -> Result<N, E>,
{
    let mut outcome = Ok(());
    with_team(
        results,
        Box::new(|team| {
            let mut pipeline = Pipeline { team, slots: Default::default(), work: &work, consume };
            outcome = produce(&mut pipeline).and_then(|()| pipeline.drain(0));
        }),
    );
    outcome
}

/// Does `work` on all items on several threads and calls `consume` on this one for the results, in the order of the items.
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
    pipeline(Results::Large, work, consume, |pipeline| items.try_for_each(|item| pipeline.push(item)))
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
    use std::panic::catch_unwind;
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    /// Work that ends in no order.
    fn slow(number: u64) -> u64 {
        std::thread::sleep(Duration::from_micros(number * 7_919 % 400));
        number * number
    }

    #[test]
    fn a_thread_without_a_job_leaves_its_permit_to_other_work() {
        crate::set_limit(NonZero::new(2).unwrap());
        let calling = std::thread::current().id();
        let has_begun = AtomicBool::new(false);
        let until = |is_so: &dyn Fn() -> bool| {
            (0..10_000).any(|_| {
                std::thread::sleep(Duration::from_millis(1));
                is_so()
            })
        };
        let outcome = map(0..2, |_| match std::thread::current().id() == calling {
            true => {
                has_begun.store(true, Ordering::Relaxed);
                until(&|| crate::free() == 1)
            }
            false => until(&|| has_begun.load(Ordering::Relaxed)),
        });
        assert_eq!(outcome, [true, true]);
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
    fn small_results_come_in_the_order_of_the_items_too() {
        for threads in [1, 5, 16] {
            crate::set_limit(NonZero::new(threads).unwrap());
            let mut seen = Vec::new();
            let consume = |square| {
                seen.push(square);
                Ok::<_, Infallible>(None)
            };
            let push_all = |pipeline: &mut Pipeline<'_, '_, _, _, _>| {
                (0..100).try_for_each(|number| pipeline.push(number))
            };
            let Ok(()) = pipeline(Results::Small, slow, consume, push_all);
            assert!(seen.into_iter().eq((0..100).map(|number| number * number)), "{threads} threads");
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
            let Ok(()) = pipeline(Results::Large, work, consume, |pipeline| {
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
    fn threads_that_other_work_leaves_take_jobs_that_wait() {
        crate::set_limit(NonZero::new(3).unwrap());
        let other_work = crate::permits(1);
        let (running, has_begun) = (Mutex::new(0), Condvar::new());
        let meet = |()| {
            let mut running = running.lock().unwrap();
            *running += 1;
            has_begun.notify_all();
            let limit = Duration::from_secs(20);
            !has_begun.wait_timeout_while(running, limit, |running| *running < 3).unwrap().1.timed_out()
        };
        let mut met = Vec::new();
        let consume = |has_met| {
            met.push(has_met);
            Ok::<_, Infallible>(None)
        };
        let Ok(()) = pipeline(Results::Large, meet, consume, |pipeline| {
            (0..4).try_for_each(|_| pipeline.push(()))?;
            drop(other_work);
            Ok(())
        });
        assert_eq!(met, [true; 4]);
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
