//! The difference of two clocks over time: it drifts, and the drift may change.
//!
//! The model is the usual one of two quartz clocks: the difference grows with a rate, and the rate walks at random. How
//! much it walks is what makes the observations likeliest; not at all is a straight line. The states come
//! from a Kalman filter and the Rauch-Tung-Striebel smoother (Rauch, Tung, Striebel 1965), the likelihood from the
//! filter's innovations (Schweppe 1965), and observations far off count less.

use crate::base::stats::{interquartile_mean, median, robust_deviation};

/// Seconds of a nanosecond.
const SECOND: f64 = 1e-9;

/// How much the rate may walk, in ns²/s³ for each ns² of an observation's variance. 0 is a straight line. The filter takes the
/// walks of a row side by side: in each, a step waits for the divisions of the one before.
const WALKS: [[f64; 3]; 5] =
    [[0.0, 1e-8, 3e-8], [1e-7, 3e-7, 1e-6], [3e-6, 1e-5, 3e-5], [1e-4, 3e-4, 1e-3], [3e-3, 1e-2, 1e-1]];

/// A product of variances becomes a logarithm when it is larger: the next one must not make it infinite.
const LARGE: f64 = 1e100;

/// From how many standard deviations on an observation counts less: then as if it were that far off.
const FAR: f64 = 2.5;

/// How much better a walk must explain the observations than a straight line, in log-likelihood.
const WORTH: f64 = 2.0;

/// How much two clocks drift apart, as a standard deviation in ns a second, where nothing is observed.
const DRIFT: f64 = 1e4;

/// More observations than this tell no more: what lets ranks leave a collective late stays for many of them.
const INDEPENDENT: f64 = 10.0;

/// One observation: at this moment of the clock, it must be moved by so much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// ns of the clock.
    pub at: i64,
    /// The offset to add, in ns.
    pub offset: f64,
}

/// The offset to add to a clock, at any of its times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clock {
    /// The moment that times count from, in ns.
    origin: i64,
    knots: Vec<Knot>,
    /// The standard deviation of one observation in ns.
    pub noise_ns: f64,
    /// True if the rate walks.
    pub wanders: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Knot {
    /// Seconds since the origin.
    at: f64,
    offset: f64,
    /// In ns a second.
    rate: f64,
    /// Variance of the offset in ns².
    variance: f64,
    /// Variance of the rate in (ns/s)².
    rate_variance: f64,
}

impl Clock {
    /// A clock that differs by the same everywhere.
    #[must_use]
    pub fn constant(offset: f64) -> Self {
        let knot = Knot { at: 0.0, offset, rate: 0.0, variance: 0.0, rate_variance: 0.0 };
        Self { origin: 0, knots: vec![knot], noise_ns: 0.0, wanders: false }
    }

