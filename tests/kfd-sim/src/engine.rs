//! The one thread on which simulated time passes, for all queues of all GPUs. It runs from the first queue on, and sleeps longer
//! the longer nothing happens, because doorbells are plain stores, of which it is not notified.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock;
use crate::hardware::Hardware;
use crate::queue::Turn;
use crate::simulator::Simulator;

/// Number of idle turns before the thread sleeps at all.
const PATIENCE: u32 = 500;

/// The first sleep, and the longest, which bounds the delay until a doorbell is seen.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

/// A sleep may be this much too long, so the thread stays awake for events that are sooner.
const OVERSLEEP: Duration = Duration::from_micros(100);

/// Time for packets to gather before the next turn when the last one found some.
const GATHERING: Duration = Duration::from_micros(2);

pub(crate) fn start(simulator: &'static Simulator) -> std::io::Result<()> {
    // A thread inherits the mask of signals, and the program's signals are not for this one.
    let before = block_signals();
    let thread = std::thread::Builder::new().name("kfd-sim".to_owned()).spawn(move || run(simulator));
    restore_signals(&before);
    thread.map(drop)
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: zeros are a valid set.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut all = before;
    // SAFETY: the call only writes the set.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both sets are in this frame.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    before
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: the kernel has filled the set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

fn run(simulator: &'static Simulator) {
    let mut hardware = Hardware::new(simulator);
    let mut idle_turns = 0;
    loop {
        // The lock is not fair, so threads that create or destroy a queue go first.
        while simulator.visitors.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        let mut queues = simulator.queues();
        while queues.list.is_empty() && queues.dma.is_empty() {
            queues = simulator.queue_created.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
        let packets =
            queues.list.iter_mut().map(|queue| queue.advance(&mut hardware)).fold(Turn::Idle, sooner);
        let copies = queues.dma.iter_mut().map(|queue| queue.advance(simulator)).fold(Turn::Idle, sooner);
        let next = sooner(packets, copies);
        drop(queues);
        idle_turns = if next == Turn::Idle { idle_turns + 1 } else { 0 };
        match pause(next, idle_turns) {
            Pause::None => {}
            Pause::Spin => spin(),
            Pause::Yield => std::thread::yield_now(),
            Pause::Sleep(time) => std::thread::sleep(time),
        }
    }
}

/// The turn for which the thread has to be back first.
fn sooner(one: Turn, other: Turn) -> Turn {
    let urgency = |turn| match turn {
        Turn::Idle => 0,
        Turn::Blocked => 1,
        Turn::Busy(_) => 2,
        Turn::Worked => 3,
        Turn::More => 4,
    };
    match (one, other) {
        (Turn::Busy(one), Turn::Busy(other)) => Turn::Busy(one.min(other)),
        _ if urgency(one) >= urgency(other) => one,
        _ => other,
    }
}

/// The way in which the thread passes the time between two turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pause {
    None,
    /// Stays awake without yielding the core.
    Spin,
    Yield,
    Sleep(Duration),
}

fn pause(next: Turn, idle_turns: u32) -> Pause {
    match next {
        Turn::More => Pause::None,
        Turn::Worked => Pause::Spin,
        Turn::Busy(end) => {
            let left = Duration::from_nanos(end.saturating_sub(clock::now()));
            // Sleeping or yielding would take longer.
            if left < GATHERING {
                return Pause::None;
            }
            // Other queues may begin meanwhile.
            let sleeps = left.checked_sub(OVERSLEEP).filter(|left| !left.is_zero());
            sleeps.map_or(Pause::Yield, |left| Pause::Sleep(left.min(LONGEST)))
        }
        Turn::Blocked => Pause::Sleep(SHORTEST),
        Turn::Idle => match idle_turns.checked_sub(PATIENCE) {
            None => Pause::Yield,
            Some(sleeps) => Pause::Sleep(SHORTEST.saturating_mul(1 << (sleeps / 16).min(6)).min(LONGEST)),
        },
    }
}

/// Waits a moment in which the program can submit more: if every packet were looked at at once, each would cost both sides a wait
/// for the other's cache.
fn spin() {
    let end = clock::now() + GATHERING.as_nanos() as u64;
    while clock::now() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_end_is_what_the_thread_is_back_for() {
        let turns = [Turn::Idle, Turn::Busy(9), Turn::Blocked, Turn::Busy(7), Turn::Idle];
        assert_eq!(turns.into_iter().fold(Turn::Idle, sooner), Turn::Busy(7));
        assert_eq!(sooner(Turn::Idle, Turn::Blocked), Turn::Blocked);
        assert_eq!(sooner(Turn::Blocked, Turn::Idle), Turn::Blocked);
    }

    #[test]
    fn what_is_known_to_be_there_goes_before_what_may_come() {
        assert_eq!(sooner(Turn::Worked, Turn::Busy(7)), Turn::Worked);
        assert_eq!(sooner(Turn::Worked, Turn::More), Turn::More);
        assert_eq!([Turn::More, Turn::Worked].map(|turn| pause(turn, 0)), [Pause::None, Pause::Spin]);
    }

    #[test]
    fn the_longer_nothing_happens_the_longer_it_sleeps() {
        assert_eq!(pause(Turn::Idle, PATIENCE - 1), Pause::Yield);
        assert_eq!(pause(Turn::Idle, PATIENCE), Pause::Sleep(SHORTEST));
        assert_eq!(pause(Turn::Idle, u32::MAX), Pause::Sleep(LONGEST));
    }

    #[test]
    fn what_ends_soon_is_waited_for_awake() {
        assert_eq!(pause(Turn::Busy(clock::now()), 0), Pause::None);
        assert_eq!(pause(Turn::Busy(clock::now() + 50_000), 0), Pause::Yield);
        assert_ne!(pause(Turn::Busy(clock::now() + 1_000_000_000), 0), Pause::Yield);
    }
}
