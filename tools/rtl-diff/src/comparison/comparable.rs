//! Whether two sides can be compared at all, and in what they were recorded differently.

use std::collections::BTreeMap;

use super::{Change, Row};
use crate::input::Run;

/// Something in which the sides differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub what: String,
    /// What is so in the baseline; `unknown` where it does not say.
    pub baseline: String,
    /// What is so in the candidate.
    pub candidate: String,
}

/// By how much the number of launches may differ without a word.
const LAUNCHES: f64 = 0.01;

/// By how much the calls of the typical kernel may differ before totals are of different amounts of work.
const WORK: f64 = 0.1;

pub(super) fn differences(baseline: &[Run], candidate: &[Run]) -> Vec<Difference> {
    if baseline.is_empty() || candidate.is_empty() {
        return Vec::new();
    }
    let (before, after) = (facts(baseline), facts(candidate));
    let mut whats: Vec<&String> = before.keys().chain(after.keys()).copied().collect();
    whats.sort();
    whats.dedup();
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
    let launches = [baseline, candidate].map(launches);
    if launches[0] > 0.0 && (launches[1] / launches[0] - 1.0).abs() > LAUNCHES {
        let words = launches.map(|launches| cli::units::count(launches.round() as u64));
        let [baseline, candidate] = words;
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
fn launches(runs: &[Run]) -> f64 {
    let all: u64 = runs.iter().map(super::totals::launches).sum();
    all as f64 / runs.len().max(1) as f64
}

/// Why nothing can be compared, if so.
pub(super) fn nothing_in_common(baseline: &[Run], candidate: &[Run], rows: &[Row]) -> Option<String> {
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

/// Whether the two sides did different amounts of the same work: the typical kernel, weighted by time, was called
/// another number of times. Then sums over a run say nothing, while calls can still be compared.
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
    ((typical.0 - 1.0).abs() > WORK).then(|| {
        format!(
            "different amounts of work: the typical kernel was called {} times as often in the candidate",
            cli::units::fixed(typical.0, 2)
        )
    })
}
