//! One run per side: how sure can it be of itself? Blocks of neighbouring calls are drawn again and again, so that calls
//! which resemble their neighbours are not counted as independent (moving-block bootstrap, Kuensch 1989).

use super::Run;
use super::random::Random;
use super::trimmed::blocks;
use super::uncertainty::Uncertainty;

/// How often a run is drawn anew.
const DRAWS: usize = 999;

/// The uncertainty of ln(ratio) from one pair of runs, by the calls within each run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within {
    /// The standard deviation of ln(ratio).
    pub deviation: f64,
    /// The lower end of the interval of ln(ratio).
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How many independent blocks there were, less one for each side.
    pub freedom: f64,
}

/// `None` where a side is a report without calls, or has fewer than two calls.
pub fn within_run(baseline: &Run, candidate: &Run, confidence: f64, seed: u64) -> Option<Within> {
    let mut random = Random::new(seed);
    let mut sides = [Blocks::of(baseline)?, Blocks::of(candidate)?];
    let ratio = candidate.log_mean() - baseline.log_mean();
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let [baseline, candidate] = sides.each_mut().map(|side| side.draw(&mut random).max(1.0).ln());
            candidate - baseline - ratio
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
    let variance = drawn.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64;
    let freedom: f64 = sides.iter().map(|side| side.freedom).sum();
    // A handful of blocks vary less than what they stand for: by the small sample, and by what longer blocks would see.
    let factor = sides.iter().map(|side| side.factor).fold(1.0, f64::max).sqrt();
    let tail = 0.5 * (1.0 - confidence);
    let wider = factor * Uncertainty::wider(freedom, 1.0 - tail);
    let rank = |part: f64| drawn[((part * DRAWS as f64) as usize).min(DRAWS - 1)];
    Some(Within {
        deviation: factor * variance.sqrt(),
        low: ratio + wider * rank(tail).min(0.0),
        high: ratio + wider * rank(1.0 - tail).max(0.0),
        freedom,
    })
}

struct Blocks {
    means: Vec<f64>,
    count: usize,
    /// The factor by which their variance is too small.
    factor: f64,
    freedom: f64,
}

impl Blocks {
    fn of(run: &Run) -> Option<Self> {
        let cells = &run.cells;
        if cells.len() < 2 {
            return None;
        }
        let (length, factor) = blocks(cells);
        let means = cells.windows(length).map(|block| block.iter().sum::<f64>() / length as f64).collect();
        let whole = cells.len() as f64 / length as f64;
        // Drawing n of n values varies by (n - 1) / n of what it should.
        Some(Self {
            means,
            count: cells.len().div_ceil(length),
            factor: factor * whole / (whole - 1.0),
            freedom: (whole - 1.0).max(1.0),
        })
    }

    /// The mean of a run put together from blocks drawn at random.
    fn draw(&mut self, random: &mut Random) -> f64 {
        let mut mean = || self.means[random.below(self.means.len())];
        // Two sums, neither of which waits for the other.
        let mut sums = [0.0; 2];
        for _ in 0..self.count / 2 {
            sums[0] += mean();
            sums[1] += mean();
        }
        if self.count % 2 == 1 {
            sums[0] += mean();
        }
        (sums[0] + sums[1]) / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let run = Run::of(&(0..200).map(|call| 1000 + call % 17).collect::<Vec<_>>());
        let draw = |seed| within_run(&run, &run, 0.95, seed).unwrap();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3).low, draw(4).low);
        assert!(draw(3).low < 0.0 && draw(3).high > 0.0);
    }

    #[test]
    fn calls_that_never_differ_leave_no_doubt() {
        let (slow, fast) = (Run::of(&[220; 50]), Run::of(&[200; 50]));
        let within = within_run(&fast, &slow, 0.95, 1).unwrap();
        assert!((within.low - 1.1_f64.ln()).abs() < 1e-9 && (within.high - 1.1_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn one_call_or_a_report_knows_nothing_of_itself() {
        let one = Run::of(&[200]);
        assert_eq!(within_run(&one, &one, 0.95, 1), None);
    }
}
