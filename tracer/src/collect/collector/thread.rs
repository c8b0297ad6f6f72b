//! The collector's thread, which decides when to look and when to rest.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::{Collector, Pass};
use crate::base::fault;
use crate::base::process;
use crate::base::try_lock::lock;
use crate::collect::names::Resolve;
use crate::collect::shared::{Phase, Shared};

/// The collector's rest while dispatches are in flight: when some have just completed, and at most, when none has for a long
/// time.
pub const DOZE: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(4));

/// The rest while a signal of the application waits for the collector: at first, and at most.
const FORWARD_DOZE: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// When nothing is in flight, short rests go on for this time before the collector sleeps: a submission that finds it asleep pays
/// for waking it.
const LINGER: Duration = Duration::from_millis(20);

/// Limit on the time that the end waits for running dispatches.
pub const GRACE: Duration = Duration::from_millis(100);

/// Runs the thread until the recording ends, and takes the collector away then. After a failure it still forwards the completions
/// that the application waits for.
pub fn collect<R: Resolve>(collector: &Mutex<Option<Collector>>, shared: &Shared<R>) {
    process::sleep_finely();
    shared.parker.set_thread(std::thread::current());
    let (mut rest, mut patience) = (Rest::default(), None);
    loop {
        let was_ending = shared.is_ending();
        let turn = || turn(collector, shared, &mut rest, &mut patience);
        match catch_unwind(AssertUnwindSafe(turn)) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) if was_ending && shared.phase() == Phase::Failed => break,
            Err(_) => {
                shared.fail();
                // The sleep is for the case that every pass fails.
                std::thread::sleep(FORWARD_DOZE.1);
            }
        }
    }
    if let Some(collector) = lock(collector).take() {
        // Even after a panic in it, the recorder learns that nothing more will come.
        let _ = catch_unwind(AssertUnwindSafe(|| collector.end(shared)));
    }
}

/// Makes one pass and rests after it; false if it was the last one.
fn turn<R: Resolve>(
    collector: &Mutex<Option<Collector>>,
    shared: &Shared<R>,
    rest: &mut Rest,
    patience: &mut Option<Instant>,
) -> bool {
    fault::point("collect");
    let (phase, ending) = (shared.phase(), shared.is_ending());
    let pass = {
        let mut collector = lock(collector);
        let Some(collector) = &mut *collector else { return false };
        match phase {
            Phase::Failed => collector.forward_only(shared),
            _ => {
                let pass = collector.pass(ending, shared);
                collector.watch_oldest(shared);
                pass
            }
        }
    };
    let now = Instant::now();
    if ending && (pass.in_flight == 0 || now > *patience.get_or_insert(now + GRACE)) {
        return false;
    }
    let doze = rest.after(pass, now);
    let is_work = || match &*lock(collector) {
        Some(collector) => {
            doze.is_none()
                && (collector.is_behind() || shared.phase() != phase || shared.is_ending() != ending)
        }
        None => true,
    };
    shared.parker.park(doze, is_work);
    true
}

/// Decides how long the collector rests between two passes.
#[derive(Default)]
struct Rest {
    /// Set since nothing is in flight.
    idle: Option<Instant>,
    /// Set since nothing has completed.
    quiet: Option<Instant>,
    /// Set since a signal of the application waits.
    forwarding: Option<Instant>,
}

impl Rest {
    /// The time to sleep after a pass; `None` without a limit.
    fn after(&mut self, pass: Pass, now: Instant) -> Option<Duration> {
        let since = |start: &mut Option<Instant>, holds: bool| {
            if !holds {
                *start = None;
                return Duration::ZERO;
            }
            now.saturating_duration_since(*start.get_or_insert(now))
        };
        let forwarding = since(&mut self.forwarding, pass.forwards > 0);
        let quiet = since(&mut self.quiet, pass.in_flight > 0 && pass.completed == 0);
        let idle = since(&mut self.idle, pass.in_flight == 0 && pass.completed == 0 && !pass.holds_back);
        if pass.forwards > 0 {
            Some((forwarding / 16).clamp(FORWARD_DOZE.0, FORWARD_DOZE.1))
        } else if pass.in_flight > 0 {
            Some((quiet / 8).clamp(DOZE.0, DOZE.1))
        } else {
            (idle < LINGER).then_some(DOZE.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collector_rests_longer_the_longer_it_has_nothing_to_do() {
        let (mut rest, start) = (Rest::default(), Instant::now());
        let mut after = |completed, in_flight, forwards, at| {
            let pass = Pass { completed, in_flight, forwards, holds_back: false };
            rest.after(pass, start + Duration::from_millis(at))
        };
        assert_eq!(after(5, 5, 0, 0), Some(DOZE.0));
        assert_eq!(after(0, 5, 0, 10), Some(DOZE.0), "quiet since now");
        assert_eq!(after(0, 5, 0, 34), Some(Duration::from_millis(3)));
        assert_eq!(after(0, 5, 0, 1000), Some(DOZE.1), "a kernel that runs for long");
        assert_eq!(after(1, 5, 0, 1001), Some(DOZE.0), "something completed");
        assert_eq!(after(0, 5, 1, 1010), Some(FORWARD_DOZE.0), "the application waits");
        assert_eq!(after(0, 5, 1, 1018), Some(Duration::from_micros(500)));
        assert_eq!(after(0, 5, 1, 2000), Some(FORWARD_DOZE.1));
        assert_eq!(after(1, 0, 0, 2001), Some(DOZE.0));
        assert_eq!(after(0, 0, 0, 2002), Some(DOZE.0), "more may come");
        assert_eq!(after(0, 0, 0, 2030), None, "rung for when there is work");
        assert_eq!(after(0, 1, 0, 2031), Some(DOZE.0));
    }

    #[test]
    fn it_does_not_sleep_before_the_recorder_has_all_that_has_completed() {
        let (mut rest, start) = (Rest::default(), Instant::now());
        let mut after = |holds_back, at| {
            rest.after(Pass { holds_back, ..Pass::default() }, start + Duration::from_millis(at))
        };
        assert_eq!([after(true, 0), after(true, 1000)], [Some(DOZE.0); 2]);
        assert_eq!((after(false, 1001), after(false, 1030)), (Some(DOZE.0), None));
    }
}