    /// The likeliest clock; observations in any order, at least two at different moments.
    #[must_use]
    pub fn fitted(observations: &[Observation]) -> Self {
        let mut sorted = observations.to_vec();
        sorted.sort_by_key(|observation| observation.at);
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return Self::default() };
        if first.at == last.at {
            let mut offsets: Vec<f64> = sorted.iter().map(|observation| observation.offset).collect();
            return Self::constant(interquartile_mean(&mut offsets));
        }
        let origin = first.at;
        let length = last.at.saturating_sub(origin) as f64 * SECOND;
        let constant = Self::without_drift(&sorted, length);
        if 2.0 * constant.noise_ns > DRIFT * length {
            return constant;
        }
        let points: Vec<(f64, f64)> = sorted
            .iter()
            .map(|observation| ((observation.at - origin) as f64 * SECOND, observation.offset))
            .collect();
        let line = Line::through(&points);
        let rest: Vec<(f64, f64)> = points.iter().map(|&(at, offset)| (at, offset - line.at(at))).collect();
        let mut weights = vec![1.0; rest.len()];
        let mut best = likeliest(&rest, &weights);
        for _ in 0..3 {
            reweigh(&rest, &best, &mut weights);
            best = likeliest(&rest, &weights);
        }
        let (fit, wanders) = (best.fit, best.walk > 0.0);
        let noise = best.noise;
        let knots = smoothed(&fit, noise)
            .into_iter()
            .map(|knot| Knot { offset: knot.offset + line.at(knot.at), rate: knot.rate + line.rate, ..knot })
            .collect();
        Self { origin, knots, noise_ns: noise.sqrt(), wanders }
    }

    /// The difference in a time so short that its drift cannot be told from noise: the mean, which is less sure at the ends.
    fn without_drift(sorted: &[Observation], length: f64) -> Self {
        let mut offsets: Vec<f64> = sorted.iter().map(|observation| observation.offset).collect();
        let offset = interquartile_mean(&mut offsets);
        let noise_ns = robust_deviation(&mut offsets);
        let variance =
            noise_ns.powi(2) / (offsets.len() as f64).min(INDEPENDENT) + (DRIFT * length / 2.0).powi(2);
        let knot = |at: f64| Knot { at, offset, rate: 0.0, variance, rate_variance: DRIFT.powi(2) };
        let knots = vec![knot(0.0), knot(length)];
        Self { origin: sorted.first().map_or(0, |first| first.at), knots, noise_ns, wanders: false }
    }

    /// The offset to add at this time of the clock, in ns.
    #[must_use]
    pub fn offset(&self, at: i64) -> f64 {
        self.evaluated(at).0
    }

    /// The offsets at many times, in about their order.
    pub(super) fn offsets(&self) -> Offsets<'_> {
        Offsets { clock: self, after: 0 }
    }

    /// The moments of the clock between which, and beyond which, [`Clock::offset`] is a straight line, in ns.
    pub fn moments(&self) -> impl Iterator<Item = i64> + '_ {
        self.knots.iter().map(|knot| self.origin + (knot.at / SECOND).round() as i64)
    }

    /// The largest standard deviation of [`Clock::offset`] between the first and the last observation, in ns, as far as the noise of
    /// observations goes.
    #[must_use]
    pub fn largest_deviation(&self) -> f64 {
        self.knots.iter().map(|knot| knot.variance.max(0.0).sqrt()).fold(0.0, f64::max)
    }

    fn evaluated(&self, at: i64) -> (f64, f64) {
        let at = self.seconds(at);
        self.interpolated(self.knots.partition_point(|knot| knot.at < at), at)
    }

    /// A time in seconds since the origin.
    fn seconds(&self, at: i64) -> f64 {
        (at - self.origin) as f64 * SECOND
    }

    /// Offset and variance at a time, before which this number of knots are.
    fn interpolated(&self, after: usize, at: f64) -> (f64, f64) {
        let (before, after) = (after.checked_sub(1).map(|before| self.knots[before]), self.knots.get(after));
        match (before, after) {
            (Some(before), Some(after)) => {
                let share = (at - before.at) / (after.at - before.at);
                let between = |one: f64, other: f64| one + share * (other - one);
                (between(before.offset, after.offset), between(before.variance, after.variance))
            }
            (Some(knot), None) | (None, Some(&knot)) => {
                let away = at - knot.at;
                (knot.offset + knot.rate * away, knot.variance + knot.rate_variance * away * away)
            }
            (None, None) => (0.0, 0.0),
        }
    }
}

/// [`Clock::offset`], which begins to search where it found the last time.
pub(super) struct Offsets<'a> {
    clock: &'a Clock,
    /// The number of knots before the last time.
    after: usize,
}

/// Knots to pass one by one, before all are searched.
const NEAR: usize = 8;

impl Offsets<'_> {
    /// The offset to add at this time, in ns.
    pub(super) fn at(&mut self, at: i64) -> f64 {
        let (knots, at) = (&self.clock.knots, self.clock.seconds(at));
        let is_before = |knot: &Knot| knot.at < at;
        let next = &knots[self.after..];
        let passed = next.iter().take(NEAR).take_while(|knot| is_before(knot)).count();
        let is_behind = self.after.checked_sub(1).is_none_or(|last| is_before(&knots[last]));
        self.after = match is_behind && (passed < NEAR || passed == next.len()) {
            true => self.after + passed,
            false => knots.partition_point(is_before),
        };
        self.clock.interpolated(self.after, at).0
    }
}

