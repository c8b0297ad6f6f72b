//! Other ways to say how sure a ratio is, to be shown beside the one that is used. Each sees one kernel alone.

use rtl_analysis::compare::Run;
use rtl_analysis::compare::distributions::student_quantile;
use rtl_analysis::compare::random::Random;

/// A way from runs of both sides to an interval of ln(ratio) at a confidence.
pub(crate) type Rival = fn(&[Run], &[Run], f64) -> (f64, f64);

/// Their names and what they do.
pub(crate) const RIVALS: [(&str, Rival); 3] =
    [("percentile bootstrap of runs", bootstrap), ("Welch's t", welch), ("Student's t", student)];

fn moments(runs: &[Run]) -> (f64, f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().map(Run::log_mean).sum::<f64>() / count;
    let squares = runs.iter().map(|run| (run.log_mean() - mean).powi(2)).sum::<f64>();
    (mean, squares / (count - 1.0), count)
}

fn around(estimate: f64, deviation: f64, freedom: f64, confidence: f64) -> (f64, f64) {
    let reach = student_quantile(0.5 + 0.5 * confidence, freedom) * deviation;
    (estimate - reach, estimate + reach)
}

fn welch(baseline: &[Run], candidate: &[Run], confidence: f64) -> (f64, f64) {
    let ((a, va, na), (b, vb, nb)) = (moments(baseline), moments(candidate));
    let (va, vb) = (va / na, vb / nb);
    let freedom = (va + vb).powi(2) / (va * va / (na - 1.0) + vb * vb / (nb - 1.0)).max(f64::MIN_POSITIVE);
    around(b - a, (va + vb).sqrt(), freedom, confidence)
}

fn student(baseline: &[Run], candidate: &[Run], confidence: f64) -> (f64, f64) {
    let ((a, va, na), (b, vb, nb)) = (moments(baseline), moments(candidate));
    let freedom = na + nb - 2.0;
    let variance = ((na - 1.0) * va + (nb - 1.0) * vb) / freedom;
    around(b - a, (variance * (1.0 / na + 1.0 / nb)).sqrt(), freedom, confidence)
}

fn bootstrap(baseline: &[Run], candidate: &[Run], confidence: f64) -> (f64, f64) {
    const DRAWS: usize = 500;
    let logs = |runs: &[Run]| runs.iter().map(Run::log_mean).collect::<Vec<f64>>();
    let (baseline, candidate) = (logs(baseline), logs(candidate));
    let mut random = Random::new(baseline.first().map_or(0, |log| log.to_bits()));
    let mut draw =
        |logs: &[f64]| logs.iter().map(|_| logs[random.below(logs.len())]).sum::<f64>() / logs.len() as f64;
    let mut ratios: Vec<f64> = (0..DRAWS).map(|_| draw(&candidate) - draw(&baseline)).collect();
    ratios.sort_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - confidence) * DRAWS as f64;
    (ratios[tail as usize], ratios[DRAWS - 1 - tail as usize])
}
