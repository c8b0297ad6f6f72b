//! Copies and fills by direction.

use rtl_schema::Tables;
use rtl_schema::table::Direction;
use serde::{Deserialize, Serialize};

use crate::base::first_use::FirstUseMap;

/// All copies that went one way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CopyGroup {
    /// `host-to-device`, `device-to-host`, `device-to-device`, `host-to-host`, `fill`, `unknown`.
    pub direction: String,
    /// The number of copies.
    pub count: u64,
    /// Their known bytes in all.
    pub bytes: u64,
    /// How many copies have no known size (those of graph launches); they are in no other byte figure.
    pub unknown_bytes: u64,
    /// The smallest known size.
    pub min_bytes: Option<u64>,
    /// The largest known size.
    pub max_bytes: Option<u64>,
    /// The sum of all valid durations in ns.
    pub total_ns: i64,
    /// Bytes per second of the copies with known size and positive duration: their bytes over their time.
    pub bytes_per_second: Option<f64>,
}

/// Copies by direction, largest total time first, then by direction.
pub fn by_direction(tables: &Tables) -> Vec<CopyGroup> {
    let mut groups: FirstUseMap<Direction, (CopyGroup, Timed)> = FirstUseMap::default();
    for copy in &tables.copies {
        let (group, timed) = groups.entry(copy.direction).or_default();
        let duration = copy.duration.filter(|&duration| duration >= 0);
        group.count += 1;
        group.total_ns = group.total_ns.saturating_add(duration.unwrap_or(0));
        let Some(bytes) = copy.bytes else {
            group.unknown_bytes += 1;
            continue;
        };
        group.bytes = group.bytes.saturating_add(bytes);
        group.min_bytes = Some(group.min_bytes.map_or(bytes, |least| least.min(bytes)));
        group.max_bytes = Some(group.max_bytes.map_or(bytes, |most| most.max(bytes)));
        if let Some(duration) = duration.filter(|&duration| duration > 0) {
            timed.bytes += u128::from(bytes);
            timed.time += u128::from(duration.unsigned_abs());
        }
    }
    let mut groups: Vec<CopyGroup> = groups
        .into_iter()
        .map(|(direction, (group, timed))| CopyGroup {
            direction: direction.label().to_owned(),
            bytes_per_second: timed.bandwidth(),
            ..group
        })
        .collect();
    groups.sort_by(|one, other| {
        other.total_ns.cmp(&one.total_ns).then_with(|| one.direction.cmp(&other.direction))
    });
    groups
}

/// The copies with a known bandwidth.
#[derive(Debug, Clone, Copy, Default)]
struct Timed {
    bytes: u128,
    time: u128,
}

impl Timed {
    fn bandwidth(self) -> Option<f64> {
        (self.time > 0).then(|| self.bytes as f64 * 1e9 / self.time as f64)
    }
}