/// A straight line that a few wild points do not turn.
struct Line {
    middle: (f64, f64),
    rate: f64,
}

impl Line {
    /// Between the middles of the first and the last third.
    fn through(points: &[(f64, f64)]) -> Self {
        let third = points.len().div_ceil(3);
        let middle = |part: &[(f64, f64)]| {
            let mut times: Vec<f64> = part.iter().map(|point| point.0).collect();
            let mut offsets: Vec<f64> = part.iter().map(|point| point.1).collect();
            (median(&mut times), median(&mut offsets))
        };
        let (early, late) = (middle(&points[..third]), middle(&points[points.len() - third..]));
        let apart = late.0 - early.0;
        let rate = if apart > 0.0 { (late.1 - early.1) / apart } else { 0.0 };
        Self { middle: early, rate }
    }

    fn at(&self, at: f64) -> f64 {
        self.middle.1 + self.rate * (at - self.middle.0)
    }
}

struct Best {
    fit: Vec<Step>,
    walk: f64,
    /// The variance of an observation.
    noise: f64,
}

struct Explained {
    /// The variance of an observation.
    noise: f64,
    likelihood: f64,
}

/// One step of the filter, in units of an observation's variance.
#[derive(Clone, Copy)]
struct Step {
    at: f64,
    /// Offset and rate before the observation, and their covariance.
    predicted: ([f64; 2], [f64; 3]),
    /// Estimate and covariance after an observation.
    updated: ([f64; 2], [f64; 3]),
}

/// The prior variances of offset and rate: a millisecond, 10 ppm around the line.
const UNKNOWN: [f64; 3] = [1e12, 0.0, 1e8];

/// Filtering fewer points takes less time than starting a thread.
const PARALLEL: usize = 2_000;

fn likeliest(points: &[(f64, f64)], weights: &[f64]) -> Best {
    // In units of an observation's variance, so the prior is scaled by a first idea of it.
    let mut offsets: Vec<f64> = points.iter().map(|point| point.1).collect();
    let scale = robust_deviation(&mut offsets).max(1.0).powi(2);
    let prior = UNKNOWN.map(|value| value / scale);
    let explain = |walks| filter(points, weights, prior, walks, |_| ());
    let candidates = match points.len() > PARALLEL {
        true => threads::map(WALKS, explain),
        false => WALKS.map(explain).into(),
    };
    let mut best: Option<(f64, Explained)> = None;
    for (walk, candidate) in WALKS.as_flattened().iter().copied().zip(candidates.into_iter().flatten()) {
        let must = best.as_ref().map(|(walk, best)| best.likelihood + if *walk == 0.0 { WORTH } else { 0.0 });
        if must.is_none_or(|must| candidate.likelihood > must) {
            best = Some((walk, candidate));
        }
    }
    let walk = best.map_or(0.0, |(walk, _)| walk);
    let mut fit = Vec::with_capacity(points.len());
    let [explained] = filter(points, weights, prior, [walk], |[step]| fit.push(step));
    Best { fit, walk, noise: explained.noise }
}

