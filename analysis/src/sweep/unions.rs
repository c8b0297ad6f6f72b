//! Unions of intervals that come in order of start, for every combination of the three classes of ops.

use super::Gpu;

/// What an op is to the sweep; the value is its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Kernel = 1,
    Collective = 2,
    Copy = 4,
}

/// The union of intervals so far: where it ends and how long it is.
#[derive(Debug, Clone, Copy, Default)]
struct Union {
    end: u64,
    length: u64,
}

impl Union {
    #[inline]
    fn add(&mut self, start: u64, end: u64) {
        if end > self.end {
            self.length += end - start.max(self.end);
            self.end = end;
        }
    }
}

/// One union for each set of classes, at the position that the bits of its classes make. Overlaps follow from
/// them by inclusion and exclusion, so no op needs to know which others run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unions([Union; 8]);

impl Unions {
    /// Adds an interval. Starts must not decrease; they are relative to a moment before all of them.
    #[inline]
    pub(crate) fn add(&mut self, class: Class, start: u64, end: u64) {
        let sets: [usize; 3] = match class {
            Class::Kernel => [1, 3, 5],
            Class::Collective => [2, 3, 6],
            Class::Copy => [4, 5, 6],
        };
        for set in sets {
            self.0[set].add(start, end);
        }
        self.0[7].add(start, end);
    }

    /// Where everything so far ends.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.0[7].end
    }

    /// Fills in what the unions tell of `gpu`, whose first op starts at `base`.
    pub(crate) fn describe(&self, gpu: &mut Gpu, base: i64) {
        let length = |set: usize| length_of(self.0[set].length);
        let pair = |one: usize, other: usize| length(one) + length(other) - length(one | other);
        gpu.busy_ns = length(7);
        gpu.kernel_ns = length(1);
        gpu.collective_ns = length(2);
        gpu.copy_ns = length(4);
        gpu.kernel_collective_ns = pair(1, 2);
        gpu.kernel_copy_ns = pair(1, 4);
        gpu.collective_copy_ns = pair(2, 4);
        gpu.exposed_collective_ns = gpu.collective_ns - gpu.kernel_collective_ns;
        let pairs = gpu.kernel_collective_ns + gpu.kernel_copy_ns + gpu.collective_copy_ns;
        let all_three = gpu.busy_ns - gpu.kernel_ns - gpu.collective_ns - gpu.copy_ns + pairs;
        gpu.overlap_ns = pairs - 2 * all_three;
        gpu.start_ns = base;
        gpu.end_ns = base.saturating_add_unsigned(self.end());
        gpu.wall_ns = length_of(self.end());
        gpu.idle_ns = gpu.wall_ns - gpu.busy_ns;
        gpu.busy_share = if gpu.wall_ns == 0 { 0.0 } else { gpu.busy_ns as f64 / gpu.wall_ns as f64 };
    }
}

fn length_of(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
