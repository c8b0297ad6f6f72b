//! The 10 %-trimmed mean of one run's calls, and how sure the run itself makes it.

use std::borrow::Cow;

use super::order_statistics;

/// Into how many pieces a run is cut at most. Enough that a block of the bootstrap may begin almost anywhere, few enough
/// that a summary stays small whatever the number of calls.
pub const CELLS: usize = 240;

/// The part that is cut off at each end: one in ten.
pub(super) const CUT: usize = 10;

/// The trimmed mean in ns and the cells of a run.
pub(super) fn level(durations: &[i64]) -> (f64, Vec<f64>) {
    let durations = &*valid(durations);
    if durations.is_empty() {
        return (0.0, Vec::new());
    }
    let [shortest, longest] = kept(durations);
    level_between(durations, shortest, longest)
}

/// How many calls count, and their trimmed mean in ns.
pub(super) fn mean(durations: &[i64]) -> (usize, f64) {
    let durations = &*valid(durations);
    if durations.is_empty() {
        return (0, 0.0);
    }
    let [shortest, longest] = kept(durations);
    (durations.len(), mean_of(durations.len(), pulled_in(durations, shortest, longest), shortest, longest))
}

/// Leaves out negative durations.
pub(super) fn valid(durations: &[i64]) -> Cow<'_, [i64]> {
    if durations.iter().any(|&duration| duration < 0) {
        Cow::Owned(durations.iter().copied().filter(|&duration| duration >= 0).collect())
    } else {
        Cow::Borrowed(durations)
    }
}

/// The shortest and the longest call that is not cut off.
fn kept(durations: &[i64]) -> [i64; 2] {
    let cut = durations.len() / CUT;
    order_statistics::at(durations, [cut, durations.len() - 1 - cut])
}

/// The sum when calls beyond the trimming points count as if they stood there.
fn pulled_in(durations: &[i64], shortest: i64, longest: i64) -> i128 {
    durations.iter().map(|&duration| i128::from(duration.clamp(shortest, longest))).sum()
}

/// The mean of those that are not cut off, from the sum with all others pulled in to the trimming points.
fn mean_of(calls: usize, sum: i128, shortest: i64, longest: i64) -> f64 {
    let cut = calls / CUT;
    let body = sum - cut as i128 * (i128::from(shortest) + i128::from(longest));
    body as f64 / (calls - 2 * cut) as f64
}

/// Trimmed mean and cells, weighted by the part that is not cut off: their mean is the trimmed mean, and they vary around
/// it as the calls move it, the influence of a call averaged over a piece.
pub(super) fn level_between(durations: &[i64], shortest: i64, longest: i64) -> (f64, Vec<f64>) {
    let calls = durations.len();
    let count = calls.min(CELLS);
    let weight = calls as f64 / (calls - 2 * (calls / CUT)) as f64;
    let mut cells = Vec::with_capacity(count);
    let (mut begin, mut all) = (0, 0);
    for cell in 1..=count {
        let end = cell * calls / count;
        let sum = pulled_in(&durations[begin..end], shortest, longest);
        cells.push(sum as f64 / (end - begin) as f64);
        all += sum;
        begin = end;
    }
    let mean = mean_of(calls, all, shortest, longest);
    let middle = cells.iter().sum::<f64>() / count as f64;
    for cell in &mut cells {
        *cell = mean + weight * (*cell - middle);
    }
    (mean, cells)
}

