//! The shape of a set of durations, in a few bars.

/// The number of bars.
pub const BARS: usize = 8;

/// The durations between the shortest and the longest, in [`BARS`] steps of equal ratio: kernels of one name that run on
/// several problem sizes differ by factors. Each bar is 1 to 8 eighths of the highest, 0 only without a duration.
pub(crate) fn bars(short: &[u32], long: &[i64], (least, most): (i64, i64)) -> [u8; BARS] {
    let mut beyond = [0_u64; BARS + 1];
    beyond[0] = (short.len() + long.len()) as u64;
    // Equal durations are all the shortest.
    let steps = if most > least { &mut beyond[1..BARS] } else { &mut [] };
    let least = least.max(1) as f64;
    let ratio = (most as f64 / least).max(1.0).powf(1.0 / BARS as f64);
    for (step, count) in steps.iter_mut().enumerate() {
        let edge = (least * ratio.powi(step as i32 + 1)).ceil() as i64;
        let of_short = u32::try_from(edge).map_or(0, |edge| count_from(short, edge));
        *count = of_short + long.iter().filter(|&&length| length >= edge).count() as u64;
    }
    let counts: [u64; BARS] = std::array::from_fn(|bar| beyond[bar].saturating_sub(beyond[bar + 1]));
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    counts.map(|count| (count as f64 / highest as f64 * 8.0).ceil() as u8)
}

/// How many of the durations are at least as long. The count of a part fits four bytes, so that the compiler compares and adds four
/// durations at once.
fn count_from(short: &[u32], edge: u32) -> u64 {
    let of_part = |part: &[u32]| part.iter().map(|&length| u32::from(length >= edge)).sum::<u32>();
    short.chunks(1 << 12).map(|part| u64::from(of_part(part))).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_have_equal_ratios() {
        // Each step doubles.
        let durations = [100, 150, 200, 399, 1_600, 25_600];
        assert_eq!(bars(&durations, &[], (100, 25_600)), [8, 8, 0, 0, 4, 0, 0, 4]);
        let long = [u32::MAX as i64 * 8];
        assert_eq!(bars(&[7, 7, 7], &long, (7, long[0]))[0], 8);
    }

    #[test]
    fn few_calls_are_not_lost_beside_many() {
        let mut durations = vec![100; 10_000];
        durations.push(1_000);
        assert_eq!(bars(&durations, &[], (100, 1_000)), [8, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn equal_durations_are_one_bar() {
        assert_eq!(bars(&[5, 5], &[], (5, 5)), [8, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bars(&[0, 0], &[], (0, 0)), [8, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bars(&[], &[], (0, 0)), [0; BARS]);
    }

    proptest! {
        #[test]
        fn every_duration_is_in_the_step_of_its_logarithm(
            durations in prop::collection::vec(1_u32..1_000_000, 1..200),
        ) {
            let [least, most] = [durations.iter().min(), durations.iter().max()].map(|d| *d.unwrap());
            let mut counts = [0_u64; BARS];
            let span = (f64::from(most) / f64::from(least)).ln();
            let mut is_clear = span > 1e-3;
            for &duration in &durations {
                let step = (f64::from(duration) / f64::from(least)).ln() / span * BARS as f64;
                // An edge may round to either side.
                is_clear &= (step - step.round()).abs() > 1e-6 || duration == least || duration == most;
                counts[(step.max(0.0) as usize).min(BARS - 1)] += 1;
            }
            let highest = *counts.iter().max().unwrap() as f64;
            let expected = counts.map(|count| (count as f64 / highest * 8.0).ceil() as u8);
            let found = bars(&durations, &[], (i64::from(least), i64::from(most)));
            prop_assert!(!is_clear || found == expected, "{found:?} {expected:?}");
        }
    }
}
