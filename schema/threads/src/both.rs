//! Two works at the same time.

use crate::queue::{PUSHED, Results, Turn, with_team};

/// The results of two works, at the same time where the bound allows it, else one after the other. The calling thread does the second
/// one.
pub fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    let (mut first, mut second) = (None, None);
    let mut one = Some(one);
    let result = &mut first;
    let job = move || {
        *result = one.take().map(|one| one());
        Turn::Over
    };
    with_team(
        Results::Large,
        Box::new(|team| {
            team.add(PUSHED, Box::new(job));
            if team.is_alone() {
                while team.next(0).is_some() {}
            }
            second = Some(other());
            while team.next(0).is_some() {}
        }),
    );
    first.zip(second).expect("the team ends when both works have")
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    #[test]
    fn both_results_come_with_any_number_of_threads() {
        for threads in [1, 2, 5] {
            crate::set_limit(NonZero::new(threads).unwrap());
            assert_eq!(both(|| 1, || both(|| "2", || 3.0)), (1, ("2", 3.0)), "{threads} threads");
        }
    }

    #[test]
    fn the_calling_thread_does_the_second_work() {
        let own = || std::thread::current().id();
        for threads in [1, 5] {
            crate::set_limit(NonZero::new(threads).unwrap());
            assert_eq!(both(|| (), own).1, own(), "{threads} threads");
        }
    }
}
