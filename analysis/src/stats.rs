//! One set of durations in numbers.

use serde::Serialize;

/// What is said of a set of durations. All zero for an empty set.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Stats {
    /// How many durations.
    pub calls: u64,
    /// Their sum in ns.
    pub total_ns: i64,
    /// Their mean in ns.
    pub mean_ns: f64,
    /// The shortest in ns.
    pub min_ns: i64,
    /// The median in ns: nearest rank, the ceil(0.50 n)-th smallest.
    pub p50_ns: i64,
    /// The ceil(0.95 n)-th smallest in ns.
    pub p95_ns: i64,
    /// The ceil(0.99 n)-th smallest in ns.
    pub p99_ns: i64,
    /// The longest in ns.
    pub max_ns: i64,
    /// Sample standard deviation (n - 1) in ns; 0 for fewer than two.
    pub stddev_ns: f64,
}
