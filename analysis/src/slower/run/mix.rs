//! One kernel, several launch shapes: compare like with like.
//!
//! A kernel that is launched large and small has two typical durations, and which of them a part of a run happens to
//! hold moves its mean more than most regressions do. So calls of every shape are brought to the kernel's level before
//! anything else: what differs then is how fast calls are, not which calls there were. That part is the mix term of
//! the decomposition of wall time.

use super::Run;
use super::shared_slice::SharedSlice;
use super::trimmed;
use crate::base::stats::begins;

/// The calls of one kernel in one run, in launch order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// Durations in ns, none of them negative.
    pub durations: SharedSlice<i64>,
    /// The position of the launch shape of each among those of the kernel in the run.
    pub shapes: SharedSlice<u32>,
}

/// The launch shapes of the calls of one kernel in one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Mix {
    /// Unknown for some calls, or kernels are distinguished by shape.
    #[default]
    Unknown,
    /// All calls are of the only one.
    One,
    /// Call by call.
    Several(Calls),
}

/// A mix, and for each launch shape of the kernel in the run a small number, the same for the same shape in every run.
#[derive(Debug, Clone)]
pub struct NumberedMix<'a> {
    /// The calls of the run by launch shape.
    pub mix: &'a Mix,
    /// Numbers of its shapes that are the same for all runs of both sides.
    pub numbers: Vec<u32>,
}

/// Summaries of all runs of one kernel on both sides, at equal mix of launch shapes, whose positions are the same in every
/// run: [`Run::of`], then [`normalise`]. Fewer shapes than calls count as unknown.
pub fn runs(baseline: &[Calls], candidate: &[Calls]) -> [Vec<Run>; 2] {
    let sides = [baseline, candidate];
    let [mut before, mut after] =
        sides.map(|side| -> Vec<Run> { side.iter().map(|calls| Run::of(&calls.durations)).collect() });
    let several = |calls: &Calls| match calls.durations.len() == calls.shapes.len() {
        true => Mix::Several(calls.clone()),
        false => Mix::Unknown,
    };
    let mixes = sides.map(|side| side.iter().map(several).collect::<Vec<_>>());
    let shapes = sides.iter().copied().flatten().flat_map(|calls| calls.shapes.iter()).max();
    let numbers: Vec<u32> = (0..=shapes.copied().unwrap_or(0)).collect();
    let numbered = |mix| NumberedMix { mix, numbers: numbers.clone() };
    let [baseline, candidate] = mixes.each_ref().map(|side| side.iter().map(numbered).collect::<Vec<_>>());
    normalise([&mut before, &mut after], [&baseline, &candidate]);
    [before, after]
}

