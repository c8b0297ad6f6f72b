//! Compares two sides of runs. The result has values only: gates and formats are made of it.

mod comparable;
mod decomposition;
mod join;
mod mix;
mod rows;
mod sides;
mod totals;
mod types;
mod waits;
mod work;
mod work_terms;

use std::collections::BTreeSet;

use rtl_analysis::facts::CUT_OFF;
use rtl_analysis::identity;
use rtl_analysis::trust::Trust;
use rtl_analysis::work::WorkKey;

use self::join::JoinedSide;
pub(crate) use self::types::{Change, Comparison, Difference, Pairing, RenameCandidates, Row, Total, Totals};
pub(crate) use self::work::{Item, Whole, WorkComparison, WorkTerms};
use crate::input::{Run, Steps};
use crate::settings::Settings;

/// [`Comparison::incomparable`] is set for a side without runs or without kernels.
pub(crate) fn compare(baseline: &[Run], candidate: &[Run], settings: &Settings) -> Comparison {
    let sides = [baseline, candidate];
    let mut joined = sides.map(JoinedSide::new);
    let features = joined.each_ref().map(JoinedSide::features);
    let exact = join::exact(&joined);
    // Work has names that both sides state, so nothing is guessed.
    let matching = match settings.reading.work {
        Some(_) => join::only(&joined, &exact),
        None => identity::matching(&features[0], &features[1], &exact, &settings.renames),
    };
    waits::use_transfers(&mut joined, &matching);
    mix::equalize(&mut joined, &matching);
    let mut rows = rows::rows(&joined, &matching, settings);
    rows.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
    let typical = decomposition::typical(baseline).zip(decomposition::typical(candidate));
    let typical_runs = typical.map(|(one, other)| [&baseline[one], &candidate[other]]);
    let positions = typical.map(|(one, other)| [&*joined[0].positions[one], &*joined[1].positions[other]]);
    let decomposition = typical_runs.zip(positions);
    let decomposition =
        decomposition.map(|(runs, positions)| decomposition::decompose(runs, positions, &matching));
    let other_work = comparable::other_work(&rows).filter(|_| settings.reading.work.is_none());
    let no_work = || comparable::no_work(sides, settings.reading.work?);
    let mut incomparable = comparable::nothing_in_common(sides, &rows).or_else(no_work);
    let reasons = match incomparable {
        Some(_) => Vec::new(),
        None => comparable::reasons(sides, other_work.as_deref(), settings.reading.work),
    };
    let mut notes = notes(sides);
    notes.extend(sides.into_iter().zip(["baseline", "candidate"]).filter_map(left_out));
    notes.extend(sides.into_iter().zip(["baseline", "candidate"]).filter_map(limited));
    let is_refused = !reasons.is_empty() && !settings.allow_incomparable;
    if is_refused {
        incomparable = Some(reasons.join("; "));
    } else {
        let reasons = reasons.into_iter().filter(|reason| other_work.as_ref() != Some(reason));
        notes.extend(reasons.map(|reason| format!("compared all the same: {reason}")));
    }
    let work = settings.reading.work.map(|key| WorkComparison {
        key,
        whole: work_terms::whole(sides, settings),
        terms: typical_runs.map(work_terms::terms),
        is_per_step: key != WorkKey::Step
            && sides.iter().all(|runs| runs.iter().all(|run| run.steps.is_some())),
    });
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
        by: settings.reading.what,
        baseline: files(baseline),
        candidate: files(candidate),
        rename_candidates: rename_candidates.collect(),
        totals: totals::totals(sides),
        decomposition: decomposition.unwrap_or_default(),
        typical: typical.map(|(one, other)| [one, other]),
        differences: comparable::differences(sides, settings.reading.work.is_some()),
        notes,
        other_work: other_work.filter(|_| incomparable.is_none()),
        incomparable,
        is_refused,
        steps: sides.map(|runs| runs.iter().map(|run| run.steps.clone()).collect()),
        work,
        rows,
    }
}

/// The first reason why the figures of a side are off, and the number of other runs that have one.
fn limited((runs, side): (&[Run], &str)) -> Option<String> {
    let is_limited = |(trust, _): &&(Trust, String)| *trust == Trust::Limited;
    let has_reason = |run: &&Run| run.distrust.iter().any(|reason| is_limited(&reason));
    let (_, first) = runs.iter().flat_map(|run| &run.distrust).find(is_limited)?;
    let others = match runs.iter().filter(has_reason).count() {
        1 => String::new(),
        count => format!(" (and {} more runs)", count - 1),
    };
    Some(format!("{side}: trust is limited: {first}{others}"))
}

/// Notes the ops that are in no complete step, which the figures of a side leave out.
fn left_out((runs, side): (&[Run], &str)) -> Option<String> {
    let steps: Vec<&Steps> = runs.iter().filter_map(|run| run.steps.as_ref()).collect();
    let first = steps.first()?;
    let ops: u64 = steps.iter().map(|steps| steps.left_out.ops).sum();
    let ops_ns = steps.iter().fold(0, |sum: i64, steps| sum.saturating_add(steps.left_out.ops_ns));
    let lacking: usize = steps.iter().map(|steps| steps.left_out.steps).sum();
    let lacking = match lacking {
        0 => String::new(),
        1 => "1 step that is not complete, and ".to_owned(),
        count => format!("{count} steps that are not complete, and "),
    };
    let counts: BTreeSet<usize> = steps.iter().map(|steps| steps.count).collect();
    let counts: Vec<String> = counts.into_iter().map(|count| count.to_string()).collect();
    (ops > 0).then(|| {
        format!(
            "{side}: {} complete steps ({}) are compared, without {lacking}{} ops ({}) of no complete step",
            counts.join(" or "),
            first.name,
            cli::units::count(ops),
            cli::units::duration(ops_ns)
        )
    })
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
