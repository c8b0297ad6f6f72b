//! Sorting of few items: GPUs, causes, findings. The sort of slices is faster, and is for what may be as many as kernels, names or ops.

use std::cmp::Ordering;

/// As `sort_by` of slices. All types share one copy of the sort, which would take longer to compile for each than it ever takes
/// to run.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    for (one, other) in swaps(items.len(), &|one, other| compare(&items[one], &items[other])) {
        items.swap(one, other);
    }
}

/// As `sort_by_key` of slices, in the same way.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// The swaps that bring items into order, of which `compare` compares the two at these places.
fn swaps(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&one, &other| compare(one, other));
    let mut swaps = Vec::new();
    for start in 0..length {
        // One cycle of the permutation.
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start {
                break;
            }
            swaps.push((at, from));
            at = from;
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sorted_as_slices_sort_them() {
        for length in 0..40_u64 {
            let items: Vec<(u64, u64)> = (0..length).map(|place| (place * place * 7 % 11, place)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let mut sorted = items;
            sort_by_key(&mut sorted, |item| item.0);
            assert_eq!(sorted, expected);
        }
    }
}
