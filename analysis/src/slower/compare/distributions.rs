//! The normal and Student's distribution, and the functions beneath them.

use std::f64::consts::{PI, TAU};

/// ln of the gamma function for `x` > 0 (Stirling's series above 8, the recurrence below).
pub fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let series =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / x;
    (x - 0.5) * x.ln() - x + 0.5 * TAU.ln() + series - f64::ln(product)
}

/// The derivative of [`ln_gamma`].
pub fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 8.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let square = x * x;
    x.ln()
        - 0.5 / x
        - (1.0 / 12.0 - (1.0 / 120.0 - (1.0 / 252.0 - 1.0 / (240.0 * square)) / square) / square) / square
        - below
}

/// The derivative of [`digamma`].
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 8.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let square = x * x;
    let series = 1.0 / 6.0 - (1.0 / 30.0 - (1.0 / 42.0 - 1.0 / (30.0 * square)) / square) / square;
    below + 1.0 / x + 0.5 / square + series / (square * x)
}

/// Where [`trigamma`] is `y` > 0.
pub fn trigamma_inverse(y: f64) -> f64 {
    // Between 1/x and 1/x + 1/x^2 for every x, so both ends are known.
    let (mut low, mut high) = (1.0 / y, (1.0 + (1.0 + 4.0 * y).sqrt()) / (2.0 * y));
    (low, high) = (low * 0.5, high * 1.000_001);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if trigamma(middle) > y { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The chance that a normal value is below `z`.
pub fn normal_cdf(z: f64) -> f64 {
    let size = z.abs();
    if size > 9.0 {
        return if z < 0.0 { 0.0 } else { 1.0 };
    }
    let density = (-0.5 * z * z).exp() / TAU.sqrt();
    let tail = if size < 4.0 {
        // The series of the integral from 0 around the density.
        let (mut term, mut sum, mut odd) = (size, size, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= size * size / odd;
            sum += term;
        }
        0.5 - density * sum
    } else {
        // Laplace's continued fraction of the tail.
        let fraction = (1..=30).rev().fold(size, |inner, step| size + f64::from(step) / inner);
        density / fraction
    };
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// Below which value a normal one falls with chance `p`; `p` is brought between 1e-15 and 1 - 1e-15.
pub fn normal_quantile(p: f64) -> f64 {
    let p = p.clamp(1e-15, 1.0 - 1e-15);
    let tail = p.min(1.0 - p);
    // Hastings' approximation (Abramowitz and Stegun 26.2.23) and Newton's steps on the exact function.
    let t = (-2.0 * tail.ln()).sqrt();
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - top / bottom;
    for _ in 0..3 {
        let error = normal_cdf(-z) - tail;
        let slope = (-0.5 * z * z).exp() / TAU.sqrt();
        z += error / slope;
    }
    if p < 0.5 { -z } else { z }
}

/// The chance that a value of Student's distribution is above `t` >= 0.
fn student_tail(t: f64, freedom: f64) -> f64 {
    0.5 * incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5)
}

/// Below which value one of Student's distribution falls with chance `p`. Normal beyond a million degrees of freedom;
/// fewer than a tenth of a degree count as a tenth.
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    let freedom = if freedom.is_nan() { 0.1 } else { freedom.max(0.1) };
    if freedom > 1e6 {
        return normal_quantile(p);
    }
    let tail = p.min(1.0 - p).max(1e-15);
    if tail >= 0.5 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_tail(high, freedom) > tail && high < 1e150 {
        low = high;
        high *= 4.0;
    }
    // The tail is convex beyond its inflection; secant steps that fall outside are halved instead.
    let mut t = normal_quantile(1.0 - tail).clamp(low, high);
    for _ in 0..100 {
        let here = student_tail(t, freedom);
        if here > tail {
            low = t
        } else {
            high = t
        }
        let next = t + (here - tail) / student_density(t, freedom);
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - t).abs() <= 1e-12 * (1.0 + t) {
            break;
        }
        t = next;
    }
    if p < 0.5 { -t } else { t }
}

fn student_density(t: f64, freedom: f64) -> f64 {
    let scale = ln_gamma(0.5 * (freedom + 1.0)) - ln_gamma(0.5 * freedom) - 0.5 * (freedom * PI).ln();
    (scale - 0.5 * (freedom + 1.0) * (t * t / freedom).ln_1p()).exp()
}

/// The regularised incomplete beta function, by Lentz's evaluation of its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut ratio = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let (mut top, mut fraction) = (1.0, ratio);
    for step in 1..500 {
        let m = f64::from(step);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            ratio = 1.0 / away(1.0 + term * ratio);
            top = away(1.0 + term / top);
            fraction *= ratio * top;
        }
        if (ratio * top - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// The value that the sum of `freedom` squares of normal values exceeds as rarely as one normal value exceeds `z`
/// (Wilson and Hilferty 1931).
pub fn chi_square(z: f64, freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + z * part.sqrt()).max(0.0).powi(3)
}

/// The chance that a normal value is farther from 0 than `z`.
pub fn two_sided(z: f64) -> f64 {
    (2.0 * normal_cdf(-z.abs())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn tables_of_the_normal_distribution_hold() {
        near(normal_cdf(1.959_963_984_540_054), 0.975);
        near(normal_cdf(-5.0) * 1e7, 2.866_515_719);
        near(normal_quantile(0.999_9), 3.719_016_485_455_709);
        near(normal_quantile(0.5), 0.0);
        assert!(normal_quantile(0.0).is_finite() && normal_quantile(1.0).is_finite());
    }

    #[test]
    fn tables_of_students_distribution_hold() {
        for (p, freedom, expected) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 4.0, 2.776_445_105),
            (0.975, 8.0, 2.306_004_135),
            (0.999_5, 8.0, 5.041_305_434),
            (0.025, 18.0, -2.100_922_040),
            (0.975, 1e7, 1.959_963_985),
        ] {
            near(student_quantile(p, freedom), expected);
        }
        assert!(student_quantile(0.999, f64::NAN).is_finite());
        assert!(student_quantile(0.999_999, 0.0).is_finite());
    }

    #[test]
    fn gamma_and_its_derivatives_have_their_known_values() {
        near(ln_gamma(0.5), PI.sqrt().ln());
        near(ln_gamma(11.0), 3_628_800_f64.ln());
        near(digamma(1.0), -0.577_215_664_9);
        near(trigamma(1.0), PI * PI / 6.0);
        for x in [0.3, 1.0, 4.0, 250.0] {
            near(trigamma_inverse(trigamma(x)), x);
        }
    }

    #[test]
    fn the_upper_twentieth_of_four_squares_begins_at_nine_and_a_half() {
        assert!((chi_square(1.644_853_627, 4.0) - 9.488).abs() < 0.05);
    }
}
