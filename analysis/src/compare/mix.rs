//! One kernel, several launch shapes: compare like with like.
//!
//! A kernel that is launched large and small has two typical durations, and which of them a part of a run happens to
//! hold moves its mean more than most regressions do. So calls of every shape are brought to the kernel's level before
//! anything else: what differs then is how fast calls are, not which calls there were. That part is the mix term of
//! the decomposition of wall time.

use super::Run;
use super::trimmed;
use crate::stats::begins;

/// The calls of one kernel in one run, in launch order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calls<'a> {
    /// Durations in ns, none of them negative.
    pub durations: &'a [i64],
    /// A small number for the launch shape of each, the same number for the same shape in every run.
    pub shapes: &'a [u32],
}

/// The launch shapes of one kernel in one run.
#[derive(Debug, Clone, Copy, Default)]
pub enum Mix<'a> {
    /// Not the shape of every call, unless there is no call.
    #[default]
    Unknown,
    /// All calls are of this shape.
    One(u32),
    /// Each call has its own.
    Several(Calls<'a>),
}

impl<'a> Mix<'a> {
    /// Of calls with their shapes; fewer shapes than calls tell nothing.
    fn of(calls: &Calls<'a>) -> Self {
        if calls.durations.len() == calls.shapes.len() { Self::Several(*calls) } else { Self::Unknown }
    }
}

/// Summaries of all runs of one kernel on both sides, at equal mix of launch shapes: [`Run::of`], then [`normalise`].
pub fn runs(baseline: &[Calls<'_>], candidate: &[Calls<'_>]) -> [Vec<Run>; 2] {
    let sides = [baseline, candidate];
    let [mut before, mut after] =
        sides.map(|side| -> Vec<Run> { side.iter().map(|calls| Run::of(calls.durations)).collect() });
    let [baseline, candidate] = sides.map(|side| side.iter().map(Mix::of).collect::<Vec<_>>());
    normalise([&mut before, &mut after], [&baseline, &candidate]);
    [before, after]
}

/// Brings summaries of whole runs to equal mix of launch shapes. Shapes that only one side has take no part in the ratio, as
/// long as every run has a common one. Otherwise, and with one shape or unknown ones, runs stay as they are.
pub fn normalise(sides: [&mut [Run]; 2], mixes: [&[Mix<'_>]; 2]) {
    let Some(levels) = levels([&*sides[0], &*sides[1]], mixes) else { return };
    let mut brought = Vec::new();
    for (run, mix) in sides.into_iter().zip(mixes).flat_map(|(runs, mixes)| runs.iter_mut().zip(mixes)) {
        match mix {
            Mix::Unknown => {}
            Mix::One(shape) => run.scale(levels[*shape as usize].unwrap_or(LEVEL)),
            Mix::Several(calls) => {
                brought.clear();
                brought.extend(calls.shapes.iter().zip(calls.durations).filter_map(|(&shape, &duration)| {
                    levels[shape as usize].map(|level| (duration as f64 * level + 0.5) as i64)
                }));
                run.bring(&brought);
            }
        }
    }
}

/// The level that calls are normalised to, in ns: far above 1, so that rounding moves no ratio, and far below what fits.
const LEVEL: f64 = 1e9;

/// By how much to multiply the calls of each shape that both sides have. `None` where shapes play no part.
///
/// Two things are fitted at once: what is typical for a shape, from the calls of both sides, and by which factor all calls
/// of the candidate are slower. Without the factor, a shape that the candidate runs more often would pass its slowdown
/// for typical; from one side alone, a shape that is rare there would be typical by chance.
fn levels(runs: [&[Run]; 2], mixes: [&[Mix<'_>]; 2]) -> Option<Vec<Option<f64>>> {
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

/// The calls of one shape.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    calls: f64,
    /// Trimmed.
    ns: f64,
}

/// The typical duration of a call, where those of the candidate are slower by `factor`.
fn typical([before, after]: &[Mean; 2], factor: f64) -> f64 {
    (before.calls * before.ns + after.calls * after.ns / factor) / (before.calls + after.calls)
}

/// The shapes of one run by their numbers; nothing without calls, `None` where shapes are unknown.
fn means(run: &Run, mix: &Mix<'_>, scratch: &mut Vec<i64>) -> Option<Vec<Mean>> {
    if run.calls == 0 {
        return Some(Vec::new());
    }
    match mix {
        Mix::Unknown => None,
        Mix::One(shape) => {
            let mut means = vec![Mean::default(); *shape as usize + 1];
            means[*shape as usize] = Mean { calls: run.calls as f64, ns: run.trimmed_mean_ns };
            Some(means)
        }
        Mix::Several(calls) => Some(means_of_shapes(calls, scratch)),
    }
}

fn means_of_shapes(Calls { durations, shapes }: &Calls<'_>, by_shape: &mut Vec<i64>) -> Vec<Mean> {
    let count = shapes.iter().max().map_or(0, |&shape| shape as usize + 1);
    let mut counts = vec![0_usize; count];
    shapes.iter().for_each(|&shape| counts[shape as usize] += 1);
    let begins = begins(&counts);
    let mut next = begins.clone();
    by_shape.resize(durations.len(), 0);
    for (&shape, &duration) in shapes.iter().zip(*durations) {
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

    #[test]
    fn a_run_without_a_common_shape_leaves_all_runs_as_they_are() {
        let [small, large] =
            [Calls { durations: &[100, 100], shapes: &[1, 1] }, Calls { durations: &[900], shapes: &[2] }];
        let [before, after] = runs(&[small, large], &[small]);
        assert_eq!(
            [&before[..], &after[..]].concat(),
            [small, large, small].map(|calls| Run::of(calls.durations))
        );
    }

    #[test]
    fn a_run_of_one_shape_needs_no_calls() {
        let mixed = Calls { durations: &[100, 900, 100, 900], shapes: &[0, 1, 0, 1] };
        let slower = Run::of(&[990, 990, 990, 990]);
        let mut sides = [[Run::of(mixed.durations)], [slower.clone()]];
        let [before, after] = &mut sides;
        normalise([before, after], [&[Mix::Several(mixed)], &[Mix::One(1)]]);
        assert!((after[0].log_mean() - before[0].log_mean() - 1.1_f64.ln()).abs() < 1e-6);
        assert_eq!((after[0].trimmed_mean_ns, after[0].within), (slower.trimmed_mean_ns, slower.within));
    }
}
