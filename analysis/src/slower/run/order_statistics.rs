//! The k-th smallest of many durations, several at once.

/// The values at `positions` (ascending, below the length) of the sorted `durations`.
pub(super) fn at<const N: usize>(durations: &[i64], positions: [usize; N]) -> [i64; N] {
    let mut durations = durations.to_vec();
    let mut values = &mut *durations;
    let mut found = [0; N];
    let mut beyond = None;
    // Whatever was selected stands between what is smaller and what is larger, so each step looks at less.
    for (found, position) in found.iter_mut().zip(positions).rev() {
        if let Some((at, value)) = beyond
            && at == position
        {
            *found = value;
            continue;
        }
        let (below, &mut value, _) = values.select_nth_unstable(position);
        *found = value;
        beyond = Some((position, value));
        values = below;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_those_of_sorting(
            durations in prop::collection::vec(prop_oneof![0_i64..400, 10_000_i64..20_000, 0..=i64::MAX], 1..100),
            copies in 1_usize..40,
            places in prop::array::uniform4(0.0..1.0_f64),
        ) {
            let durations = durations.repeat(copies);
            let mut sorted = durations.clone();
            sorted.sort_unstable();
            let mut positions = places.map(|place| (place * sorted.len() as f64) as usize);
            positions.sort_unstable();
            prop_assert_eq!(at(&durations, positions), positions.map(|position| sorted[position]));
        }
    }
}