/// Brings summaries of whole runs to equal mix of launch shapes. Shapes that only one side has take no part in the ratio, as
/// long as every run has a common one. Otherwise, and with one shape or unknown ones, runs stay as they are.
pub fn normalise(sides: [&mut [Run]; 2], mixes: [&[NumberedMix<'_>]; 2]) {
    let Some(levels) = levels([&*sides[0], &*sides[1]], mixes) else { return };
    let mut brought = Vec::new();
    for (run, mix) in sides.into_iter().zip(mixes).flat_map(|(runs, mixes)| runs.iter_mut().zip(mixes)) {
        let level = |shape: u32| levels[mix.numbers[shape as usize] as usize];
        match mix.mix {
            Mix::Unknown => {}
            Mix::One => run.scale(level(0).unwrap_or(LEVEL)),
            Mix::Several(calls) => {
                brought.clear();
                brought.extend(calls.shapes.iter().zip(&*calls.durations).filter_map(
                    |(&shape, &duration)| level(shape).map(|level| (duration as f64 * level + 0.5) as i64),
                ));
                run.bring(&brought);
            }
        }
    }
}

/// The level that calls are normalised to, in ns: far above 1, so that rounding moves no ratio, and far below what fits.
const LEVEL: f64 = 1e9;

/// Returns the factor for the calls of each shape that both sides have. `None` where shapes play no part.
///
/// Two things are fitted at once: what is typical for a shape, from the calls of both sides, and by which factor all calls of
/// the candidate are slower. Without the factor, a shape that the candidate runs more often would pass its slowdown for
/// typical; from one side alone, a shape that is rare there would be typical by chance.
fn levels(runs: [&[Run]; 2], mixes: [&[NumberedMix<'_>]; 2]) -> Option<Vec<Option<f64>>> {
    const STEPS: usize = 20;
    let mut scratch = Vec::new();
    let found: Vec<Vec<Vec<Mean>>> = (0..2)
        .map(|side| {
            runs[side].iter().zip(mixes[side]).map(|(run, mix)| means(run, mix, &mut scratch)).collect()
        })
        .collect::<Option<_>>()?;
    let shapes = found.iter().flatten().map(Vec::len).max()?;
    let [before, after] = [0, 1].map(|side| together(&found[side], shapes));
    if before.iter().zip(&after).filter(|(before, after)| before.calls + after.calls > 0.0).count() < 2 {
        return None;
    }
    let sides: Vec<Option<[Mean; 2]>> = before
        .into_iter()
        .zip(after)
        .map(|(before, after)| [before, after])
        .map(|sides| sides.iter().all(|side| side.calls > 0.0 && side.ns >= 1.0).then_some(sides))
        .collect();
    let has_common = |means: &Vec<Mean>| {
        means.is_empty() || means.iter().zip(&sides).any(|(mean, sides)| mean.calls > 0.0 && sides.is_some())
    };
    if !found.iter().flatten().all(has_common) {
        return None;
    }
    let mut factor = 1.0;
    for _ in 0..STEPS {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        for sides in sides.iter().flatten() {
            let typical = typical(sides, factor);
            for side in 0..2 {
                sums[side] += sides[side].calls * sides[side].ns / typical;
                counts[side] += sides[side].calls;
            }
        }
        factor = (sums[1] / counts[1]) / (sums[0] / counts[0]);
    }
    let level = |sides: &Option<[Mean; 2]>| sides.map(|sides| LEVEL / typical(&sides, factor));
    sides.iter().any(Option::is_some).then(|| sides.iter().map(level).collect())
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    calls: f64,
    /// Trimmed mean in ns.
    ns: f64,
}

/// The typical duration of a call, where those of the candidate are slower by `factor`.
fn typical([before, after]: &[Mean; 2], factor: f64) -> f64 {
    (before.calls * before.ns + after.calls * after.ns / factor) / (before.calls + after.calls)
}

/// The shapes of one run by their numbers; nothing without calls, `None` where shapes are unknown.
fn means(run: &Run, mix: &NumberedMix<'_>, scratch: &mut Vec<i64>) -> Option<Vec<Mean>> {
    if run.calls == 0 {
        return Some(Vec::new());
    }
    let own = match mix.mix {
        Mix::Unknown => return None,
        Mix::One => vec![Mean { calls: run.calls as f64, ns: run.trimmed_mean_ns }],
        Mix::Several(calls) => means_of_shapes(calls, scratch),
    };
    let mut means = vec![Mean::default(); *mix.numbers.iter().max()? as usize + 1];
    mix.numbers.iter().zip(own).for_each(|(&number, mean)| means[number as usize] = mean);
    Some(means)
}

fn means_of_shapes(Calls { durations, shapes }: &Calls, by_shape: &mut Vec<i64>) -> Vec<Mean> {
    let count = shapes.iter().max().map_or(0, |&shape| shape as usize + 1);
    let mut counts = vec![0_usize; count];
    shapes.iter().for_each(|&shape| counts[shape as usize] += 1);
    let begins = begins(&counts);
    let mut next = begins.clone();
    by_shape.resize(durations.len(), 0);
    for (&shape, &duration) in shapes.iter().zip(&**durations) {
        let next = &mut next[shape as usize];
        by_shape[*next] = duration;
        *next += 1;
    }
    begins
        .windows(2)
        .map(|bounds| trimmed::mean(&by_shape[bounds[0]..bounds[1]]))
        .map(|(calls, ns)| Mean { calls: calls as f64, ns })
        .collect()
}

/// Each shape in all runs of a side: every call counts the same.
fn together(runs: &[Vec<Mean>], shapes: usize) -> Vec<Mean> {
    let of_shape = |shape: usize| {
        let runs = || runs.iter().filter_map(|means| means.get(shape));
        let calls = runs().map(|mean| mean.calls).sum::<f64>();
        Mean { calls, ns: runs().map(|mean| mean.calls * mean.ns).sum::<f64>() / calls.max(1.0) }
    };
    (0..shapes).map(of_shape).collect()
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn calls(durations: &[i64], shapes: &[u32]) -> Calls {
        Calls { durations: durations.to_vec().into(), shapes: shapes.to_vec().into() }
    }

    #[test]
    fn a_change_of_mix_is_no_change_of_speed() {
        let mostly_small = calls(&[100, 100, 100, 900], &[1, 1, 1, 2]);
        let mostly_large = calls(&[100, 900, 900, 900], &[1, 2, 2, 2]);
        let [before, after] = runs(&[mostly_small], &[mostly_large]);
        assert!((after[0].log_mean() - before[0].log_mean()).abs() < 1e-6);
        assert_eq!((before[0].trimmed_mean_ns, after[0].trimmed_mean_ns), (300.0, 700.0));
    }

    #[test]
    fn a_slowdown_of_every_shape_is_seen_whatever_the_mix() {
        let before = calls(&[100, 100, 100, 900], &[1, 1, 1, 2]);
        let after = calls(&[110, 990, 990, 990], &[1, 2, 2, 2]);
        let [before, after] = runs(&[before], &[after]);
        assert!((after[0].log_mean() - before[0].log_mean() - 1.1_f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_shape_of_one_side_is_left_out_and_unknown_shapes_are_no_shapes() {
        let before = calls(&[100, 100], &[1, 1]);
        let after = calls(&[100, 5000], &[1, 9]);
        let [mine, other] = runs(&[before], &[after]);
        assert!((mine[0].log_mean() - other[0].log_mean()).abs() < 1e-6);
        let unknown = calls(&[100, 5000], &[]);
        assert_eq!(runs(from_ref(&unknown), from_ref(&unknown))[0], [Run::of(&[100, 5000])]);
        assert_eq!(runs(&[], &[]), [Vec::new(), Vec::new()]);
    }

    #[test]
    fn a_run_without_a_common_shape_leaves_all_runs_as_they_are() {
        let [small, large] = [calls(&[100, 100], &[1, 1]), calls(&[900], &[2])];
        let [before, after] = runs(&[small.clone(), large.clone()], from_ref(&small));
        assert_eq!(
            [&before[..], &after[..]].concat(),
            [small.clone(), large, small].map(|calls| Run::of(&calls.durations))
        );
    }

    #[test]
    fn a_run_of_one_shape_needs_no_calls() {
        let mixed = calls(&[100, 900, 100, 900], &[0, 1, 0, 1]);
        let slower = Run::of(&[990, 990, 990, 990]);
        let mut sides = [[Run::of(&mixed.durations)], [slower.clone()]];
        let [before, after] = &mut sides;
        let mixed = NumberedMix { mix: &Mix::Several(mixed), numbers: vec![0, 1] };
        let one = NumberedMix { mix: &Mix::One, numbers: vec![1] };
        normalise([before, after], [&[mixed], &[one]]);
        assert!((after[0].log_mean() - before[0].log_mean() - 1.1_f64.ln()).abs() < 1e-6);
        assert_eq!((after[0].trimmed_mean_ns, after[0].within), (slower.trimmed_mean_ns, slower.within));
    }
}
