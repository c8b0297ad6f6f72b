//! The ends of the collectives that one rank runs on one queue, and what the trace states of each.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::base::stats::robust_deviation;

/// How far apart two ends are at most, in ns, after the difference of the clocks is taken away.
pub(super) const TOLERANCE_NS: f64 = 100_000.0;

/// How much faster one clock may be than another.
pub(super) const DRIFT: f64 = 50e-6;

/// Intervals that differ by more, in ns, do not count more.
pub(super) const WIDEST_NS: f64 = 200_000.0;

/// The unit of coarse intervals in ns.
const COARSE_NS: f64 = 4_096.0;

/// Coarse intervals that differ by more differ by more than [`WIDEST_NS`].
pub(super) const WIDEST_COARSE: u16 = (WIDEST_NS / COARSE_NS) as u16 + 1;

/// Statement of a trace on a call; 0 is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Label {
    /// Equal on all members: a hash of operation, communicator, type and size.
    pub tag: u32,
    /// The sequence number within the communicator.
    pub number: u32,
}

impl Label {
    /// Orders two calls as far as labels say: `Equal` where they may be the same, `Less` where the first one is earlier.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        let are_known = self.number != 0 && other.number != 0;
        are_known.then(|| self.number.cmp(&other.number))
    }

    pub(super) fn contradicts(self, other: Self) -> bool {
        match self.compare(other) {
            Some(order) => order != Ordering::Equal,
            None => self.tag != 0 && other.tag != 0 && self.tag != other.tag,
        }
    }
}

/// The ends of a sequence's calls, ascending.
#[derive(Debug, Clone, Default)]
pub(super) struct Rhythm {
    /// In ns.
    pub(super) ends: Vec<i64>,
    /// One for each end, or none.
    pub(super) labels: Vec<Label>,
    /// Differences of these ends, once they were compared: most sequences are compared with several others.
    steps: OnceLock<Vec<f64>>,
    coarse_steps: OnceLock<Vec<u16>>,
}

impl Rhythm {
    pub(super) fn new(ends: Vec<i64>, labels: Vec<Label>) -> Self {
        Self { ends, labels, steps: OnceLock::new(), coarse_steps: OnceLock::new() }
    }

    pub(super) fn label(&self, call: usize) -> Label {
        self.labels.get(call).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The interval from each end to the next, in ns.
    pub(super) fn steps(&self) -> &[f64] {
        let step = |ends: &[i64]| ends[1].saturating_sub(ends[0]) as f64;
        self.steps.get_or_init(|| self.ends.windows(2).map(step).collect())
    }

    /// The lower 16 bits of the steps in units of 4,096 ns: the compiler compares eight at once.
    pub(super) fn coarse_steps(&self) -> &[u16] {
        let coarse = |step: &f64| (step / COARSE_NS) as i64 as u16;
        self.coarse_steps.get_or_init(|| self.steps().iter().map(coarse).collect())
    }

    /// How much its intervals tell: their number times the logarithm of how irregular they are.
    pub(super) fn information(&self) -> f64 {
        let mut steps = self.steps().to_vec();
        let count = steps.len() as f64;
        if steps.is_empty() { 0.0 } else { count * (robust_deviation(&mut steps) / 10_000.0).ln_1p() }
    }
}

/// The time to add to one clock to have that of another.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Lag {
    /// A time of the first clock in ns.
    pub(super) at: i64,
    /// The difference there in ns.
    pub(super) offset: f64,
    /// Growth of the lag in ns/ns.
    pub(super) rate: f64,
}

impl Lag {
    pub(super) fn of(&self, time: i64) -> f64 {
        self.offset + self.rate * time.saturating_sub(self.at) as f64
    }
}

/// The square of a difference of intervals in ns².
pub(super) fn square(difference: f64) -> f64 {
    const WIDEST: f64 = WIDEST_NS * WIDEST_NS;
    let square = difference * difference;
    // One instruction, unlike `min`, which looks for numbers that are none.
    if square < WIDEST { square } else { WIDEST }
}
