//! Checks whether two sides can be compared, and lists the differences of their recordings.

use std::collections::{BTreeMap, BTreeSet};

use super::totals::launches;
use super::types::{Change, Difference, Row};
use crate::input::Run;

/// A larger relative difference of the number of launches is reported.
const MAX_LAUNCH_CHANGE: f64 = 0.01;

/// A larger relative change of the calls of the typical kernel means different amounts of work.
const MAX_WORK_CHANGE: f64 = 0.1;

/// Facts with different values, and the number of launches.
pub(super) fn differences(sides: [&[Run]; 2]) -> Vec<Difference> {
    if sides.iter().any(|runs| runs.is_empty()) {
        return Vec::new();
    }
    let [before, after] = sides.map(facts);
    let whats: BTreeSet<&String> = before.keys().chain(after.keys()).copied().collect();
    let value = |facts: &BTreeMap<&String, Vec<&str>>, what| {
        facts.get(what).map_or_else(|| "unknown".to_owned(), |values| values.join(" or "))
    };
    let mut differences: Vec<Difference> = whats
        .into_iter()
        .map(|what| Difference {
            what: what.clone(),
            baseline: value(&before, what),
            candidate: value(&after, what),
        })
        .filter(|difference| difference.baseline != difference.candidate)
        .collect();
    let launches = sides.map(mean_launches);
    if launches[0] > 0.0 && (launches[1] / launches[0] - 1.0).abs() > MAX_LAUNCH_CHANGE {
        let [baseline, candidate] = launches.map(|launches| cli::units::count(launches.round() as u64));
        differences.push(Difference { what: "kernel launches of a run".to_owned(), baseline, candidate });
    }
    differences
}

/// All values of each fact over the runs of a side.
fn facts(runs: &[Run]) -> BTreeMap<&String, Vec<&str>> {
    let mut facts: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for fact in runs.iter().flat_map(|run| &run.facts) {
        let values = facts.entry(&fact.what).or_default();
        if let Err(place) = values.binary_search(&fact.value.as_str()) {
            values.insert(place, &fact.value);
        }
    }
    facts
}

/// Kernel launches of a run, averaged.
fn mean_launches(runs: &[Run]) -> f64 {
    let all: u64 = runs.iter().map(launches).sum();
    all as f64 / runs.len().max(1) as f64
}

/// The reason, if the sides have nothing in common.
pub(super) fn nothing_in_common([baseline, candidate]: [&[Run]; 2], rows: &[Row]) -> Option<String> {
    let empty = |runs: &[Run]| runs.iter().all(|run| run.profile.kernels.is_empty());
    if baseline.is_empty() {
        return Some("there is no baseline".to_owned());
    }
    match (empty(baseline), empty(candidate)) {
        (true, true) => return Some("no side has a kernel".to_owned()),
        (true, false) => return Some("the baseline has no kernel".to_owned()),
        (false, true) => return Some("the candidate has no kernel".to_owned()),
        (false, false) => {}
    }
    let common = rows.iter().any(|row| !matches!(row.change, Change::New | Change::Removed));
    (!common).then(|| "the two sides have no kernel in common".to_owned())
}

/// The reason, if the sides did different amounts of the same work: the typical kernel, weighted by time, was called
/// another number of times. Then sums over a run cannot be compared, but calls can.
pub(super) fn other_work(rows: &[Row]) -> Option<String> {
    let mut ratios: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| {
            !row.collective && !matches!(row.change, Change::New | Change::Removed | Change::Renamed)
        })
        .filter_map(|row| {
            let [before, after] = row.sides().map(|side| side.calls as f64 / side.runs.max(1) as f64);
            (before > 0.0).then_some((after / before, row.share))
        })
        .collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = ratios.iter().map(|(_, share)| share).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let typical = ratios.iter().find(|(_, share)| {
        sum += share;
        sum >= half
    })?;
    ((typical.0 - 1.0).abs() > MAX_WORK_CHANGE).then(|| {
        format!(
            "different amounts of work: the typical kernel was called {} times as often in the candidate",
            cli::units::fixed(typical.0, 2)
        )
    })
}
