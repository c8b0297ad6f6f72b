//! Ranges and markers, with the GPU time that ranges enclose.

mod attribution;
mod coverage;
mod deep;
mod enclosed;
mod methods;
mod positions;
mod repeated;
mod sets;
mod timeline;

use std::cmp::Reverse;

use rtl_schema::{NameId, Tables};
use serde::{Deserialize, Serialize};

pub use self::attribution::RangeMethod;
pub(crate) use self::attribution::{Attribution, Cursor, LastTied};
use self::enclosed::Enclosed;
pub(crate) use self::methods::Methods;
pub(crate) use self::repeated::Repeated;
use self::sets::{DEEP, Sets};
use crate::Stats;
use crate::base::first_use::FirstUseMap;
use crate::base::ops::Order;

/// All ranges, or all markers, of one name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RangeGroup {
    /// The text the user gave.
    pub name: String,
    /// True for markers, which are instants.
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

/// The report on ranges and markers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RangeReport {
    /// How ops were tied to ranges: one for each trace that has ranges, each kind once.
    pub methods: Vec<RangeMethod>,
    /// Ranges before markers, most GPU time first, then host time, then name.
    pub groups: Vec<RangeGroup>,
}

pub(crate) fn by_name(tables: &Tables, order: &Order, attribution: &Attribution) -> RangeReport {
    let enclosed = enclosed(tables, order, attribution);
    let mut groups: FirstUseMap<(NameId, bool), (RangeGroup, Vec<i64>)> = FirstUseMap::default();
    for range in &tables.ranges {
        let (group, durations) = groups.entry((range.name, range.is_marker())).or_default();
        group.count += 1;
        durations.extend(range.duration.filter(|&duration| duration >= 0));
    }
    for (&name, Enclosed { ops, gpu_ns, gpu_busy_ns }) in attribution.names.iter().zip(enclosed) {
        if let Some((group, _)) = groups.get_mut(&(name, false)) {
            *group = RangeGroup { ops, gpu_ns, gpu_busy_ns, ..std::mem::take(group) };
        }
    }
    let mut groups: Vec<RangeGroup> = groups
        .into_iter()
        .map(|((name, marker), (group, durations))| RangeGroup {
            name: tables.strings.get(name).to_owned(),
            marker,
            stats: Stats::of_durations(durations),
            ..group
        })
        .collect();
    groups.sort_by(|one, other| {
        let key = |group: &RangeGroup| (group.marker, Reverse(group.gpu_ns), Reverse(group.stats.total_ns));
        key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
    });
    RangeReport { methods: attribution.methods(), groups }
}

/// Figures indexed by name of `attribution`.
fn enclosed(tables: &Tables, order: &Order, attribution: &Attribution) -> Vec<Enclosed> {
    if attribution.is_empty() {
        return Vec::new();
    }
    let windows = attribution.positions.by_name(attribution.names.len());
    match Sets::new(&attribution.positions, &windows, DEEP) {
        Some(sets) => enclosed::op_by_op(tables, order, attribution, &sets),
        None => deep::name_by_name(tables, order, attribution, &windows),
    }
}
