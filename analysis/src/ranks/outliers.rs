//! Ranks far from the median of all ranks.
//!
//! A value stands out where it lies too many spreads from the median of all ranks: 4.1, and of n ranks 20 / (n - 4) more,
//! because the spread of few is uncertain. So of n ranks that differ by chance one stands out in about one comparison of
//! a hundred, whatever n is; with the usual bound of 3.5 (Iglewicz and Hoaglin 1993) it is one of ten, and of five ranks one
//! of five. The spread is that of normal values with this median absolute deviation, and at least 1 % of the median:
//! ranks that are almost equal must not stand out by nanoseconds.

use serde::{Deserialize, Serialize};

use super::kernels::KernelTotals;
use super::steps::{RankSteps, Steps};
use crate::base::stats::{median, robust_deviation};

/// How many spreads from the median, where there are many ranks.
const BOUND: f64 = 4.1;

/// How much more of fewer ranks: this over their number less 4.
const FEW: f64 = 20.0;

/// The least spread, as a part of the median.
const LEAST_SPREAD: f64 = 0.01;

/// Fewer ranks are too few for one to stand out.
const LEAST_RANKS: usize = 5;

/// Kernels of a smaller part of the time of all kernels are not looked at.
const LEAST_SHARE: f64 = 0.005;

/// A quantity that ranks are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Union of its own work in ns ([`super::Rank::compute_ns`]).
    Compute,
    /// Time of its steps in ns.
    Steps,
    /// Wait in a collective in ns, computed without clocks.
    Wait,
    /// The mean duration of a kernel's calls in ns.
    Kernel,
}

/// A rank that stands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// The rank that stands out.
    pub rank: String,
    /// The quantity in which it does.
    pub quantity: Quantity,
    /// The kernel, where it is that.
    pub kernel: Option<String>,
    /// Value of the rank in ns.
    pub value_ns: f64,
    /// The median of all ranks in ns.
    pub median_ns: f64,
    /// How many spreads it lies above the median, negative below.
    pub spreads: f64,
}

/// The values that ranks are compared by.
#[derive(Debug, Clone, Copy)]
pub struct RankValues<'a> {
    /// The names of the ranks.
    pub names: &'a [&'a str],
    /// Indexed by rank: the union of its own work in ns, where that is known.
    pub compute: &'a [Option<i64>],
    /// The steps of some of them.
    pub steps: Option<&'a Steps>,
    /// Indexed by rank: its wait in collectives in ns, computed without clocks, and their number.
    pub waits: &'a [(i64, u64)],
    /// The totals of each kernel by rank.
    pub kernels: &'a [KernelTotals],
}

/// Every rank that stands out: by quantity, farthest first.
#[must_use]
pub fn outliers(values: &RankValues<'_>) -> Vec<Outlier> {
    let names = values.names.iter().copied();
    let mut found = Vec::new();
    let compute = names.clone().zip(values.compute).filter_map(|(name, &ns)| Some((name, ns? as f64)));
    add(&mut found, Quantity::Compute, None, compute);
    if let Some(steps) = values.steps {
        let mean = |rank: &RankSteps| rank.total_ns as f64 / steps.steps.max(1) as f64;
        let times = steps.ranks.iter().map(|rank| (rank.name.as_str(), mean(rank)));
        add(&mut found, Quantity::Steps, None, times);
    }
    let met = names.zip(values.waits).filter(|(_, (_, collectives))| *collectives > 0);
    let waits = met.map(|(name, &(wait_ns, collectives))| (name, wait_ns as f64 / collectives as f64));
    add(&mut found, Quantity::Wait, None, waits);
    let time = |kernel: &KernelTotals| kernel.ran.iter().map(|(_, total)| total.total_ns as f64).sum::<f64>();
    let all: f64 = values.kernels.iter().map(time).sum();
    for kernel in values.kernels.iter().filter(|kernel| time(kernel) >= LEAST_SHARE * all) {
        let means =
            kernel.ran.iter().filter_map(|(at, total)| Some((*values.names.get(*at)?, total.mean_ns())));
        add(&mut found, Quantity::Kernel, Some(&kernel.name), means);
    }
    found.sort_by(|one, other| {
        let far = other.spreads.abs().total_cmp(&one.spreads.abs());
        let key = |outlier: &Outlier| (outlier.kernel.clone(), outlier.rank.clone());
        one.quantity.cmp(&other.quantity).then(far).then_with(|| key(one).cmp(&key(other)))
    });
    found
}

fn add<'a>(
    found: &mut Vec<Outlier>,
    quantity: Quantity,
    kernel: Option<&str>,
    values: impl Iterator<Item = (&'a str, f64)>,
) {
    let (ranks, values): (Vec<&str>, Vec<f64>) = values.unzip();
    let median_ns = median(&mut values.clone());
    found.extend(far_from_median(&values).into_iter().map(|(at, spreads)| Outlier {
        rank: ranks[at].to_owned(),
        quantity,
        kernel: kernel.map(str::to_owned),
        value_ns: values[at],
        median_ns,
        spreads,
    }));
}

/// The positions of values that stand out from the others, and by how many spreads.
#[must_use]
pub fn far_from_median(values: &[f64]) -> Vec<(usize, f64)> {
    if values.len() < LEAST_RANKS {
        return Vec::new();
    }
    let middle = median(&mut values.to_vec());
    let unit = robust_deviation(&mut values.to_vec()).max(LEAST_SPREAD * middle.abs());
    if unit <= 0.0 {
        return Vec::new();
    }
    let bound = BOUND + FEW / (values.len() as f64 - 4.0);
    let far = values.iter().map(|value| (value - middle) / unit).enumerate();
    far.filter(|(_, spreads)| spreads.abs() > bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn one_slow_rank_among_eight_stands_out_by_hand() {
        // The median is 1004, the deviations are 4, 2, 1, 0, 0, 1, 3 and 196: their median is 1.5, 1.4826 times that is
        // less than 1 % of 1004.
        let values = [1000.0, 1002.0, 1003.0, 1004.0, 1004.0, 1005.0, 1007.0, 1200.0];
        let found = far_from_median(&values);
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - 196.0 / 10.04).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn ranks_that_differ_by_chance_seldom_stand_out() {
        let mut random = Random::new(1);
        for ranks in [5, 8, 16, 64, 256] {
            let comparisons = 1_000;
            let one = || (0..ranks).map(|_| 1_000.0 + 100.0 * random.normal()).collect::<Vec<f64>>();
            let hit = std::iter::repeat_with(one)
                .take(comparisons)
                .filter(|values| !far_from_median(values).is_empty());
            let hit = hit.count();
            assert!(hit <= 20, "{ranks} ranks: {hit} of {comparisons}");
        }
    }

    #[test]
    fn values_that_scatter_widely_do_not_stand_out() {
        assert_eq!(far_from_median(&[800.0, 900.0, 1000.0, 1100.0, 1200.0, 1300.0]), []);
    }

    #[test]
    fn few_equal_and_missing_values_do_not_stand_out() {
        assert_eq!(far_from_median(&[1.0, 1.0, 1.0, 9.0]), []);
        assert_eq!(far_from_median(&[0.0; 9]), []);
        assert_eq!(far_from_median(&[]), []);
    }
}
