//! Two clocks per GPU that are read at the same instant: the system's and the GPU's own ticks.

use std::time::Duration;

/// Ticks of a GPU's clock per second.
pub(crate) const TICKS_PER_SECOND: u64 = 100_000_000;

const NANOSECONDS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SECOND;

/// Every GPU counts from another moment, so that a tracer that mixes up agents or clocks is seen.
const EPOCH_PER_NODE: u64 = 1_000_000_000;

/// The system clock of ROCm, CLOCK_BOOTTIME, in ns.
pub(crate) fn now() -> u64 {
    read(libc::CLOCK_BOOTTIME)
}

/// The clock that the driver reports as the CPU's, in ns.
pub(crate) fn cpu() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec, and this is one.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32).as_nanos() as u64
}

/// What the clock of the GPU at this node shows when the system's shows `system` ns.
pub(crate) fn ticks(node: u32, system: u64) -> u64 {
    system / NANOSECONDS_PER_TICK + u64::from(node) * EPOCH_PER_NODE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_microsecond_is_a_hundred_ticks_on_every_node() {
        for node in [1, 8] {
            assert_eq!(ticks(node, 5_000) - ticks(node, 4_000), 100);
        }
    }

    #[test]
    fn no_two_nodes_show_the_same() {
        assert_eq!(ticks(2, 10) - ticks(1, 10), 1_000_000_000);
    }
}
