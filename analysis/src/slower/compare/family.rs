//! How far a bound must lie so that not one kernel of many is wrong.

use super::distributions::{normal_cdf, normal_quantile};

/// Steps of the integral over the common factor, from -6 to 6.
const STEPS: i32 = 128;

/// The chance of one bound being right, for all bounds together to be right with chance `1 - error`.
///
/// `shared` holds for each kernel which part of its variance (0 to 1) is the noise it has in common with all others.
/// Kernels without anything in common need Sidak's level; kernels that move as one need no correction. In between the
/// chance is that of values with one common factor: given the factor they are independent, so it is one integral
/// (Dunnett and Sobel 1955). Exact for normal values; with Student margins it is used as the copula.
pub(super) fn level(shared: &[f64], error: f64) -> f64 {
    let count = shared.len().max(1) as f64;
    let alone = 1.0 - error;
    let independent = (alone.ln() / count).exp();
    if shared.iter().all(|&part| part <= 1e-6) {
        return independent;
    }
    let (mut low, mut high) = (normal_quantile(alone), normal_quantile(independent));
    for _ in 0..16 {
        let middle = 0.5 * (low + high);
        if all_below(middle, shared) < alone { low = middle } else { high = middle }
    }
    normal_cdf(high)
}

/// The chance that all values are below `z`.
fn all_below(z: f64, shared: &[f64]) -> f64 {
    let width = 12.0 / f64::from(STEPS);
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in 0..=STEPS {
        let factor = f64::from(step) * width - 6.0;
        let weight = (-0.5 * factor * factor).exp();
        let mut chance = weight;
        for &part in shared {
            // Less than the step of the integral would be seen as a staircase.
            let own = (1.0 - part).max(0.001).sqrt();
            chance *= normal_cdf((z - part.sqrt() * factor) / own);
            if chance < weight * 1e-12 {
                break;
            }
        }
        sum += chance;
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kernel_and_kernels_that_move_as_one_need_no_correction() {
        assert!((level(&[0.0], 0.05) - 0.95).abs() < 1e-9);
        let together = level(&[1.0; 50], 0.05);
        assert!((0.95..0.96).contains(&together), "{together}");
    }

    #[test]
    fn kernels_with_nothing_in_common_need_sidaks_level() {
        assert!((level(&[0.0; 80], 0.05) - 0.95_f64.powf(1.0 / 80.0)).abs() < 1e-9);
    }

    #[test]
    fn what_is_in_common_lowers_the_level() {
        let levels: Vec<f64> = [0.0, 0.3, 0.6, 0.9].iter().map(|&part| level(&[part; 40], 0.05)).collect();
        assert!(levels.is_sorted_by(|a, b| a > b), "{levels:?}");
        // Dunnett's tables for many treatments against one control: correlation 0.5, nine of them, 2.42.
        let nine = normal_quantile(level(&[0.5; 9], 0.05));
        assert!((nine - 2.42).abs() < 0.01, "{nine}");
    }
}
