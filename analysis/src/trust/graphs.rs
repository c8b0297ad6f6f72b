//! Launches of graphs of which kernels are missing.
//!
//! No trace says how many kernels a graph has. A launch lacks some where its kernels are among those of a larger launch,
//! which is taken for one of the same graph, unless launches with just these kernels come back in a rhythm: a recorder that loses
//! records has none, and a program whose step launches several graphs has one.

use std::collections::BTreeMap;

use rtl_schema::{AgentId, NameId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence;
use super::launched::Launched;
use super::reason::Reason;
use super::room::Room;
use crate::Analysis;

/// With more distinct launches none is compared with the others: each would be with all.
const MOST: usize = 200;

/// Only in a trace that ties some launch of a graph to its kernels, or all ops to launches.
pub(super) fn reason(analysis: &Analysis<'_>, launched: &Launched<'_>) -> Option<Reason> {
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
            let parts: FxHashSet<&Vec<NameId>> =
                distinct.iter().copied().filter(|names| is_part(names)).collect();
            let own = if parts.is_empty() { parts.clone() } else { recurring(launched, &kernels) };
            distinct.iter().copied().filter(|names| !parts.contains(names) || own.contains(names)).collect()
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
    // Kernels that no gap of the GPU has room for are not missing: this is another graph.
    let whole = without_room(analysis, launched, &kernels, &graphs);
    let counted = || kernels.iter().filter(|(row, _)| !whole.contains(row));
    let seen: u64 = counted().map(|(_, names)| names.len() as u64).sum();
    let of: u64 = counted().map(|(_, names)| expected(names) as u64).sum();
    let is_short = |names: &Vec<NameId>| names.is_empty() || names.len() < expected(names);
    let short: Vec<u32> = counted().filter(|(_, names)| is_short(names)).map(|(&row, _)| row).collect();
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

/// The launches that seem to lack kernels which cannot have run, because the GPU was busy all the time.
fn without_room(
    analysis: &Analysis<'_>,
    launched: &Launched<'_>,
    kernels: &FxHashMap<u32, Vec<NameId>>,
    graphs: &[&Vec<NameId>],
) -> FxHashSet<u32> {
    let whole = |names: &Vec<NameId>| {
        let larger = graphs.iter().filter(|whole| contains(whole, names));
        larger.min_by_key(|whole| whole.len()).filter(|whole| whole.len() > names.len())
    };
    let short = kernels.iter().filter(|(_, names)| !names.is_empty());
    let short: FxHashMap<u32, Vec<NameId>> =
        short.filter_map(|(&row, names)| Some((row, missing(whole(names)?, names)))).collect();
    if short.is_empty() {
        return FxHashSet::default();
    }
    let dispatches = &launched.tables.dispatches;
    let mut shortest: FxHashMap<NameId, i64> = FxHashMap::default();
    let mut times: FxHashMap<u32, (AgentId, [i64; 2])> = FxHashMap::default();
    for row in 0..dispatches.len() {
        let Some(length) = dispatches.duration.valid(row) else { continue };
        let least = shortest.entry(dispatches.name[row]).or_insert(length);
        *least = length.min(*least);
        let track = dispatches.track[row];
        let call = launched.call(track, dispatches.correlation.get(row));
        if let Some(call) = call.filter(|call| short.contains_key(call)) {
            let agent = launched.tables.tracks.rows()[track.index()].agent;
            let start = dispatches.start[row];
            let (_, [first, last]) = times.entry(call).or_insert((agent, [start, start]));
            (*first, *last) = (start.min(*first), start.saturating_add(length).max(*last));
        }
    }
    let rooms = Room::of_gpus(analysis);
    let has_room = |row: &u32, missing: &[NameId]| {
        let ns = missing.iter().filter_map(|name| shortest.get(name)).sum::<i64>().unsigned_abs();
        times.get(row).is_none_or(|&(agent, time)| Room::is_for(&rooms, agent, time, ns))
    };
    short.iter().filter(|(row, missing)| !has_room(row, missing)).map(|(&row, _)| row).collect()
}

/// The names of a whole that a part lacks; both are sorted.
fn missing(whole: &[NameId], part: &[NameId]) -> Vec<NameId> {
    let mut part = part.iter().peekable();
    whole.iter().copied().filter(|name| part.next_if_eq(&name).is_none()).collect()
}

/// The names of the kernels of each launch that ran before the recording ended, sorted, by the row of the launch.
fn kernels_by_launch(launched: &Launched<'_>) -> FxHashMap<u32, Vec<NameId>> {
    let dispatches = &launched.tables.dispatches;
    let mut kernels: FxHashMap<u32, Vec<NameId>> =
        launched.graphs.iter().map(|&row| (row, Vec::new())).collect();
    for row in launched.cut_by_the_end(&launched.graphs) {
        kernels.remove(&row);
    }
    for row in 0..dispatches.len() {
        let call = launched.call(dispatches.track[row], dispatches.correlation.get(row));
        if let Some(names) = call.and_then(|call| kernels.get_mut(&call)) {
            names.push(dispatches.name[row]);
        }
    }
    kernels.values_mut().for_each(|names| names.sort_unstable());
    kernels
}

/// Fewer launches have no rhythm of their own.
const RHYTHM: usize = 3;

/// The kernels of launches that come back in a rhythm: where all launches of a thread repeat a sequence, or where at least half of
/// the launches with these kernels follow the last ones at the same distance.
fn recurring<'a>(
    launched: &Launched<'_>,
    kernels: &'a FxHashMap<u32, Vec<NameId>>,
) -> FxHashSet<&'a Vec<NameId>> {
    let calls = &launched.tables.api_calls;
    let mut threads: BTreeMap<_, Vec<(i64, u32)>> = BTreeMap::new();
    for &row in kernels.keys() {
        let thread = (calls.process.get(row as usize), calls.tid.get(row as usize));
        threads.entry(thread).or_default().push((calls.start[row as usize], row));
    }
    let mut found = FxHashSet::default();
    for mut launches in threads.into_values() {
        launches.sort_unstable();
        let sequence: Vec<&Vec<NameId>> = launches.iter().map(|(_, row)| &kernels[row]).collect();
        if is_repeated(&sequence) {
            found.extend(sequence);
            continue;
        }
        let mut places: FxHashMap<&Vec<NameId>, Vec<usize>> = FxHashMap::default();
        for (place, names) in sequence.into_iter().enumerate() {
            places.entry(names).or_default().push(place);
        }
        let has_rhythm = |(_, places): &(&Vec<NameId>, Vec<usize>)| {
            let mut distances: FxHashMap<usize, usize> = FxHashMap::default();
            for pair in places.windows(2) {
                *distances.entry(pair[1] - pair[0]).or_default() += 1;
            }
            let most = distances.values().max().copied().unwrap_or(0);
            places.len() >= RHYTHM && most > 1 && most * 2 >= places.len() - 1
        };
        found.extend(places.into_iter().filter(has_rhythm).map(|(names, _)| names));
    }
    found
}

/// Returns whether a sequence is another one that is repeated at least twice, and may end within a repetition.
fn is_repeated(sequence: &[&Vec<NameId>]) -> bool {
    // The prefix function of Knuth, Morris and Pratt: how much of the beginning each place repeats.
    let mut repeats = vec![0; sequence.len()];
    for place in 1..sequence.len() {
        let mut length = repeats[place - 1];
        while length > 0 && sequence[length] != sequence[place] {
            length = repeats[length - 1];
        }
        repeats[place] = length + usize::from(sequence[length] == sequence[place]);
    }
    repeats.last().is_some_and(|&length| length * 2 >= sequence.len())
}

/// Returns whether sorted names hold all of others.
fn contains(whole: &[NameId], part: &[NameId]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|name| whole.any(|other| other == name))
}