/// Passes every step of the filter to `each`, for these walks side by side.
fn filter<const N: usize>(
    points: &[(f64, f64)],
    weights: &[f64],
    prior: [f64; 3],
    walks: [f64; N],
    mut each: impl FnMut([Step; N]),
) -> [Explained; N] {
    let mut states = [[0.0, 0.0]; N];
    let mut covariances = [prior; N];
    let (mut squares, mut logs, mut products) = ([0.0; N], [0.0; N], [1.0; N]);
    let mut last = points[0].0;
    for (number, (&(at, offset), &weight)) in points.iter().zip(weights).enumerate() {
        let gap = at - last;
        last = at;
        let step = |walk: usize| {
            let ([position, rate], [p, c, r]) = (states[walk], covariances[walk]);
            let predicted = (
                [position + gap * rate, rate],
                [
                    p + gap * (2.0 * c + gap * r) + walks[walk] * gap.powi(3) / 3.0,
                    c + gap * r + walks[walk] * gap * gap / 2.0,
                    r + walks[walk] * gap,
                ],
            );
            let ([position, rate], [p, c, r]) = predicted;
            let innovation = offset - position;
            let variance = p + 1.0 / weight;
            let gain = [p / variance, c / variance];
            let state = [position + gain[0] * innovation, rate + gain[1] * innovation];
            let covariance = [p * (1.0 - gain[0]), c * (1.0 - gain[0]), r - gain[1] * c];
            (
                Step { at, predicted, updated: (state, covariance) },
                innovation * innovation / variance,
                variance,
            )
        };
        let steps: [_; N] = std::array::from_fn(step);
        for (walk, (step, square, variance)) in steps.iter().enumerate() {
            (states[walk], covariances[walk]) = step.updated;
            // The first two fix offset and rate, which nothing was known of.
            if number >= 2 {
                squares[walk] += square;
                products[walk] *= variance;
                if products[walk] > LARGE {
                    logs[walk] += std::mem::replace(&mut products[walk], 1.0).ln();
                }
            }
        }
        each(steps.map(|(step, ..)| step));
    }
    let count = points.len().saturating_sub(2) as f64;
    std::array::from_fn(|walk| {
        let noise = if count > 0.0 { (squares[walk] / count).max(1e-6) } else { 1.0 };
        let likelihood = -0.5 * (count * noise.ln() + logs[walk] + products[walk].ln());
        Explained { noise, likelihood }
    })
}

/// The smoother: corrects earlier states by later observations.
fn smoothed(fit: &[Step], noise: f64) -> Vec<Knot> {
    let mut knots = Vec::with_capacity(fit.len());
    let mut after: Option<([f64; 2], [f64; 3])> = None;
    for (number, step) in fit.iter().enumerate().rev() {
        let (mut state, mut covariance) = step.updated;
        if let (Some((later, later_covariance)), Some(next)) = (after, fit.get(number + 1)) {
            let gap = next.at - step.at;
            let ([_, _], [p, c, r]) = step.updated;
            let (predicted, [pp, pc, pr]) = next.predicted;
            // Covariance of the state now with the state then: P F'.
            let cross = [[p + gap * c, c], [c + gap * r, r]];
            let determinant = pp * pr - pc * pc;
            if determinant > 0.0 {
                let inverse = [[pr / determinant, -pc / determinant], [-pc / determinant, pp / determinant]];
                let gain = product(cross, inverse);
                let miss = [later[0] - predicted[0], later[1] - predicted[1]];
                state = [
                    state[0] + gain[0][0] * miss[0] + gain[0][1] * miss[1],
                    state[1] + gain[1][0] * miss[0] + gain[1][1] * miss[1],
                ];
                let [lp, lc, lr] = later_covariance;
                let change = [[lp - pp, lc - pc], [lc - pc, lr - pr]];
                let left = product(gain, change);
                let transposed = [[gain[0][0], gain[1][0]], [gain[0][1], gain[1][1]]];
                let added = product(left, transposed);
                covariance =
                    [covariance[0] + added[0][0], covariance[1] + added[0][1], covariance[2] + added[1][1]];
            }
        }
        after = Some((state, covariance));
        knots.push(Knot {
            at: step.at,
            offset: state[0],
            rate: state[1],
            variance: covariance[0].max(0.0) * noise,
            rate_variance: covariance[2].max(0.0) * noise,
        });
    }
    knots.reverse();
    knots.dedup_by(|later, earlier| later.at == earlier.at);
    knots
}

