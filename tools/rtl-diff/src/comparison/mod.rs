//! Compares two sides of runs: values only; no gate and no format.

mod comparable;
mod decomposition;
mod join;
mod mix;
mod rows;
mod totals;
mod types;
mod waits;

use rtl_analysis::facts::CUT_OFF;
use rtl_analysis::identity;

use self::join::JoinedSide;
pub(crate) use self::types::{Change, Comparison, Difference, Pairing, RenameCandidates, Row, Total, Totals};
use crate::input::Run;
use crate::settings::Settings;

/// Compares. [`Comparison::incomparable`] is set for a side without runs or without kernels.
pub(crate) fn compare(baseline: &[Run], candidate: &[Run], settings: &Settings) -> Comparison {
    let sides = [baseline, candidate];
    let mut joined = sides.map(JoinedSide::of);
    let features = joined.each_ref().map(JoinedSide::features);
    let matching = identity::matching(&features[0], &features[1], &join::exact(&joined), &settings.renames);
    waits::use_transfers(&mut joined, &matching);
    mix::equalize(&mut joined, &matching);
    let mut rows = rows::rows(&joined, &matching, settings);
    rows.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
    let typical = decomposition::typical(baseline).zip(decomposition::typical(candidate));
    let typical_runs = typical.map(|(one, other)| [&baseline[one], &candidate[other]]);
    let positions = typical.map(|(one, other)| [&*joined[0].of_run[one], &*joined[1].of_run[other]]);
    let decomposition = typical_runs.zip(positions);
    let decomposition =
        decomposition.map(|(runs, positions)| decomposition::decompose(runs, positions, &matching));
    let incomparable = comparable::nothing_in_common(sides, &rows);
    let mut notes = notes(sides);
    notes.extend(waits::notes(&rows, typical_runs));
    let kernels = joined.iter().flat_map(|side| &side.kernels);
    if kernels.flat_map(|kernel| &kernel.runs).any(|run| run.at_equal_mix.is_some()) {
        notes.push(
            "kernels of several launch shapes are compared at equal mix of them; before and after are as they ran"
                .to_owned(),
        );
    }
    let files = |runs: &[Run]| runs.iter().map(|run| run.files.clone()).collect();
    let rename_candidates = matching.rename_candidates.into_iter().map(|family| RenameCandidates {
        name: family.name,
        removed: family.baseline.len(),
        new: family.candidate.len(),
    });
    Comparison {
        baseline: files(baseline),
        candidate: files(candidate),
        rename_candidates: rename_candidates.collect(),
        totals: totals::totals(sides),
        decomposition: decomposition.unwrap_or_default(),
        typical: typical.map(|(one, other)| [one, other]),
        differences: comparable::differences(sides),
        notes,
        other_work: if incomparable.is_none() { comparable::other_work(&rows) } else { None },
        incomparable,
        rows,
    }
}

fn notes(sides: [&[Run]; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    if let [[before], [after]] = sides {
        let note = if before.is_report || after.is_report {
            "one report per side: nothing says how much a kernel varies, so nothing is decided"
        } else {
            "one run per side: the uncertainty is within-run only, and says nothing of how runs differ; \
             compare several runs, or calibrate"
        };
        notes.push(note.to_owned());
    }
    for (side, runs) in ["baseline", "candidate"].into_iter().zip(sides) {
        let cut_off = runs.iter().filter(|run| run.facts.iter().any(|fact| fact.what == CUT_OFF));
        notes.extend(cut_off.filter_map(|run| run.files.first()).map(|file| {
            format!(
                "{side}: {} was cut off before its end; totals of whole runs do not compare",
                file.display()
            )
        }));
    }
    notes
}
