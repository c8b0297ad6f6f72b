//! How much ln(trimmed mean) differs from run to run when nothing changed.
//!
//! Three runs a side say little about the noise of one kernel (four degrees of freedom, so an interval 40 % wider than
//! with known noise), but eighty kernels together say much. Two things are borrowed:
//!
//! - What all kernels of a run have in common (clock states, heat) is estimated from all of them and kept apart, because
//!   it does not become surer with more kernels: it has as few degrees of freedom as there are runs.
//! - What is left for each kernel is drawn towards what kernels with as many calls show, as far as kernels prove to be
//!   alike (the moderated variance of Smyth 2004). A kernel far noisier than the rest keeps its own.

use serde::{Deserialize, Serialize};

use super::Run;
use super::distributions::{chi_square, digamma, trigamma, trigamma_inverse};

/// The least number of kernels for a prior.
const ENOUGH_KERNELS: usize = 8;

/// The most degrees of freedom of the prior.
const MOST_BORROWED: f64 = 40.0;

/// A kernel is on its own when less than one in a thousand like the others would be so noisy: as a normal value.
const OUTLIER: f64 = 3.09;

/// A variance, and how many independent differences it was estimated from.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarianceEstimate {
    /// Variance of ln(trimmed mean) of one run. As observed it may be below 0 where it is a difference of two estimates.
    pub variance: f64,
    /// Degrees of freedom; 0 where nothing is known.
    pub freedom: f64,
}

impl VarianceEstimate {
    /// Both together, each as much as it knows.
    pub fn pooled(self, other: Self) -> Self {
        let freedom = self.freedom + other.freedom;
        if freedom <= 0.0 {
            return Self::default();
        }
        let sum = self.variance * self.freedom + other.variance * other.freedom;
        Self { variance: sum / freedom, freedom }
    }
}

/// The variances as observed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The part that all kernels of a run share.
    pub shared: VarianceEstimate,
    /// The own part of each kernel.
    pub own: Vec<VarianceEstimate>,
    /// Indexed by kernel: the variance that calls within a run explain.
    pub within: Vec<f64>,
}

/// Moderated variances of runs and calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spread {
    /// The part that all kernels of a run share.
    pub shared: VarianceEstimate,
    /// The own part of each kernel.
    pub own: Vec<VarianceEstimate>,
}

impl Observed {
    /// `kernels` holds for each kernel its groups of runs; runs of a group are repetitions, and one position is the same
    /// run for every kernel. Runs without calls are left out.
    pub fn new(kernels: &[Vec<&[Run]>]) -> Self {
        let residuals: Vec<Vec<Option<f64>>> = kernels.iter().map(|groups| residuals(groups)).collect();
        let (shared, common) = shared(&residuals, kernels);
        let own = residuals
            .iter()
            .zip(kernels)
            .map(|(row, groups)| {
                let freedom = freedom(groups);
                let present = row.iter().zip(&common).filter_map(|(value, common)| Some((*value)? - common));
                let squares: f64 = present.map(|value| value * value).sum();
                let variance = if freedom > 0.0 { squares / freedom } else { 0.0 };
                VarianceEstimate { variance, freedom }
            })
            .collect();
        let within = kernels
            .iter()
            .map(|groups| {
                let runs: Vec<&Run> = groups.iter().copied().flatten().filter(|run| run.calls > 0).collect();
                runs.iter().map(|run| run.within).sum::<f64>() / runs.len().max(1) as f64
            })
            .collect();
        Self { shared, own, within }
    }

    /// Shrinks the variance of each kernel towards that of the others.
    pub fn shrink(&self) -> Spread {
        let shared = VarianceEstimate { variance: self.shared.variance.max(0.0), ..self.shared };
        let Some(prior) = Prior::of(self) else {
            return Spread { shared, own: self.own.clone() };
        };
        let own = self.own.iter().zip(&self.within).map(|(&own, &within)| prior.draw(own, within)).collect();
        Spread { shared, own }
    }
}

/// ln(trimmed mean) of each run minus the mean of its group.
fn residuals(groups: &[&[Run]]) -> Vec<Option<f64>> {
    let mut found = Vec::new();
    for group in groups {
        let logs: Vec<Option<f64>> =
            group.iter().map(|run| (run.calls > 0).then(|| run.log_mean())).collect();
        let count = logs.iter().flatten().count();
        let mean = logs.iter().flatten().sum::<f64>() / count.max(1) as f64;
        found.extend(logs.into_iter().map(|log| log.map(|log| log - mean)));
    }
    found
}