fn product(one: [[f64; 2]; 2], other: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let entry = |row: usize, column: usize| one[row][0] * other[0][column] + one[row][1] * other[1][column];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

/// Observations far from the fit count less.
fn reweigh(points: &[(f64, f64)], best: &Best, weights: &mut [f64]) {
    let knots = smoothed(&best.fit, best.noise);
    let fitted = Clock { origin: 0, knots, noise_ns: 0.0, wanders: false };
    let mut offsets = fitted.offsets();
    let mut misses: Vec<f64> =
        points.iter().map(|&(at, offset)| offset - offsets.at((at / SECOND).round() as i64)).collect();
    let signed = misses.clone();
    let deviation = robust_deviation(&mut misses).max(1.0);
    for (weight, miss) in weights.iter_mut().zip(signed) {
        *weight = (FAR * deviation / miss.abs().max(1e-9)).powi(2).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    fn observed(offset: impl Fn(f64) -> f64, noise: f64, wild: i64) -> Vec<Observation> {
        let mut random = Random::new(3);
        (0..300)
            .map(|number| {
                let at = number * 200_000_000 + 7_000_000_000;
                let far = if wild > 0 && number % wild == 0 { 400_000.0 } else { 0.0 };
                let seconds = (at - 7_000_000_000) as f64 * SECOND;
                Observation { at, offset: offset(seconds) + noise * random.normal() + far }
            })
            .collect()
    }

    fn worst(clock: &Clock, offset: impl Fn(f64) -> f64) -> f64 {
        (0..600)
            .map(|number| {
                (clock.offset(7_000_000_000 + number * 100_000_000) - offset(number as f64 * 0.1)).abs()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn without_noise_a_drifting_clock_is_followed_exactly() {
        let truth = |seconds: f64| 5e6 + 3_000.0 * seconds;
        let clock = Clock::fitted(&observed(truth, 0.0, 0));
        assert!(worst(&clock, truth) < 1e-3, "{}", worst(&clock, truth));
        assert!(!clock.wanders);
    }

    #[test]
    fn noise_is_averaged_and_wild_observations_hardly_count() {
        let truth = |seconds: f64| -2e6 - 1_500.0 * seconds;
        for wild in [0, 20] {
            let clock = Clock::fitted(&observed(truth, 2_000.0, wild));
            assert!(worst(&clock, truth) < 700.0, "{wild}: {}", worst(&clock, truth));
            assert!(clock.noise_ns > 1_500.0 && clock.noise_ns < 3_000.0, "{}", clock.noise_ns);
        }
    }

    #[test]
    fn a_drift_that_wanders_is_followed() {
        let truth = |seconds: f64| 1e6 + 20_000.0 * (seconds / 12.0).sin();
        let clock = Clock::fitted(&observed(truth, 2_000.0, 0));
        assert!(clock.wanders);
        assert!(worst(&clock, truth) < 2_500.0, "{}", worst(&clock, truth));
    }

    #[test]
    fn offsets_at_many_times_are_those_at_each_in_any_order() {
        let clock = Clock::fitted(&observed(|seconds| 1e6 + 20_000.0 * (seconds / 12.0).sin(), 2_000.0, 0));
        assert_eq!(clock.moments().count(), 300);
        let mut random = Random::new(7);
        let mut offsets = clock.offsets();
        let mut at = 6_000_000_000;
        for _ in 0..2_000 {
            // Mostly the next moments, now and then another one: past several knots, back, before the first or behind the last.
            at = match random.below(20) {
                0 => 5_000_000_000 + random.below(70_000_000_000) as i64,
                1 => at - random.below(3_000_000_000) as i64,
                2 => clock.moments().nth(random.below(300)).unwrap(),
                _ => at + random.below(300_000_000) as i64,
            };
            assert_eq!(offsets.at(at), clock.offset(at), "at {at}");
        }
        assert_eq!(Clock::default().offsets().at(5), 0.0);
    }

    #[test]
    fn one_moment_gives_a_constant_and_none_gives_nothing() {
        assert_eq!(Clock::fitted(&[]).offset(5), 0.0);
        let twice = [Observation { at: 9, offset: 4.0 }; 2];
        assert_eq!(Clock::fitted(&twice).offset(1_000), 4.0);
    }

    #[test]
    fn beyond_the_observations_the_clock_goes_on_with_its_rate_and_is_less_sure() {
        let truth = |seconds: f64| 1_000.0 * seconds;
        let clock = Clock::fitted(&observed(truth, 100.0, 0));
        let (end, later) = (67_000_000_000, 127_000_000_000);
        assert!((clock.offset(later) - 120_000.0).abs() < 200.0);
        assert!(clock.evaluated(later).1 > clock.evaluated(end).1);
    }
}
