//! Tests by rank, shown because people ask for them. No verdict depends on them: within one run calls resemble each
//! other, so thousands of them make any difference "significant", and with five runs a side even the smallest possible
//! p (0.008) is too large for one kernel among eighty.

use super::distributions::two_sided;

/// Up to how many values together every arrangement is counted.
const EXACT: usize = 40;

/// The two-sided p of Mann and Whitney: exact for up to 40 distinct values, else the normal approximation with
/// corrections for ties and continuity. 1 where a side is empty or all values are the same.
pub fn mann_whitney(one: &[f64], other: &[f64]) -> f64 {
    let (n, m) = (one.len(), other.len());
    if n == 0 || m == 0 {
        return 1.0;
    }
    let mut values: Vec<(f64, bool)> =
        one.iter().map(|&value| (value, true)).chain(other.iter().map(|&value| (value, false))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut rank_sum, mut ties, mut before) = (0.0, 0.0, 0.0);
    for same in values.chunk_by(|a, b| a.0 == b.0) {
        let size = same.len() as f64;
        rank_sum += same.iter().filter(|(_, mine)| *mine).count() as f64 * (before + 0.5 * (size + 1.0));
        ties += size * (size * size - 1.0);
        before += size;
    }
    let (n_f, m_f) = (n as f64, m as f64);
    let wins = rank_sum - 0.5 * n_f * (n_f + 1.0);
    let middle = 0.5 * n_f * m_f;
    if ties == 0.0 && n + m <= EXACT {
        let counts = arrangements(n, m);
        let end = wins.min(n_f * m_f - wins).round() as usize;
        let all: f64 = counts.iter().sum();
        return (2.0 * counts[..=end].iter().sum::<f64>() / all).min(1.0);
    }
    let total = n_f + m_f;
    let variance = n_f * m_f / 12.0 * ((total + 1.0) - ties / (total * (total - 1.0)).max(1.0));
    if variance <= 0.0 {
        return 1.0;
    }
    two_sided(((wins - middle).abs() - 0.5).max(0.0) / variance.sqrt())
}

/// In how many orders of `n` and `m` values the first side wins 0, 1, 2, ... comparisons: the coefficients of the
/// Gaussian binomial, built factor by factor.
fn arrangements(n: usize, m: usize) -> Vec<f64> {
    let size = n * m + 1;
    let mut counts = vec![0.0; size];
    counts[0] = 1.0;
    for factor in 1..=n {
        for wins in (m + factor..size).rev() {
            counts[wins] -= counts[wins - m - factor];
        }
        for wins in factor..size {
            counts[wins] += counts[wins - factor];
        }
    }
    counts
}

/// Returns for each p the share of false discoveries when it and all smaller ones are called discoveries (Benjamini and
/// Hochberg 1995).
pub fn false_discovery(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut q = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (rank, &position) in order.iter().enumerate().rev() {
        least = least.min(p[position] * p.len() as f64 / (rank + 1) as f64);
        q[position] = least;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_runs_a_side_reach_no_smaller_p_than_two_in_252() {
        let p = mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((p - 2.0 / 252.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn three_against_three_by_hand() {
        // Of 20 orders 0, 1 and 2 wins are reached by 1, 1 and 2: (1 + 1 + 2) * 2 / 20.
        let p = mann_whitney(&[1.0, 2.0, 5.0], &[3.0, 4.0, 6.0]);
        assert!((p - 0.4).abs() < 1e-12, "{p}");
    }

    #[test]
    fn equal_and_missing_values_are_no_evidence() {
        assert_eq!(mann_whitney(&[], &[1.0]), 1.0);
        assert_eq!(mann_whitney(&[1.0], &[2.0]), 1.0);
        assert_eq!(mann_whitney(&[7.0; 30], &[7.0; 30]), 1.0);
    }

    #[test]
    fn many_tied_values_that_differ_are_evidence() {
        let low: Vec<f64> = (0..50).map(|value| f64::from(value % 5)).collect();
        let high: Vec<f64> = (0..50).map(|value| f64::from(value % 5 + 2)).collect();
        assert!(mann_whitney(&low, &high) < 1e-6);
    }

    #[test]
    fn discoveries_by_hand() {
        assert_eq!(false_discovery(&[0.01, 0.04, 0.03, 0.5]), [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.5]);
        assert!(false_discovery(&[]).is_empty());
    }
}