fn freedom(groups: &[&[Run]]) -> f64 {
    groups.iter().map(|group| group.iter().filter(|run| run.calls > 0).count().saturating_sub(1) as f64).sum()
}

/// The noise that all kernels share, and how far it moved each run. From products of different kernels only, which are
/// zero on average where nothing is shared.
fn shared(residuals: &[Vec<Option<f64>>], kernels: &[Vec<&[Run]>]) -> (VarianceEstimate, Vec<f64>) {
    // Kernels that were looked for in other runs than most cannot be laid beside them.
    let lengths = |groups: &[&[Run]]| groups.iter().map(|group| group.len()).collect::<Vec<usize>>();
    let layout = kernels.iter().map(|groups| lengths(groups)).max().unwrap_or_default();
    let width = layout.iter().sum();
    let complete: Vec<&Vec<Option<f64>>> = residuals
        .iter()
        .zip(kernels)
        .filter(|(row, groups)| row.iter().all(Option::is_some) && lengths(groups) == layout)
        .map(|(row, _)| row)
        .collect();
    let freedom = layout.iter().map(|&runs| runs.saturating_sub(1) as f64).sum();
    if complete.len() < ENOUGH_KERNELS || freedom <= 0.0 {
        return (VarianceEstimate::default(), vec![0.0; width]);
    }
    let squares = |row: &[Option<f64>]| row.iter().flatten().map(|value| value * value).sum::<f64>();
    let mut sizes: Vec<f64> = complete.iter().map(|row| squares(row)).collect();
    let position = sizes.len() / 2;
    let typical = sizes.clone().select_nth_unstable_by(position, f64::total_cmp).1.max(f64::MIN_POSITIVE);
    // A noisy kernel says less about the others; one that is quiet by chance must not say all.
    for size in &mut sizes {
        *size = 1.0 / (*size + typical);
    }
    let total: f64 = sizes.iter().sum();
    let weights: Vec<f64> = sizes.iter().map(|weight| weight / total).collect();
    let common: Vec<f64> = (0..width)
        .map(|run| complete.iter().zip(&weights).filter_map(|(row, weight)| Some(weight * row[run]?)).sum())
        .collect();
    let alone: f64 = complete.iter().zip(&weights).map(|(row, weight)| weight * weight * squares(row)).sum();
    let together: f64 = common.iter().map(|value| value * value).sum();
    let pairs = 1.0 - weights.iter().map(|weight| weight * weight).sum::<f64>();
    (VarianceEstimate { variance: (together - alone) / pairs / freedom, freedom }, common)
}

struct Prior {
    /// The part that does not depend on the number of calls, relative to the part that does.
    between: f64,
    /// The factor of the variances.
    scale: f64,
    /// How many degrees of freedom it is worth.
    freedom: f64,
}

impl Prior {
    /// `None` for too few kernels, or where nothing varies.
    fn of(observed: &Observed) -> Option<Self> {
        let known: Vec<(VarianceEstimate, f64)> = observed
            .own
            .iter()
            .copied()
            .zip(observed.within.iter().copied())
            .filter(|(own, _)| own.freedom > 0.0 && own.variance > 0.0)
            .collect();
        if known.len() < ENOUGH_KERNELS {
            return None;
        }
        let between = shape(&known);
        // ln of a variance estimate has a known mean and variance (Smyth 2004); what varies more is the kernels'.
        let centred: Vec<f64> = known
            .iter()
            .map(|(own, within)| {
                let half = 0.5 * own.freedom;
                (own.variance / (between + within).max(f64::MIN_POSITIVE)).ln() - digamma(half) + half.ln()
            })
            .collect();
        let count = centred.len() as f64;
        let mean = centred.iter().sum::<f64>() / count;
        let spread = centred.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let chance = known.iter().map(|(own, _)| trigamma(0.5 * own.freedom)).sum::<f64>() / count;
        let excess = spread - chance;
        let freedom =
            if excess > 0.0 { (2.0 * trigamma_inverse(excess)).min(MOST_BORROWED) } else { MOST_BORROWED };
        let scale = (mean + digamma(0.5 * freedom) - (0.5 * freedom).ln()).exp();
        (scale.is_finite() && scale > 0.0).then_some(Self { between, scale, freedom })
    }

