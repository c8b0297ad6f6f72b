//! Long work on a few items, by as many threads as are free at each moment.

use crate::queue::{PUSHED, Results, Turn, with_team};

/// Does `turn` on all items on several threads, and again on what it returns, until nothing is left. After its turn an item goes
/// behind the others, and threads that other work has left meanwhile take some.
pub fn turns<I: Send>(items: impl IntoIterator<Item = I>, turn: impl Fn(I) -> Option<I> + Sync) {
    let turn = &turn;
    with_team(
        Results::Large,
        Box::new(|team| {
            for item in items {
                let mut left = Some(item);
                let job = move || {
                    left = left.take().and_then(turn);
                    if left.is_some() { Turn::Again } else { Turn::Over }
                };
                team.add(PUSHED, Box::new(job));
            }
            while team.next(0).is_some() {}
        }),
    );
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn all_turns_of_all_items_are_taken_with_any_number_of_threads() {
        for threads in [1, 2, 5, 16] {
            crate::set_limit(NonZero::new(threads).unwrap());
            let taken = [const { AtomicU64::new(0) }; 7];
            turns(0..7_u64, |item| {
                let before = taken[item as usize].fetch_add(1, Ordering::Relaxed);
                (before < 10 * item).then_some(item)
            });
            let taken = taken.map(AtomicU64::into_inner);
            assert_eq!(taken, [1, 11, 21, 31, 41, 51, 61], "{threads} threads");
        }
    }

    #[test]
    fn a_panic_of_a_turn_is_one_of_the_caller_and_ends_the_others() {
        for threads in [1, 4] {
            crate::set_limit(NonZero::new(threads).unwrap());
            let caught = catch_unwind(|| {
                turns(0..5, |item| {
                    assert_ne!(item, 0);
                    Some(item)
                });
            });
            assert!(caught.is_err(), "{threads} threads");
        }
    }
}