/// How long blocks of `cells` must be so that their means are nearly independent, and by how much the variance of
/// such means is still too small. From the resemblance of neighbours: for a first-order process the length that is best
/// for the variance of a mean grows with the cube root of the count (Carlstein 1986, Kuensch 1989).
pub(crate) fn blocks(cells: &[f64]) -> (usize, f64) {
    let count = cells.len();
    if count < 4 {
        return (1, 1.0);
    }
    let mean = cells.iter().sum::<f64>() / count as f64;
    let (mut squares, mut products) = (0.0, 0.0);
    for (position, cell) in cells.iter().enumerate() {
        squares += (cell - mean).powi(2);
        if let Some(next) = cells.get(position + 1) {
            products += (cell - mean) * (next - mean);
        }
    }
    if squares <= 0.0 {
        return (1, 1.0);
    }
    // A short series looks less alike than it is: add what is expected to be missing (Marriott and Pope 1954).
    let seen = products / squares;
    let alike = (seen + (1.0 + 3.0 * seen.max(0.0)) / count as f64).clamp(0.0, 0.9);
    let growth = (2.0 * alike / (1.0 - alike * alike)).powi(2) * 1.5 * count as f64;
    let length = (growth.cbrt().ceil() as usize).clamp(1, (count / 4).max(1));
    let size = length as f64;
    let missing = 2.0 * alike * (1.0 - alike.powi(length as i32)) / (size * (1.0 - alike * alike));
    (length, 1.0 / (1.0 - missing).max(0.1))
}

/// The variance of the mean of `cells`, by overlapping blocks. 0 for fewer than two cells.
/// `calls` is how many calls they stand for.
pub(super) fn variance_of_mean(cells: &[f64], calls: u64) -> f64 {
    let count = cells.len();
    if count < 2 || calls < 2 {
        return 0.0;
    }
    let (length, factor) = blocks(cells);
    let mean = cells.iter().sum::<f64>() / count as f64;
    let mut sum: f64 = cells[..length].iter().sum();
    let mut squares = 0.0;
    for begin in 0..=count - length {
        squares += (sum / length as f64 - mean).powi(2);
        if let Some(next) = cells.get(begin + length) {
            sum += next - cells[begin];
        }
    }
    let windows = (count - length + 1) as f64;
    factor * squares / windows * length as f64 / (count - length) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::random::Random;
    use crate::slower::run::Run;

    proptest! {
        #[test]
        fn order_statistics_are_those_of_sorting(mut durations in prop::collection::vec(0_i64..400, 1..300)) {
            let found = Run::of(&durations);
            let cells = &found.cells;
            let mean_of_cells = cells.iter().sum::<f64>() / cells.len() as f64;
            prop_assert!((mean_of_cells - found.trimmed_mean_ns).abs() < 1e-6);
            durations.sort_unstable();
            let count = durations.len();
            let body = &durations[count / 10..count - count / 10];
            let mean = body.iter().sum::<i64>() as f64 / body.len() as f64;
            prop_assert!((found.trimmed_mean_ns - mean).abs() < 1e-9);
            let rank = |percent: usize| durations[(count * percent).div_ceil(100) - 1];
            prop_assert_eq!((found.min_ns, found.median_ns, found.p95_ns), (durations[0], rank(50), rank(95)));
        }
    }

    /// `calls` durations around 100 us, deviation 3 %, each resembling the one before by `alike`.
    fn series(random: &mut Random, calls: usize, alike: f64) -> Vec<i64> {
        let mut state = random.normal();
        let step = (1.0 - alike * alike).sqrt();
        (0..calls)
            .map(|_| {
                state = alike * state + step * random.normal();
                (100_000.0 * (1.0 + 0.03 * state)) as i64
            })
            .collect()
    }

    #[test]
    fn the_variance_of_a_trimmed_mean_is_what_repetition_shows() {
        for (calls, alike) in [(100, 0.0), (100, 0.6), (2000, 0.6)] {
            let mut random = Random::new(5);
            let (mut means, mut told) = (Vec::new(), 0.0);
            for _ in 0..400 {
                let found = Run::of(&series(&mut random, calls, alike));
                told += variance_of_mean(&found.cells, found.calls) / 400.0;
                means.push(found.trimmed_mean_ns);
            }
            let mean = means.iter().sum::<f64>() / 400.0;
            let seen = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 399.0;
            let part = told / seen;
            assert!((0.75..1.3).contains(&part), "{calls} calls, {alike} alike: {part:.2} of the variance");
        }
    }
}
