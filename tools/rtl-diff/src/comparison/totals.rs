//! Figures of whole runs (GPU time, wall, idle share, launches) with the bound that several runs give their change.

use rtl_analysis::compare::distributions::student_quantile;

use super::types::{Total, Totals};
use crate::input::Run;

/// The lower bound of a change is too high once in a hundred comparisons.
const LEVEL: f64 = 0.99;

pub(super) fn totals(sides: [&[Run]; 2]) -> Totals {
    let total = |figure: fn(&Run) -> f64, relative: bool| {
        let [before, after] = sides.map(|runs| runs.iter().map(figure).collect::<Vec<f64>>());
        Total::new(&before, &after, relative)
    };
    Totals {
        kernel_ns: total(kernel_time, true),
        wall_ns: total(|run| run.wall_ns() as f64, true),
        idle_share: total(idle_share, false),
        launches: total(|run| launches(run) as f64, true),
    }
}

impl Total {
    /// Compares logarithms if `relative`, so that the same change up and down has the same size.
    fn new(before: &[f64], after: &[f64], relative: bool) -> Self {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut total = Self { baseline: mean(before), candidate: mean(after), ..Self::default() };
        let usable = |value: &f64| !relative || *value > 0.0;
        if before.is_empty() || after.is_empty() || !before.iter().chain(after).all(usable) {
            return total;
        }
        let scale = |value: &f64| if relative { value.ln() } else { *value };
        let (before, after): (Vec<f64>, Vec<f64>) =
            (before.iter().map(scale).collect(), after.iter().map(scale).collect());
        let back = |value: f64| if relative { value.clamp(-600.0, 600.0).exp_m1() } else { value };
        let change = mean(&after) - mean(&before);
        total.change = Some(back(change));
        total.change_at_least = spread(&before, &after)
            .map(|(deviation, freedom)| back(change - student_quantile(LEVEL, freedom) * deviation));
        total
    }
}

/// The standard deviation of the difference of two means by the pooled variance of both sides, and the degrees of
/// freedom. `None` if each side has one value.
fn spread(before: &[f64], after: &[f64]) -> Option<(f64, f64)> {
    let freedom = (before.len() + after.len()).checked_sub(2).filter(|&freedom| freedom > 0)? as f64;
    let squares = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let variance = (squares(before) + squares(after)) / freedom;
    let average = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    Some(((variance * average).sqrt(), freedom))
}

fn kernel_time(run: &Run) -> f64 {
    let kernels = run.profile.kernels.iter().filter(|kernel| !kernel.collective);
    kernels.map(|kernel| kernel.run.total_ns as f64).sum()
}

fn idle_share(run: &Run) -> f64 {
    let idle: f64 = run.profile.gpus.iter().map(|gpu| (gpu.wall_ns - gpu.busy_ns) as f64).sum();
    match run.wall_ns() {
        0 => 0.0,
        wall => idle / wall as f64,
    }
}

/// Kernel launches, warm-up included; where work is compared, ops of a step.
pub(super) fn launches(run: &Run) -> u64 {
    if let Some(work) = &run.work {
        return work.ops / work.steps.unwrap_or(1).max(1) as u64;
    }
    run.profile.kernels.iter().map(|kernel| kernel.run.calls.saturating_add(kernel.warmup)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_a_side_has_a_change_and_no_bound() {
        let total = Total::new(&[100.0], &[110.0], true);
        assert!((total.change.unwrap_or_default() - 0.1).abs() < 1e-12);
        assert_eq!(total.change_at_least, None);
    }

    #[test]
    fn the_bound_lies_below_the_change_by_what_runs_differ() {
        let total = Total::new(&[100.0, 102.0, 98.0], &[110.0, 112.0, 108.0], true);
        let (change, bound) = (total.change.unwrap_or_default(), total.change_at_least.unwrap_or_default());
        // In logarithms: a change of 0.0954, a standard error of 0.0156, and 3.747 of it at four degrees of freedom.
        assert!((0.0999..0.1001).contains(&change) && (0.037..0.038).contains(&bound), "{change} {bound}");
    }

    #[test]
    fn nothing_to_compare_with_is_no_change_and_no_nan() {
        assert_eq!(Total::new(&[], &[5.0], true).change, None);
        assert_eq!(Total::new(&[0.0], &[5.0], true).change, None);
        assert_eq!(Total::new(&[0.0], &[0.25], false).change, Some(0.25));
    }
}
