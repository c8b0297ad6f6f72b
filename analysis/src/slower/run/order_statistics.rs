//! The k-th smallest of many durations, several at once.

/// Below this many values selecting among all of them is faster than counting them first.
const MANY: usize = 1 << 10;
/// Values that agree in their leading seven bits share a bucket, so that none is wider than 1 in 64.
const BITS: u32 = 6;
/// As many as there are positive numbers of 63 bits, by their leading bits.
const BUCKETS: usize = (64 - BITS as usize) << BITS;

/// Where a duration is counted: durations in ascending order have ascending buckets.
#[inline]
fn bucket(duration: i64) -> usize {
    let duration = duration.max(0) as u64;
    let dropped = (63 - (duration | 1).leading_zeros()).saturating_sub(BITS);
    ((dropped as usize) << BITS) + (duration >> dropped) as usize
}

/// The values at `positions` (ascending, below the length) of the sorted `durations`, none of them negative.
pub(super) fn at<const N: usize>(durations: &[i64], positions: [usize; N]) -> [i64; N] {
    if durations.len() < MANY {
        return selected(&mut durations.to_vec(), positions);
    }
    let mut counts = vec![0_u32; BUCKETS];
    for &duration in durations {
        counts[bucket(duration)] += 1;
    }
    // Only the buckets of the wanted positions matter, and where those lie in what these buckets hold.
    let mut wanted = vec![false; BUCKETS];
    let mut among = positions;
    let (mut below, mut left_out, mut next) = (0, 0, 0);
    for (bucket, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        let count = count as usize;
        while next < N && positions[next] < below + count {
            wanted[bucket] = true;
            among[next] -= left_out;
            next += 1;
        }
        if !wanted[bucket] {
            left_out += count;
        }
        below += count;
    }
    let mut held = Vec::with_capacity(durations.len() - left_out);
    held.extend(durations.iter().copied().filter(|&duration| wanted[bucket(duration)]));
    selected(&mut held, among)
}

/// Whatever was selected stands between what is smaller and what is larger, so each step looks at less.
fn selected<const N: usize>(mut values: &mut [i64], positions: [usize; N]) -> [i64; N] {
    let mut found = [0; N];
    let mut beyond = None;
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

    #[test]
    fn buckets_ascend_with_durations_and_the_longest_has_one() {
        let steps: Vec<i64> = (2..62).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]).collect();
        assert!(steps.is_sorted() && steps.is_sorted_by_key(|&duration| bucket(duration)));
        assert!(bucket(i64::MAX) < BUCKETS);
        assert_eq!([0, 1, 127, 128, 129, 130].map(bucket), [0, 1, 127, 128, 128, 129]);
    }
}
