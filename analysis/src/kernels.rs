//! Kernel time by kernel, category, GPU, queue, range, launch shape, process or rank.

use schema::{NameId, Tables};
use serde::Serialize;

use crate::{Categories, Stats};

/// What dispatches are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Key {
    /// The kernel: the name without descriptor suffix ([`schema::identity`]).
    #[default]
    Kernel,
    /// The category of the kernel's name.
    Category,
    /// The GPU.
    Gpu,
    /// The queue of a GPU, for each process.
    Queue,
    /// The innermost range around the launch.
    Range,
    /// The kernel and its launch shape.
    Shape,
    /// The process.
    Process,
    /// The rank in the distributed job.
    Rank,
}

/// What groups are ordered by; equal ones by label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sort {
    /// Largest total first.
    #[default]
    Total,
    /// Most calls first.
    Calls,
    /// Largest mean first.
    Mean,
    /// Largest minimum first.
    Min,
    /// Largest median first.
    P50,
    /// Largest 95th percentile first.
    P95,
    /// Largest 99th percentile first.
    P99,
    /// Largest maximum first.
    Max,
    /// Labels in byte order.
    Name,
}

/// All dispatches that share a key. Dispatches without a valid duration are not in it; [`crate::sanity`] counts them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The key in words: a kernel's stored name, `GPU 0`, `GPU 0 queue 2`, `rank 3`, `64x1x1 groups of 256x1x1`.
    pub label: String,
    /// The kernel's name where the key holds one (kernel, shape).
    pub kernel: Option<String>,
    /// The stored name behind `kernel`, the first of those with the same identity.
    #[serde(skip)]
    pub name: Option<NameId>,
    /// The category where the key decides it (kernel, shape, category).
    pub category: Option<String>,
    /// The durations.
    #[serde(flatten)]
    pub stats: Stats,
    /// Its part of the total time of all groups, 0 to 1.
    pub share: f64,
    /// How many of the calls have length zero.
    pub zero: u64,
}

/// Groups all dispatches by `key`, largest total first.
pub fn by(tables: &Tables, key: Key, categories: &Categories) -> Vec<Group> {
    let _ = (tables, key, categories);
    Vec::new()
}

/// Orders `groups` by `sort`, equal ones by label.
pub fn sort(groups: &mut [Group], sort: Sort) {
    let _ = (groups, sort);
}
