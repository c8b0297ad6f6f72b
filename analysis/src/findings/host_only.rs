//! The work of the host in a trace that recorded none of a GPU.

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::base::union_length::UnionLength;
use crate::names::span_names::span_name;

/// How to get a trace with the work of the GPU.
pub const RECORD_THE_GPU: &str = "record the GPU too (torch.profiler: ProfilerActivity.CUDA, on AMD GPUs as well), with work of it \
    between start and end; a program without a call of the GPU's runtime ran on the CPU";

/// The work of the host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostOnly {
    /// The number of operators.
    pub operators: u64,
    /// The time in which any of them ran, in ns.
    pub operators_ns: i64,
    /// The operator that ran longest in all, of several the outermost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_operator: Option<String>,
    /// The time in which it ran, in ns.
    pub first_operator_ns: i64,
    /// The number of calls of the GPU's runtime.
    pub calls: u64,
}

impl HostOnly {
    pub(super) fn of(tables: &Tables) -> Self {
        let operators = &tables.operators;
        let mut rows: Vec<(i64, i64, NameId)> = (0..operators.len())
            .filter_map(|row| {
                let (start, ns) = (operators.start[row], operators.duration.valid(row)?);
                Some((start, start.saturating_add(ns), operators.name[row]))
            })
            .collect();
        rows.sort_unstable();
        // By name: the sum, and the row of the first, which is before those within it.
        let mut sums: FxHashMap<NameId, (i64, usize)> = FxHashMap::default();
        for (at, &(start, end, name)) in rows.iter().enumerate() {
            let (sum, _) = sums.entry(name).or_insert((0, at));
            *sum = sum.saturating_add(end - start);
        }
        let most = sums.into_iter().max_by_key(|&(_, (sum, at))| (sum, std::cmp::Reverse(at)));
        Self {
            first_operator_ns: most.map_or(0, |(name, _)| running_ns(&rows, Some(name))),
            operators_ns: running_ns(&rows, None),
            operators: operators.len() as u64,
            first_operator: most.map(|(name, _)| span_name(tables.strings.get(name)).into_owned()),
            calls: tables.api_calls.len() as u64,
        }
    }
}

/// The time in ns in which any operator, or one of this name, ran, of rows with start, end and name in order.
fn running_ns(rows: &[(i64, i64, NameId)], only: Option<NameId>) -> i64 {
    let first = rows.first().map_or(0, |row| row.0);
    let mut union = UnionLength::default();
    for &(start, end, _) in rows.iter().filter(|row| only.is_none_or(|name| name == row.2)) {
        union.add(start.abs_diff(first), end.abs_diff(first));
    }
    union.length_ns()
}
