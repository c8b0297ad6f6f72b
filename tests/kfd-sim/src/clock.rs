//! The two clocks of a GPU, read at the same instant: the system's and the GPU's own ticks.

use std::time::Duration;

/// Ticks of a GPU's clock per second.
pub(crate) const TICKS_PER_SECOND: u64 = 100_000_000;

const NANOSECONDS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SECOND;

/// Each GPU counts from another moment, so that a tracer that mixes up agents or clocks is noticed.
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
    // SAFETY: the kernel writes one timespec, and `time` is one.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32).as_nanos() as u64
}

/// Clocks of the GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// They run faster than their stated frequency by this many millionths.
    pub(crate) drift: i64,
}

impl Clocks {
    /// Ticks of the GPU at this node when the system clock is at `system` ns.
    pub(crate) fn ticks(self, node: u32, system: u64) -> u64 {
        // This rounds only once: the runtime extrapolates from two readings, which multiplies the error of each.
        let drifted = match self.drift {
            0 => system / NANOSECONDS_PER_TICK,
            drift => {
                let millionths = i128::from(system) * i128::from(1_000_000 + drift);
                (millionths / (1_000_000 * i128::from(NANOSECONDS_PER_TICK))) as u64
            }
        };
        drifted + u64::from(node) * EPOCH_PER_NODE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUE: Clocks = Clocks { drift: 0 };

    #[test]
    fn a_microsecond_is_a_hundred_ticks_on_every_node() {
        for node in [1, 8] {
            assert_eq!(TRUE.ticks(node, 5_000) - TRUE.ticks(node, 4_000), 100);
        }
    }

    #[test]
    fn no_two_nodes_show_the_same() {
        assert_eq!(TRUE.ticks(2, 10) - TRUE.ticks(1, 10), 1_000_000_000);
    }

    #[test]
    fn a_clock_that_drifts_gains_or_loses_millionths() {
        let second = |drift| {
            let clocks = Clocks { drift };
            clocks.ticks(1, 7_000_000_000) - clocks.ticks(1, 6_000_000_000)
        };
        assert_eq!([second(20), second(-20)], [100_002_000, 99_998_000]);
    }

    #[test]
    fn a_clock_that_drifts_is_off_by_less_than_a_tick() {
        let clocks = Clocks { drift: 300 };
        for system in (6_000_000_000..).step_by(7).take(10_000) {
            let ticks = clocks.ticks(1, system) - EPOCH_PER_NODE;
            let shown = ticks as f64 * NANOSECONDS_PER_TICK as f64 / 1.0003;
            let behind = system as f64 - shown;
            assert!((-0.001..10.0).contains(&behind), "{behind} ns at {system}");
        }
    }
}
