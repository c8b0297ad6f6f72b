//! One kernel, several launch shapes: compare like with like.
//!
//! A kernel that is launched large and small has two typical durations, and which of them a part of a run happens to
//! hold moves its mean more than most regressions do. So calls of every shape are brought to the kernel's level before
//! anything else: what differs then is how fast calls are, not which calls there were. That part is the mix term of
//! the books.

use rustc_hash::FxHashMap;

use super::Run;
use super::trimmed;

/// The calls of one kernel in one run, in launch order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calls<'a> {
    /// Durations in ns.
    pub durations: &'a [i64],
    /// A number for the launch shape of each, the same number for the same shape in every run. Where it is not as long
    /// as the durations, shapes are unknown.
    pub shapes: &'a [u32],
}

/// Summaries of all runs of one kernel on both sides, at equal mix of launch shapes. Shapes that only one side has take no
/// part in the ratio, as long as there is a common one. With one shape, or none known, [`Run::of`].
pub fn runs(baseline: &[Calls<'_>], candidate: &[Calls<'_>]) -> [Vec<Run>; 2] {
    let plain = |calls: &[Calls<'_>]| calls.iter().map(|calls| Run::of(calls.durations)).collect();
    let mut sides = [plain(baseline), plain(candidate)];
    let Some(levels) = levels(baseline, candidate) else { return sides };
    for (runs, calls) in sides.iter_mut().zip([baseline, candidate]) {
        for (run, calls) in runs.iter_mut().zip(calls) {
            let brought: Vec<i64> = calls
                .shapes
                .iter()
                .zip(calls.durations)
                .filter_map(|(shape, &duration)| Some((duration as f64 * levels.get(shape)?).round() as i64))
                .collect();
            if !brought.is_empty() {
                run.bring(&brought);
            }
        }
    }
    sides
}

/// By how much to multiply the calls of each shape that both sides have: what is typical for it is the geometric mean of
/// both sides, so that a slowdown of all shapes is the same slowdown afterwards, whatever the mix of either side.
/// `None` where shapes play no part.
fn levels(baseline: &[Calls<'_>], candidate: &[Calls<'_>]) -> Option<FxHashMap<u32, f64>> {
    // Far above 1 ns, so that rounding moves no ratio, and far below what fits.
    const LEVEL: f64 = 1e9;
    let mut all = baseline.iter().chain(candidate);
    if !all.clone().all(|calls| calls.shapes.len() == calls.durations.len()) {
        return None;
    }
    let first = *all.clone().find_map(|calls| calls.shapes.first())?;
    if all.all(|calls| calls.shapes.iter().all(|&shape| shape == first)) {
        return None;
    }
    let [baseline, candidate] = [baseline, candidate].map(means);
    let common = baseline.iter().filter_map(|(&shape, before)| {
        let typical = (before * candidate.get(&shape)?).sqrt();
        (typical >= 1.0).then_some((shape, LEVEL / typical))
    });
    let levels: FxHashMap<u32, f64> = common.collect();
    (!levels.is_empty()).then_some(levels)
}

/// The trimmed mean of each shape in ns, all runs of a side together.
fn means(runs: &[Calls<'_>]) -> FxHashMap<u32, f64> {
    let mut durations: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
    for calls in runs {
        for (&shape, &duration) in calls.shapes.iter().zip(calls.durations) {
            durations.entry(shape).or_default().push(duration);
        }
    }
    durations.into_iter().map(|(shape, durations)| (shape, trimmed::describe(&durations).mean_ns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_mix_is_no_change_of_speed() {
        let mostly_small = Calls { durations: &[100, 100, 100, 900], shapes: &[1, 1, 1, 2] };
        let mostly_large = Calls { durations: &[100, 900, 900, 900], shapes: &[1, 2, 2, 2] };
        let [before, after] = runs(&[mostly_small], &[mostly_large]);
        assert!((after[0].log_mean() - before[0].log_mean()).abs() < 1e-6);
        assert_eq!((before[0].trimmed_mean_ns, after[0].trimmed_mean_ns), (300.0, 700.0));
    }

    #[test]
    fn a_slowdown_of_every_shape_is_seen_whatever_the_mix() {
        let before = Calls { durations: &[100, 100, 100, 900], shapes: &[1, 1, 1, 2] };
        let after = Calls { durations: &[110, 990, 990, 990], shapes: &[1, 2, 2, 2] };
        let [before, after] = runs(&[before], &[after]);
        assert!((after[0].log_mean() - before[0].log_mean() - 1.1_f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_shape_of_one_side_is_left_out_and_unknown_shapes_are_no_shapes() {
        let before = Calls { durations: &[100, 100], shapes: &[1, 1] };
        let after = Calls { durations: &[100, 5000], shapes: &[1, 9] };
        let [mine, other] = runs(&[before], &[after]);
        assert!((mine[0].log_mean() - other[0].log_mean()).abs() < 1e-6);
        let unknown = Calls { durations: &[100, 5000], shapes: &[] };
        assert_eq!(runs(&[unknown], &[unknown])[0], [Run::of(&[100, 5000])]);
        assert_eq!(runs(&[], &[]), [Vec::new(), Vec::new()]);
    }
}
