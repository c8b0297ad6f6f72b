//! A candidate against many past runs, and the drift over them.
//!
//! A threshold between two builds never sees ten builds that are 1 % slower each. The slope over all of them does: the
//! median of the slopes between any two runs (Theil 1950, Sen 1968), which a few bad runs do not move, with the interval
//! that Kendall's rank correlation gives it.

use super::distributions::{normal_quantile, two_sided};
use super::{Drift, Interval, Judgement, KernelPair, Noise, Rules, Run, judge};

/// Fewer runs show no drift: with five, even strictly rising ones happen once in 120.
const ENOUGH_RUNS: usize = 6;

/// Judges candidates whose baseline is all past runs, oldest first, and adds [`Judgement::drift`].
pub fn judge_history(pairs: &[KernelPair<'_>], rules: &Rules, noise: Option<&Noise>) -> Vec<Judgement> {
    let sane = rules.sane();
    let gated = pairs.iter().filter(|pair| pair.gated && pair.share >= sane.min_share).count().max(1);
    let mut judgements = judge(pairs, rules, noise);
    for (judgement, pair) in judgements.iter_mut().zip(pairs) {
        let runs: Vec<&Run> = pair.baseline.iter().chain(pair.candidate).collect();
        judgement.drift = drift(&runs, sane.confidence).map(|drift| {
            let slower = pair.share >= sane.min_share
                && drift.interval.low > 1.0 + judgement.threshold.value
                && drift.p < sane.family_error / gated as f64;
            Drift { slower, ..drift }
        });
    }
    judgements
}

/// The drift over runs, oldest first; runs without calls are left out. `slower` is left open.
fn drift(runs: &[&Run], confidence: f64) -> Option<Drift> {
    let logs: Vec<(f64, f64)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.calls > 0)
        .map(|(position, run)| (position as f64, run.log_mean()))
        .collect();
    let count = logs.len();
    if count < ENOUGH_RUNS {
        return None;
    }
    let mut slopes = Vec::with_capacity(count * (count - 1) / 2);
    let mut score = 0.0_f64;
    for (newer, &(when, log)) in logs.iter().enumerate() {
        for &(before, older) in &logs[..newer] {
            slopes.push((log - older) / (when - before));
            score += if log > older {
                1.0
            } else if log < older {
                -1.0
            } else {
                0.0
            };
        }
    }
    slopes.sort_by(f64::total_cmp);
    let n = count as f64;
    let deviation = ((n * (n - 1.0) * (2.0 * n + 5.0)) / 18.0).sqrt();
    let p = if score == 0.0 { 1.0 } else { two_sided((score.abs() - 1.0) / deviation) };
    let reach = normal_quantile(0.5 + 0.5 * confidence) * deviation;
    let last = slopes.len() - 1;
    let at = |rank: f64| slopes[(rank.round().max(0.0) as usize).min(last)];
    let middle = 0.5 * last as f64;
    let length = logs[count - 1].0 - logs[0].0;
    let whole = |slope: f64| (slope * length).clamp(-600.0, 600.0).exp();
    Some(Drift {
        runs: count,
        ratio: whole(0.5 * (at(middle.floor()) + at(middle.ceil()))),
        interval: Interval { low: whole(at(middle - 0.5 * reach)), high: whole(at(middle + 0.5 * reach)) },
        p,
        slower: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slower::compare::random::Random;

    fn runs(count: usize, creep: f64, seed: u64) -> Vec<Run> {
        let mut random = Random::new(seed);
        (0..count)
            .map(|run| {
                let log = 0.01 * random.normal() + creep * run as f64;
                Run { calls: 50, trimmed_mean_ns: 50_000.0 * log.exp(), ..Run::default() }
            })
            .collect()
    }

    fn look(kernels: &[Vec<Run>]) -> Vec<Judgement> {
        let pairs: Vec<KernelPair<'_>> = kernels
            .iter()
            .map(|runs| {
                let (baseline, candidate) = runs.split_at(runs.len() - 1);
                KernelPair { name: "k", baseline, candidate, share: 0.1, gated: true, threshold: Some(0.02) }
            })
            .collect();
        judge_history(&pairs, &Rules::default(), None)
    }

    #[test]
    fn a_slope_of_one_percent_a_run_is_six_percent_over_seven_runs() {
        let runs: Vec<Run> = (0..7)
            .map(|run| Run {
                calls: 9,
                trimmed_mean_ns: 1000.0 * (0.01 * f64::from(run)).exp(),
                ..Run::default()
            })
            .collect();
        let found = drift(&runs.iter().collect::<Vec<_>>(), 0.95).unwrap();
        assert!(
            (found.ratio - 0.06_f64.exp()).abs() < 1e-9 && (found.interval.low - found.ratio).abs() < 1e-9
        );
    }

    #[test]
    fn creep_that_no_pair_of_builds_shows_is_found_and_noise_is_not() {
        let kernels: Vec<Vec<Run>> =
            (0..40).map(|kernel| runs(30, if kernel == 7 { 0.002 } else { 0.0 }, kernel)).collect();
        let past = look(&kernels);
        let slower: Vec<usize> =
            (0..40).filter(|&kernel| past[kernel].drift.is_some_and(|drift| drift.slower)).collect();
        assert_eq!(slower, [7]);
    }

    #[test]
    fn a_candidate_that_jumps_is_found_against_its_past() {
        use crate::slower::compare::Status;
        let mut kernels: Vec<Vec<Run>> = (0..40).map(|kernel| runs(30, 0.0, 100 + kernel)).collect();
        kernels[3][29].trimmed_mean_ns *= 1.1;
        let past = look(&kernels);
        let regressed = |past: &Judgement| past.status == Status::Slower;
        assert!(regressed(&past[3]) && past.iter().filter(|past| regressed(past)).count() == 1);
    }

    #[test]
    fn few_runs_and_equal_runs_have_answers() {
        assert_eq!(drift(&[&Run::of(&[5]); 5], 0.95), None);
        let equal = drift(&[&Run::of(&[5]); 8], 0.95).unwrap();
        assert_eq!((equal.ratio, equal.p, equal.slower), (1.0, 1.0, false));
    }
}
