//! Launches of graphs of which kernels are missing.
//!
//! No trace says how many kernels a graph has. A launch lacks some where its kernels are among those of a larger launch,
//! which is taken for one of the same graph.

use rtl_schema::NameId;
use rustc_hash::FxHashMap;

use super::evidence;
use super::launched::Launched;
use super::reason::Reason;

/// With more distinct launches none is compared with the others: each would be with all.
const MOST: usize = 200;

/// Only in a trace that ties some launch of a graph to its kernels, or all ops to launches.
pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    if launched.graphs.is_empty() || launched.tied == 0 {
        return None;
    }
    let kernels = kernels_by_launch(launched);
    let ops = launched.tables.dispatches.len() + launched.tables.copies.len();
    let all_tied = launched.tied + launched.earlier == ops as u64;
    // Ops that name no call may be those of the graphs.
    if kernels.values().all(Vec::is_empty) && !all_tied {
        return None;
    }
    let mut distinct: Vec<&Vec<NameId>> = kernels.values().filter(|names| !names.is_empty()).collect();
    distinct.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    distinct.dedup();
    let graphs: Vec<&Vec<NameId>> = match distinct.len() <= MOST {
        true => {
            let is_part = |names: &Vec<NameId>| {
                distinct.iter().any(|whole| whole.len() > names.len() && contains(whole, names))
            };
            distinct.iter().copied().filter(|names| !is_part(names)).collect()
        }
        false => distinct,
    };
    // What a launch without kernels lacks is known where there is one graph.
    let only = (graphs.len() == 1).then(|| graphs[0].len());
    let expected = |names: &Vec<NameId>| match names.as_slice() {
        [] => only.unwrap_or(0),
        _ => {
            let whole = graphs.iter().filter(|whole| contains(whole, names)).map(|whole| whole.len());
            whole.min().unwrap_or(names.len())
        }
    };
    let seen: u64 = kernels.values().map(|names| names.len() as u64).sum();
    let of: u64 = kernels.values().map(|names| expected(names) as u64).sum();
    let is_short = |names: &Vec<NameId>| names.is_empty() || names.len() < expected(names);
    let short: Vec<u32> = kernels.iter().filter(|(_, names)| is_short(names)).map(|(&row, _)| row).collect();
    if short.is_empty() {
        return None;
    }
    let launches = launched.graphs.len() as u64;
    let evidence = evidence::calls(launched.tables, short.iter().copied());
    let empty = kernels.values().filter(|names| names.is_empty()).count() as u64;
    if only.is_none() && empty == short.len() as u64 {
        let sentence = format!("{empty} of {launches} graph launches have no kernel on a GPU");
        return Some(Reason { evidence, ..Reason::missing("graphs-incomplete", empty, launches, sentence) });
    }
    let sentence = format!(
        "{seen} of {of} kernels of graph launches were recorded: {} of {launches} launches lack some",
        short.len()
    );
    Some(Reason { evidence, ..Reason::missing("graphs-incomplete", of - seen, of, sentence) })
}

/// The names of the kernels of each launch, sorted, by the row of the launch.
fn kernels_by_launch(launched: &Launched<'_>) -> FxHashMap<u32, Vec<NameId>> {
    let dispatches = &launched.tables.dispatches;
    let mut kernels: FxHashMap<u32, Vec<NameId>> =
        launched.graphs.iter().map(|&row| (row, Vec::new())).collect();
    for row in 0..dispatches.len() {
        let call = launched.call(dispatches.track[row], dispatches.correlation.get(row));
        if let Some(names) = call.and_then(|call| kernels.get_mut(&call)) {
            names.push(dispatches.name[row]);
        }
    }
    kernels.values_mut().for_each(|names| names.sort_unstable());
    kernels
}

/// Returns whether sorted names hold all of others.
fn contains(whole: &[NameId], part: &[NameId]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|name| whole.any(|other| other == name))
}
