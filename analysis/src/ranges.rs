//! Ranges and markers, with the GPU time that ranges enclose.

use schema::Tables;
use serde::Serialize;

use crate::Stats;
use crate::order::Order;

/// How ops were tied to ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RangeMethod {
    /// Ops carry the id of their innermost range (roctxId); ranges around that one on its thread enclose them too.
    Stored,
    /// The call that launched the op was made inside the range, by the same process and thread.
    Linked,
    /// The op started inside the range, in the same process.
    Contained,
}

impl RangeMethod {
    /// The word of reports: `stored`, `linked`, `contained`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Linked => "linked",
            Self::Contained => "contained",
        }
    }
}

/// All ranges, or all markers, of one name.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RangeGroup {
    /// The text the user gave.
    pub name: String,
    /// Whether these are markers: instants.
    pub marker: bool,
    /// How many, with or without a known end.
    pub count: u64,
    /// Host time of those with a known, non-negative duration.
    #[serde(flatten)]
    pub stats: Stats,
    /// Ops (dispatches and copies) enclosed by at least one of them.
    pub ops: u64,
    /// The sum of the ops' durations in ns.
    pub gpu_ns: i64,
    /// The union of the ops on each GPU, added over the GPUs, in ns.
    pub gpu_busy_ns: i64,
}

/// What ranges and markers say.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RangeReport {
    /// How ops were tied to ranges: one for each trace that has ranges, each kind once.
    pub methods: Vec<RangeMethod>,
    /// Ranges before markers, most GPU time first, then host time, then name.
    pub groups: Vec<RangeGroup>,
}

/// Ranges and markers by name.
pub fn by_name(tables: &Tables, order: &Order) -> RangeReport {
    let _ = (tables, order);
    RangeReport::default()
}
