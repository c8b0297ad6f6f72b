//! The steady part of each GPU's work: without its first and its last step.

use rtl_schema::{AgentId, Tables};
use rustc_hash::FxHashMap;

use crate::names::labels;
use crate::{Error, Result};

/// Returns the steady part of each agent with dispatches among those kept: from the start of the second to the end of the
/// last-but-one call of the kernel with the largest total.
///
/// # Errors
/// Where an agent's main kernel has fewer than four calls.
pub(super) fn windows(tables: &Tables, keep: &[bool]) -> Result<Vec<(AgentId, i64, i64)>> {
    let dispatches = &tables.dispatches;
    let rows = || (0..dispatches.len()).filter(|&row| keep[row]);
    let mut totals: FxHashMap<(AgentId, &str), i64> = FxHashMap::default();
    let agent = |row: usize| tables.tracks.get(dispatches.track[row]).agent;
    let kernel = |row: usize| rtl_schema::identity(tables.strings.get(dispatches.name[row]));
    for row in rows() {
        let total = totals.entry((agent(row), kernel(row))).or_default();
        *total = total.saturating_add(dispatches.duration.valid(row).unwrap_or(0));
    }
    let mut mains: FxHashMap<AgentId, (i64, &str)> = FxHashMap::default();
    for ((agent, kernel), total) in totals {
        let main = mains.entry(agent).or_insert((total, kernel));
        if total > main.0 || total == main.0 && kernel < main.1 {
            *main = (total, kernel);
        }
    }
    let mut calls: FxHashMap<AgentId, Vec<(i64, i64)>> = FxHashMap::default();
    for row in rows() {
        if mains.get(&agent(row)).is_some_and(|(_, main)| *main == kernel(row))
            && let Some(duration) = dispatches.duration.valid(row)
        {
            let start = dispatches.start[row];
            calls.entry(agent(row)).or_default().push((start, start.saturating_add(duration)));
        }
    }
    let mut mains: Vec<_> = mains.into_iter().collect();
    mains.sort_unstable();
    mains
        .into_iter()
        .map(|(agent, (_, kernel))| {
            let mut calls = calls.remove(&agent).unwrap_or_default();
            calls.sort_unstable();
            match calls.as_slice() {
                [_, second, .., last_but_one, _] => Ok((agent, second.0, last_but_one.1)),
                few => Err(Error::NotSteady {
                    place: labels::agent(tables, agent),
                    kernel: kernel.to_owned(),
                    calls: few.len() as u64,
                }),
            }
        })
        .collect()
}