    fn draw(&self, own: VarianceEstimate, within: f64) -> VarianceEstimate {
        if own.freedom <= 0.0 {
            return own;
        }
        let expected =
            VarianceEstimate { variance: self.scale * (self.between + within), freedom: self.freedom };
        let bound = expected.variance * chi_square(OUTLIER, own.freedom) / own.freedom;
        if own.variance > bound { own } else { own.pooled(expected) }
    }
}

/// The variance between runs beyond what calls explain, for which the kernels' variances have the most even ratio to
/// what is expected of them.
fn shape(known: &[(VarianceEstimate, f64)]) -> f64 {
    let mut sizes: Vec<f64> = known.iter().map(|(own, _)| own.variance).collect();
    sizes.sort_by(f64::total_cmp);
    let middle = sizes[sizes.len() / 2];
    let uneven = |between: f64| {
        let ratios =
            known.iter().map(|(own, within)| (own.variance / (between + within).max(f64::MIN_POSITIVE)).ln());
        let (sum, squares) =
            ratios.fold((0.0, 0.0), |(sum, squares), ratio| (sum + ratio, squares + ratio * ratio));
        squares - sum * sum / known.len() as f64
    };
    // From a hundredth of the typical variance, where calls explain all, to a hundred times, where they explain nothing.
    (-16..=16)
        .map(|step| middle * (f64::from(step) * 0.288).exp())
        .min_by(|&a, &b| uneven(a).total_cmp(&uneven(b)))
        .unwrap_or(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slower::compare::random::Random;

    /// Runs of `kernels` whose trimmed means differ by 1 % from run to run, alike or each by itself.
    fn runs(kernels: usize, count: usize, together: bool, seed: u64) -> Vec<Vec<Run>> {
        let mut random = Random::new(seed);
        let common: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        (0..kernels)
            .map(|_| {
                (0..count)
                    .map(|run| {
                        let shift = if together { common[run] } else { random.normal() };
                        let mean = 50_000.0 * (0.01 * shift).exp();
                        Run { calls: 100, trimmed_mean_ns: mean, within: 1e-8, ..Run::default() }
                    })
                    .collect()
            })
            .collect()
    }

    fn shrunk(runs: &[Vec<Run>]) -> Spread {
        let groups: Vec<Vec<&[Run]>> = runs.iter().map(|runs| vec![&runs[..3], &runs[3..]]).collect();
        Observed::new(&groups).shrink()
    }

    #[test]
    fn noise_that_each_kernel_has_alone_is_not_called_shared() {
        let spread = shrunk(&runs(80, 6, false, 3));
        assert!(spread.shared.variance < 0.05e-4, "{:?}", spread.shared);
        // One in a thousand is an outlier by chance and stands alone.
        let alike = |own: &&VarianceEstimate| (0.6e-4..1.8e-4).contains(&own.variance) && own.freedom > 20.0;
        assert!(spread.own.iter().filter(alike).count() >= 78, "{:?}", spread.own);
    }

    #[test]
    fn noise_that_all_kernels_share_keeps_its_few_degrees_of_freedom() {
        let spread = shrunk(&runs(80, 6, true, 4));
        assert_eq!(spread.shared.freedom, 4.0);
        assert!((0.2e-4..3e-4).contains(&spread.shared.variance), "{:?}", spread.shared);
        assert!(spread.own.iter().all(|own| own.variance < 1e-6));
    }

    #[test]
    fn a_kernel_far_noisier_than_the_rest_keeps_its_own_variance() {
        let mut runs = runs(80, 6, false, 5);
        for (position, run) in runs[7].iter_mut().enumerate() {
            run.trimmed_mean_ns = 50_000.0 * if position % 2 == 0 { 1.2 } else { 0.8 };
        }
        let spread = shrunk(&runs);
        assert!(spread.own[7].variance > 0.02 && spread.own[7].freedom == 4.0, "{:?}", spread.own[7]);
    }

    #[test]
    fn a_kernel_alone_and_runs_that_never_differ_have_answers() {
        let one = runs(1, 6, false, 6);
        assert_eq!(shrunk(&one).own[0].freedom, 4.0);
        let constant = vec![vec![Run { calls: 3, trimmed_mean_ns: 40.0, ..Run::default() }; 6]; 20];
        assert!(shrunk(&constant).own.iter().all(|own| own.variance == 0.0));
    }
}
