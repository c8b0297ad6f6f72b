//! Checks whether two sides can be compared, and lists the differences of their recordings.

use std::collections::{BTreeMap, BTreeSet};

use rtl_analysis::facts::{GPUS, MODE, UNKNOWN_GPU};
use rtl_analysis::trust::Trust;
use rtl_analysis::work::WorkKey;

use super::totals::launches;
use super::types::{Change, Difference, Row};
use super::work::nouns;
use crate::input::Run;

/// A larger relative difference of the number of launches is reported.
const MAX_LAUNCH_CHANGE: f64 = 0.01;

/// A larger relative change of the calls of the typical kernel means different amounts of work.
const MAX_WORK_CHANGE: f64 = 0.1;

/// Facts with different values, and the number of launches, or of ops where work is compared.
pub(super) fn differences(sides: [&[Run]; 2], is_work: bool) -> Vec<Difference> {
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
        let what = if is_work { "ops of a step" } else { "kernel launches of a run" };
        differences.push(Difference { what: what.to_owned(), baseline, candidate });
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

/// The reason, if a side has nothing of what is compared.
pub(super) fn no_work(sides: [&[Run]; 2], key: WorkKey) -> Option<String> {
    let is_unknown =
        |runs: &[Run]| runs.iter().all(|run| run.work.as_ref().is_some_and(|work| work.is_unknown));
    let [_, several] = nouns(key);
    let lacking = ["baseline", "candidate"].into_iter().zip(sides).find(|(_, runs)| is_unknown(runs));
    lacking.map(|(side, _)| format!("the {side} has no {several}"))
}

/// The reasons why the sides should not be compared. Where `work` is compared, GPUs may differ, and so may steps and kernels.
pub(super) fn reasons(sides: [&[Run]; 2], other_work: Option<&str>, work: Option<WorkKey>) -> Vec<String> {
    let mut reasons = Vec::new();
    let values = sides.map(|runs| facts(runs).remove(&MODE.to_owned()).unwrap_or_default().join(" or "));
    if work.is_none() {
        reasons.extend(
            differ(sides.map(gpu_models)).map(|[one, other]| format!("the GPUs differ: {one} and {other}")),
        );
        let steps = sides.map(|runs| runs.iter().filter_map(|run| Some(run.steps.as_ref()?.count)));
        let steps = steps.map(|counts| counts.map(|count| count.to_string()).collect::<BTreeSet<_>>());
        reasons
            .extend(differ(steps).map(|[one, other]| format!("runs have {one} and {other} complete steps")));
        reasons.extend(other_work.map(str::to_owned));
    }
    if let [one, other] = &values
        && one != other
        && !one.is_empty()
        && !other.is_empty()
    {
        reasons.push(format!("the modes of recording differ: {one} and {other}"));
    }
    let bad = sides.into_iter().flatten().flat_map(|run| &run.distrust);
    let bad = bad.filter(|(trust, _)| *trust == Trust::Bad);
    reasons.extend(bad.map(|(_, reason)| format!("a trace cannot be trusted: {reason}")));
    reasons
}

fn differ(sides: [BTreeSet<String>; 2]) -> Option<[String; 2]> {
    let is_known = sides.iter().all(|side| !side.is_empty());
    (is_known && sides[0] != sides[1])
        .then(|| sides.map(|side| side.into_iter().collect::<Vec<_>>().join(" or ")))
}

/// The known models of the GPUs of a side.
fn gpu_models(runs: &[Run]) -> BTreeSet<String> {
    let facts = runs.iter().flat_map(|run| &run.facts).filter(|fact| fact.what == GPUS);
    let models = facts.flat_map(|fact| fact.value.split(", ")).filter_map(|part| part.split_once(" x "));
    models.map(|(_, model)| model).filter(|model| *model != UNKNOWN_GPU).map(str::to_owned).collect()
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
