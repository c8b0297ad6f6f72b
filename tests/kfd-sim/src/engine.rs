//! The one thread on which simulated time passes, for all queues of all GPUs. It runs from the first queue on,
//! and sleeps longer the longer nothing happens: doorbells are plain stores, nobody tells it of them.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock;
use crate::hardware::Hardware;
use crate::queue::Turn;
use crate::simulator::Simulator;

/// Turns without anything to do before the thread sleeps at all.
const PATIENCE: u32 = 500;

/// The first sleep, and the longest: it bounds how late a doorbell can be seen.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

/// A sleep may be this much too long, so what ends sooner is waited for awake.
const OVERSLEEP: Duration = Duration::from_micros(100);

/// Starts the thread.
pub(crate) fn start(simulator: &'static Simulator) -> std::io::Result<()> {
    // A thread inherits what is blocked: the program's signals are not for this one.
    let before = block_signals();
    let thread = std::thread::Builder::new().name("kfd-sim".to_owned()).spawn(move || run(simulator));
    restore_signals(&before);
    thread.map(drop)
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: zeros are a set.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut all = before;
    // SAFETY: writes the set.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: two sets of this frame.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    before
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: a set that the kernel filled.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

fn run(simulator: &'static Simulator) {
    let mut hardware = Hardware::new(simulator);
    let mut idle_turns = 0;
    loop {
        // The lock is not fair: who creates or destroys a queue goes first.
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
        if next == Turn::Busy(0) {
            continue;
        }
        idle_turns = if next == Turn::Idle { idle_turns + 1 } else { 0 };
        match pause(next, idle_turns) {
            Some(time) => std::thread::sleep(time),
            None => std::thread::yield_now(),
        }
    }
}

/// Of two turns, the one that the thread has to be back for first.
fn sooner(one: Turn, other: Turn) -> Turn {
    match (one, other) {
        (Turn::Busy(one), Turn::Busy(other)) => Turn::Busy(one.min(other)),
        (Turn::Busy(_), _) | (Turn::Blocked, Turn::Idle) => one,
        _ => other,
    }
}

/// How long to sleep, if at all.
fn pause(next: Turn, idle_turns: u32) -> Option<Duration> {
    match next {
        Turn::Busy(end) => {
            let left = Duration::from_nanos(end.saturating_sub(clock::now()));
            // Other queues may begin meanwhile.
            left.checked_sub(OVERSLEEP).filter(|left| !left.is_zero()).map(|left| left.min(LONGEST))
        }
        Turn::Blocked => Some(SHORTEST),
        Turn::Idle => {
            let sleeps = idle_turns.checked_sub(PATIENCE)?;
            Some(SHORTEST.saturating_mul(1 << (sleeps / 16).min(6)).min(LONGEST))
        }
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
    fn the_longer_nothing_happens_the_longer_it_sleeps() {
        assert_eq!(pause(Turn::Idle, PATIENCE - 1), None);
        assert_eq!(pause(Turn::Idle, PATIENCE), Some(SHORTEST));
        assert_eq!(pause(Turn::Idle, u32::MAX), Some(LONGEST));
    }

    #[test]
    fn what_ends_soon_is_waited_for_awake() {
        assert_eq!(pause(Turn::Busy(clock::now() + 1_000), 0), None);
        assert!(pause(Turn::Busy(clock::now() + 1_000_000_000), 0).is_some());
    }
}
