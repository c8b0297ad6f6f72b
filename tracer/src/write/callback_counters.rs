//! The counters of all records, as an embedding program reads them.

use std::sync::Arc;

use crate::base::abi::{Counters, Counts};
use crate::base::counters::{self, Lost, UNHANDED};
use crate::base::published::Published;
use crate::collect::recorder_state::RecorderState;

/// State of the recording that began last.
static LATEST: Published<Arc<RecorderState>> = Published::new();

/// Publishes the counters of a recording that begins. The state of each start of the runtime stays in memory, as its kernels and
/// queues do.
pub fn begin(known: &Arc<RecorderState>) {
    LATEST.set(Arc::clone(known));
}

/// Called in the child of a fork, which has recorded nothing.
pub fn forget() {
    LATEST.forget();
}

/// Zeros before a recording begins.
pub fn now() -> Counters {
    let none = || Counters { size: size_of::<Counters>(), ..Counters::default() };
    LATEST.get().map_or_else(none, |known| read(known))
}

pub fn read(known: &RecorderState) -> Counters {
    Counters {
        size: size_of::<Counters>(),
        kernels: ops(&known.counters),
        copies: ops(&known.copies),
        ranges: ranges([&known.ranges, &UNHANDED]),
        calls: sum(known.calls.each_ref().map(ops)),
        barriers: ops(&known.barriers),
    }
}

fn ops(counters: &counters::Counters) -> Counts {
    let now = counters.snapshot();
    let behind = now.lost.iter().find(|(why, _)| *why == Lost::Behind);
    Counts {
        seen: now.seen,
        delivered: now.recorded,
        lost: now.lost(),
        lost_behind: behind.map_or(0, |&(_, count)| count),
        skipped: now.skipped(),
    }
}

fn sum<const N: usize>(all: [Counts; N]) -> Counts {
    all.into_iter().fold(Counts::default(), |sum, counts| Counts {
        seen: sum.seen + counts.seen,
        delivered: sum.delivered + counts.delivered,
        lost: sum.lost + counts.lost,
        lost_behind: sum.lost_behind + counts.lost_behind,
        skipped: sum.skipped + counts.skipped,
    })
}

/// Ranges and markers are not counted as seen, so that count is the sum of their outcomes.
fn ranges<const N: usize>(all: [&counters::Counters; N]) -> Counts {
    let counts = sum(all.map(ops));
    Counts { seen: counts.delivered + counts.lost + counts.skipped, ..counts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::counters::Skipped;

    #[test]
    fn losses_are_added_up_and_those_of_a_slow_callback_are_told_apart() {
        let kernels = counters::Counters::default();
        kernels.see(20);
        kernels.record(10);
        kernels.lose(Lost::Behind, 4);
        kernels.lose(Lost::Times, 2);
        kernels.skip(Skipped::Paused, 3);
        assert_eq!(ops(&kernels), Counts { seen: 20, delivered: 10, lost: 6, lost_behind: 4, skipped: 3 });
    }

    #[test]
    fn of_ranges_those_count_too_that_were_never_handed_over() {
        let (known, unhanded) = (counters::Counters::default(), counters::Counters::default());
        known.record(5);
        known.lose(Lost::Write, 1);
        unhanded.lose(Lost::Behind, 2);
        unhanded.skip(Skipped::Paused, 3);
        let counts = Counts { seen: 11, delivered: 5, lost: 3, lost_behind: 2, skipped: 3 };
        assert_eq!(ranges([&known, &unhanded]), counts);
    }
}
