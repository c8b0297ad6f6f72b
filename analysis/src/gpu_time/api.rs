//! API calls by function.

use rtl_schema::{NameId, Tables};
use serde::{Deserialize, Serialize};

use crate::Stats;
use crate::base::first_use::FirstUseSet;
use crate::gpu_time::kernels::Sorted;

/// `HSA_STATUS_INFO_BREAK`: a callback stopped an iteration of HSA, which is no error.
const INFO_BREAK: i64 = 1;

/// All calls of one function.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ApiGroup {
    /// The library or layer, if known.
    pub domain: Option<String>,
    /// Name of the function.
    pub name: String,
    /// Durations on the host.
    #[serde(flatten)]
    pub stats: Stats,
    /// Part of the host time of all calls, 0 to 1. Calls made by other calls count in both.
    pub share: f64,
    /// Calls that returned a status that is an error, where the trace knows what calls returned.
    pub errors: u64,
    /// Calls without an end: they had not returned when the recording ended. They are in no time.
    pub unfinished: u64,
}

/// A call without an end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnfinishedCall {
    /// The library or layer, if known.
    pub domain: Option<String>,
    /// Name of the function.
    pub name: String,
    /// The process, if known.
    pub pid: Option<i64>,
    /// The thread, if known.
    pub tid: Option<i64>,
    /// Start in ns.
    pub start_ns: i64,
    /// How long before the end of its process's recording that was, in ns, if known.
    pub waited_ns: Option<i64>,
}

/// The most calls without an end that are listed.
const LISTED: usize = 20;

/// The first calls without an end, by start, then by process, thread and row: what each thread of a process that hung was in.
pub fn unfinished(tables: &Tables) -> Vec<UnfinishedCall> {
    let calls = &tables.api_calls;
    let process = |row: usize| tables.processes.get(calls.process.get(row).index());
    let place =
        |row| (calls.start[row], process(row).and_then(|process| process.pid), calls.tid.get(row), row);
    let mut rows: Vec<_> = calls.duration.missing().map(place).collect();
    rows.sort_unstable();
    let listed = rows.into_iter().take(LISTED).map(|(start_ns, pid, tid, row)| {
        let domain = calls.domain.get(row);
        let end = process(row).and_then(|process| process.end);
        UnfinishedCall {
            domain: domain.is_some().then(|| tables.strings.get(domain).to_owned()),
            name: tables.strings.get(calls.name[row]).to_owned(),
            pid,
            tid,
            start_ns,
            waited_ns: end.and_then(|end| end.checked_sub(start_ns)).filter(|&waited| waited >= 0),
        }
    });
    listed.collect()
}

/// API calls by domain and function, largest total first, then by name and domain.
pub fn by_function(tables: &Tables) -> Vec<ApiGroup> {
    let calls = &tables.api_calls;
    let mut keys: FirstUseSet<(NameId, NameId)> = FirstUseSet::default();
    let key_of_row = |row| (calls.name[row], calls.domain.get(row));
    let group_of_row: Vec<u32> =
        (0..calls.len()).map(|row| keys.insert_full(key_of_row(row)).0 as u32).collect();
    let mut errors = vec![0; keys.len()];
    if calls.result.uniform() != Some(0) {
        let is_error = |&row: &usize| match calls.result.get(row) {
            0 => false,
            INFO_BREAK => !tables.strings.get(calls.name[row]).starts_with("hsa_"),
            _ => true,
        };
        for row in (0..calls.len()).filter(is_error) {
            errors[group_of_row[row] as usize] += 1;
        }
    }
    let mut unfinished = vec![0; keys.len()];
    for row in calls.duration.missing() {
        unfinished[group_of_row[row] as usize] += 1;
    }
    let mut sorted = Sorted::new(&calls.duration, keys.len(), |row| group_of_row[row] as usize);
    let mut groups: Vec<ApiGroup> = (sorted.stats().into_iter())
        .zip(keys)
        .zip(errors.into_iter().zip(unfinished))
        .map(|((stats, (name, domain)), (errors, unfinished))| ApiGroup {
            domain: domain.is_some().then(|| tables.strings.get(domain).to_owned()),
            name: tables.strings.get(name).to_owned(),
            stats,
            share: 0.0,
            errors,
            unfinished,
        })
        .collect();
    let all: i128 = groups.iter().map(|group| i128::from(group.stats.total_ns)).sum();
    if all != 0 {
        groups.iter_mut().for_each(|group| group.share = group.stats.total_ns as f64 / all as f64);
    }
    groups.sort_by(|one, other| {
        let by_total = other.stats.total_ns.cmp(&one.stats.total_ns);
        by_total.then_with(|| (&one.name, &one.domain).cmp(&(&other.name, &other.domain)))
    });
    groups
}
