//! From runs of both sides to one judgement for each kernel.

use super::bootstrap::within_run;
use super::family;
use super::judgement::{
    Interval, Judgement, MAX_RUNS, Method, Reason, Side, Status, Threshold, ThresholdSource,
};
use super::pair::KernelPair;
use super::random::Random;
use super::ranks::{false_discovery, mann_whitney};
use super::spread::{Observed, Spread, VarianceEstimate};
use super::trimmed::blocks;
use super::uncertainty::Uncertainty;
use super::{Noise, Rules, Run};
use crate::base::stats::nearest_rank;

/// Judges all kernels of a comparison together, in their order.
pub fn judge(pairs: &[KernelPair<'_>], rules: &Rules, noise: Option<&Noise>) -> Vec<Judgement> {
    let rules = rules.sane();
    let groups: Vec<Vec<&[Run]>> = pairs.iter().map(|pair| vec![pair.baseline, pair.candidate]).collect();
    let mut observed = Observed::new(&groups);
    if let Some(noise) = noise {
        noise.join(pairs, &mut observed);
    }
    let spread = observed.shrink();
    let floors = noise.map(Noise::floors).unwrap_or_default();
    let changes: Vec<Change> =
        pairs.iter().enumerate().map(|(row, pair)| Change::new(pair, row, &spread, &rules)).collect();
    let gated: Vec<f64> = pairs
        .iter()
        .zip(&changes)
        .filter(|(pair, change)| pair.gated && change.too_small(pair, &rules).is_none())
        .map(|(_, change)| change.uncertainty.shared())
        .collect();
    let level = family::level(&gated, rules.family_error);
    let p: Vec<f64> = pairs.iter().map(rank_test).collect();
    let q = false_discovery(&p);
    let mut judgements = Vec::with_capacity(pairs.len());
    for (row, (pair, change)) in pairs.iter().zip(&changes).enumerate() {
        let floor = |baseline, candidate| floors.get(pair.name, baseline, candidate);
        judgements.push(Judgement { p: p[row], q: q[row], ..change.judge(pair, &rules, level, floor) });
    }
    judgements
}

/// How one kernel changed and how sure that is. Logarithms of ratios.
struct Change {
    baseline: Side,
    candidate: Side,
    estimate: f64,
    uncertainty: Uncertainty,
    /// How runs differ, shared and own, where several runs show it.
    between_runs: Option<[VarianceEstimate; 2]>,
    /// The interval where it is not symmetric around the estimate.
    resampled: Option<(f64, f64)>,
    method: Method,
}

impl Change {
    fn new(pair: &KernelPair<'_>, row: usize, spread: &Spread, rules: &Rules) -> Self {
        let (baseline, candidate) = (side(pair.baseline), side(pair.candidate));
        let mut change = Self {
            baseline,
            candidate,
            estimate: 0.0,
            uncertainty: Uncertainty::default(),
            between_runs: None,
            resampled: None,
            method: Method::None,
        };
        let (Some(before), Some(after)) = (mean_log(pair.baseline), mean_log(pair.candidate)) else {
            return change;
        };
        change.estimate = after - before;
        let own = spread.own.get(row).copied().unwrap_or_default();
        if own.freedom > 0.0 {
            change.uncertainty = Uncertainty::of_runs(spread.shared, own, baseline.runs, candidate.runs);
            change.between_runs = Some([spread.shared, own]);
            change.method = Method::BetweenRuns;
        } else if let [before, after] = [pair.baseline, pair.candidate].map(only)
            && let (Some(before), Some(after)) = (before, after)
            && let Some(within) = within_run(before, after, rules.confidence, seed(rules.seed, pair.name))
        {
            change.uncertainty = Uncertainty::of_one(within.deviation, within.freedom);
            change.resampled = Some((within.low, within.high));
            change.method = Method::WithinRunOnly;
        }
        change
    }

    /// Why the kernel could not count, however much it changed.
    fn too_small(&self, pair: &KernelPair<'_>, rules: &Rules) -> Option<Reason> {
        if self.baseline.calls.min(self.candidate.calls) < rules.min_calls {
            Some(Reason::FewCalls)
        } else if pair.share.is_nan() || pair.share < rules.min_share {
            Some(Reason::SmallShare)
        } else {
            None
        }
    }

    /// `noise_floor` has the floor for a number of runs of the baseline and of the candidate.
    fn judge(
        &self,
        pair: &KernelPair<'_>,
        rules: &Rules,
        level: f64,
        noise_floor: impl Fn(usize, usize) -> Option<f64>,
    ) -> Judgement {
        let floor = noise_floor(self.baseline.runs, self.candidate.runs);
        let asked = pair
            .threshold
            .filter(|value| value.is_finite())
            .map_or(rules.threshold, |value| value.clamp(0.0, 1e6));
        let threshold = self.threshold(asked, rules, floor);
        let change_ns = self.change_ns();
        let mut judgement = Judgement {
            status: Status::Undecided,
            runs_to_decide: None,
            reason: Reason::NoCalls,
            ratio: ratio(self.estimate),
            interval: None,
            joint: None,
            baseline: self.baseline,
            candidate: self.candidate,
            change_ns,
            p: 1.0,
            q: 1.0,
            detectable: None,
            method: self.method,
            threshold,
            drift: None,
        };
        if self.method == Method::None {
            if self.baseline.calls > 0 && self.candidate.calls > 0 {
                judgement.reason = Reason::OneReport;
            }
            return judgement;
        }
        let tail = 0.5 * (1.0 - rules.confidence);
        let reach = self.uncertainty.reach(1.0 - tail);
        let (low, high) = self.resampled.unwrap_or((self.estimate - reach, self.estimate + reach));
        let far = self.uncertainty.reach(level);
        let (joint_low, joint_high) = (self.estimate - far, self.estimate + far);
        judgement.interval = Some(Interval { low: ratio(low), high: ratio(high) });
        judgement.joint = Some(Interval { low: ratio(joint_low), high: ratio(joint_high) });
        // The floor holds the noise already: the estimate must reach it, the bound need not.
        let tolerated = match threshold.source {
            ThresholdSource::SingleRun => threshold.value.ln_1p(),
            ThresholdSource::Requested | ThresholdSource::NoiseFloor => asked.ln_1p(),
        };
        let effective = threshold.value.ln_1p();
        let too_small = self.too_small(pair, rules);
        let beyond = |estimate: f64, bound: f64, joint: f64| {
            if bound <= tolerated || joint <= 0.0 {
                None
            } else if estimate <= effective {
                Some(Reason::WithinNoise)
            } else if change_ns.abs() < rules.min_change_ns {
                Some(Reason::SmallChange)
            } else {
                Some(too_small.unwrap_or(Reason::BeyondThreshold))
            }
        };
        // Only several runs show that a change within the threshold is one.
        let is_counted = too_small.is_none()
            && change_ns.abs() >= rules.min_change_ns
            && self.method == Method::BetweenRuns
            && floor.is_none_or(|floor| self.estimate.abs() > floor.ln_1p());
        let is_faster = is_counted && high.max(joint_high) < 0.0;
        let per_call = |bound: f64| (bound.exp_m1() * self.baseline.trimmed_mean_ns).abs();
        (judgement.status, judgement.reason) = if let Some(reason) = beyond(self.estimate, low, joint_low) {
            (beyond_threshold(reason, Status::Slower, Status::SlowerAllowed), reason)
        } else if let Some(reason) = beyond(-self.estimate, -high, -joint_high) {
            (beyond_threshold(reason, Status::Faster, Status::Faster), reason)
        } else if low >= -effective && high <= effective {
            let status = match is_counted {
                _ if is_faster => Status::Faster,
                true if low.min(joint_low) > 0.0 => Status::SlowerAllowed,
                _ => Status::Unchanged,
            };
            (status, Reason::WithinThreshold)
        } else if is_faster {
            (Status::Faster, Reason::Straddles)
        } else if per_call(low).max(per_call(high)) < rules.min_change_ns {
            (Status::Unchanged, Reason::TooLittlePerCall)
        } else {
            (Status::Undecided, Reason::Straddles)
        };
        if judgement.status == Status::Undecided && too_small.is_none() {
            judgement.runs_to_decide = self.runs_to_decide(asked.ln_1p(), rules, level, noise_floor);
        }
        if too_small.is_none() {
            let luck = self.uncertainty.reach(rules.power);
            let least = (tolerated + reach).max(far).max(effective) + luck;
            let least_per_call = rules.min_change_ns / self.baseline.trimmed_mean_ns.max(1.0);
            judgement.detectable = Some((ratio(least) - 1.0).max(least_per_call));
        }
        judgement
    }

    fn runs_to_decide(
        &self,
        tolerated: f64,
        rules: &Rules,
        level: f64,
        noise_floor: impl Fn(usize, usize) -> Option<f64>,
    ) -> Option<usize> {
        let [shared, own] = self.between_runs?;
        let now = self.baseline.runs + self.candidate.runs;
        let decides = |&runs: &usize| {
            let freedom = (2 * runs).saturating_sub(now) as f64;
            let [shared, own] =
                [shared, own].map(|part| VarianceEstimate { freedom: part.freedom + freedom, ..part });
            let uncertainty = Uncertainty::of_runs(shared, own, runs, runs);
            let reach = uncertainty.reach(0.5 + 0.5 * rules.confidence);
            let far = uncertainty.reach(level);
            let effective = noise_floor(runs, runs).map_or(tolerated, |floor| floor.ln_1p().max(tolerated));
            let size = self.estimate.abs();
            (size - reach > tolerated && size > far && size > effective) || size + reach <= effective
        };
        (self.baseline.runs.max(self.candidate.runs) + 1..=MAX_RUNS).find(decides)
    }

    /// At equal mix where that is known, so that it agrees with the ratio.
    fn change_ns(&self) -> f64 {
        if self.baseline.trimmed_mean_ns < 1.0 {
            return self.candidate.trimmed_mean_ns - self.baseline.trimmed_mean_ns;
        }
        self.baseline.trimmed_mean_ns * (ratio(self.estimate) - 1.0)
    }

    fn threshold(&self, asked: f64, rules: &Rules, floor: Option<f64>) -> Threshold {
        let single = (self.method == Method::WithinRunOnly && floor.is_none())
            .then_some((rules.single_run_threshold, ThresholdSource::SingleRun));
        let raised = floor.map(|floor| (floor, ThresholdSource::NoiseFloor)).or(single);
        match raised {
            Some((value, source)) if value > asked => Threshold { value, source },
            _ => Threshold { value: asked, source: ThresholdSource::Requested },
        }
    }
}

/// The status of a change beyond the threshold, `counted` or too small for it.
fn beyond_threshold(reason: Reason, counted: Status, small: Status) -> Status {
    match reason {
        Reason::BeyondThreshold => counted,
        Reason::SmallChange | Reason::SmallShare => small,
        _ => Status::Undecided,
    }
}

/// A ratio from its logarithm, kept where it is a number.
fn ratio(log: f64) -> f64 {
    log.clamp(-600.0, 600.0).exp()
}

/// A kernel's own sequence, the same in whatever order kernels come.
fn seed(seed: u64, name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Random::part(seed, hash).next()
}

fn present(runs: &[Run]) -> impl Iterator<Item = &Run> {
    runs.iter().filter(|run| run.calls > 0)
}

/// The one run with calls, if it is only one.
fn only(runs: &[Run]) -> Option<&Run> {
    let mut present = present(runs);
    present.next().filter(|_| present.next().is_none())
}

fn mean_log(runs: &[Run]) -> Option<f64> {
    let count = present(runs).count();
    (count > 0).then(|| present(runs).map(Run::log_mean).sum::<f64>() / count as f64)
}

fn side(runs: &[Run]) -> Side {
    let count = present(runs).count();
    if count == 0 {
        return Side::default();
    }
    let log = present(runs).map(|run| run.trimmed_mean_ns.max(1.0).ln()).sum::<f64>() / count as f64;
    let middle = |value: fn(&Run) -> i64| {
        let mut values: Vec<i64> = present(runs).map(value).collect();
        values.sort_unstable();
        values[nearest_rank(values.len(), 50)]
    };
    Side {
        runs: count,
        calls: present(runs).fold(0, |sum, run| run.calls.saturating_add(sum)),
        total_ns: present(runs).fold(0, |sum, run| run.total_ns.saturating_add(sum)),
        trimmed_mean_ns: if present(runs).all(|run| run.trimmed_mean_ns < 1.0) { 0.0 } else { log.exp() },
        median_ns: middle(|run| run.median_ns),
        p95_ns: middle(|run| run.p95_ns),
        min_ns: present(runs).map(|run| run.min_ns).min().unwrap_or_default(),
    }
}

/// Between runs; for one run per side between blocks of it, because calls are not independent.
fn rank_test(pair: &KernelPair<'_>) -> f64 {
    if let [Some(before), Some(after)] = [pair.baseline, pair.candidate].map(only) {
        let stretches = |run: &Run| -> Vec<f64> {
            let (length, _) = blocks(&run.cells);
            run.cells
                .chunks(length.max(run.cells.len() / 20).max(1))
                .map(|block| block.iter().sum::<f64>() / block.len() as f64)
                .collect()
        };
        return mann_whitney(&stretches(before), &stretches(after));
    }
    let logs = |runs| present(runs).map(Run::log_mean).collect::<Vec<f64>>();
    mann_whitney(&logs(pair.baseline), &logs(pair.candidate))
}
