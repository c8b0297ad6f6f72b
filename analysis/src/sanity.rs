//! What in a trace deserves a second look.

use schema::Tables;
use serde::Serialize;

use crate::kernels::Group;
use crate::sweep::{Suspects, Sweep};

/// Rows by what is odd about their durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct OddDurations {
    /// Ends where it starts.
    pub zero: u64,
    /// Ends before it starts.
    pub negative: u64,
    /// Has no end.
    pub missing: u64,
}

/// Ids of the trace that lead nowhere, or values that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct BadRows {
    /// `dangling name`, `dangling link`, `dangling reference`, `missing start`, `bad value`.
    pub kind: String,
    /// The table and column.
    pub place: String,
    /// How many rows.
    pub count: u64,
    /// The id of the first.
    pub first: i64,
}

/// What the recorder says it lost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Loss {
    /// The recorder's name for the reason.
    pub reason: String,
    /// How many records.
    pub count: u64,
}

/// A kernel of which one call took more than half the time of all its calls (four or more).
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Dominant {
    /// The kernel.
    pub kernel: String,
    /// How often it was called.
    pub calls: u64,
    /// The long call, in ns.
    pub max_ns: i64,
    /// All calls, in ns.
    pub total_ns: i64,
    /// The median call, in ns.
    pub p50_ns: i64,
    /// The start of the long call, in ns.
    pub start_ns: i64,
    /// Where it ran: `GPU 0`.
    pub place: String,
}

/// All findings.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sanity {
    /// Dispatches with odd durations.
    pub dispatches: OddDurations,
    /// Copies with odd durations.
    pub copies: OddDurations,
    /// API calls with odd durations; zero is normal for them.
    pub api_calls: OddDurations,
    /// Ranges with odd durations; zero is a marker.
    pub ranges: OddDurations,
    /// Dispatches that overlap on one queue.
    pub overlaps: Suspects,
    /// Dispatches that are there twice.
    pub duplicates: Suspects,
    /// Rows with ids that lead nowhere and the like.
    pub bad_rows: Vec<BadRows>,
    /// Dispatches whose kernel the recorder could not name (`kernel_0x..`).
    pub unresolved_names: u64,
    /// Dispatches without a name.
    pub unnamed: u64,
    /// What the recorder lost, zeros left out.
    pub losses: Vec<Loss>,
    /// Kernels with one call that holds most of their time, largest first.
    pub dominant: Vec<Dominant>,
}

impl Sanity {
    /// Whether there is nothing to say.
    pub fn is_clean(&self) -> bool {
        false
    }

    /// Each reason for `--strict` to fail, in words: missing and negative durations, dangling ids, lost records.
    pub fn strict_failures(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Gathers the findings; `kernels` are the groups of [`crate::kernels::by`] kernel.
pub fn check(tables: &Tables, kernels: &[Group], sweep: &Sweep) -> Sanity {
    let _ = (tables, kernels, sweep);
    Sanity::default()
}
