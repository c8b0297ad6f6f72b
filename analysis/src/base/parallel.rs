//! How rows are divided among threads.

use std::ops::Range;

/// Fewer rows are not worth a second thread; starting one costs as much as a small report.
pub(crate) const LEAST_ROWS: usize = 200_000;

/// The least number of rows of a group in a part, on average.
const ROWS_OF_GROUP: usize = 16;

/// Batches of small items for each thread.
const BATCHES: usize = 2;

/// The size of a batch of small items: one item takes less time than handing it to a thread.
pub(crate) fn batch(items: usize) -> usize {
    items.div_ceil(BATCHES * threads::limit()).max(1)
}

/// The number of equal parts that rows are divided into: one for each thread, or one of few rows.
pub(crate) fn shares(rows: usize) -> usize {
    if rows > LEAST_ROWS { threads::limit() } else { 1 }
}

/// Returns whether the figures of this number of groups take about as much memory as the rows.
pub(crate) fn are_many(groups: usize, rows: usize) -> bool {
    groups * ROWS_OF_GROUP > rows
}

/// The rows of each part, in order. Results must not depend on how many there are.
pub(crate) fn stretches(rows: usize) -> impl Iterator<Item = Range<usize>> {
    stretches_of_groups(rows, 0)
}

/// As [`stretches`], in fewer parts where a figure of each part for each of `groups` would take more memory than rows.
pub(crate) fn stretches_of_groups(rows: usize, groups: usize) -> impl Iterator<Item = Range<usize>> {
    let most = rows.checked_div(groups * ROWS_OF_GROUP).unwrap_or(rows).max(1);
    let length = rows.div_ceil(shares(rows).min(most)).max(1);
    (0..rows.max(1)).step_by(length).map(move |begin| begin..rows.min(begin + length))
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    #[test]
    fn rows_of_many_groups_have_few_parts() {
        threads::set_limit(NonZero::new(8).unwrap());
        let parts = |groups| stretches_of_groups(960_000, groups).count();
        assert_eq!([parts(0), parts(100), parts(20_000), parts(900_000)], [8, 8, 3, 1]);
    }

    #[test]
    fn stretches_are_all_rows_once_in_order() {
        for threads in [1, 2, 5, 16] {
            threads::set_limit(NonZero::new(threads).unwrap());
            for rows in [0, 1, LEAST_ROWS, LEAST_ROWS + 1, LEAST_ROWS + 7] {
                let all: Vec<Range<usize>> = stretches(rows).collect();
                assert!(all.iter().cloned().flatten().eq(0..rows), "{rows} rows, {threads} threads");
                assert_eq!(all.len(), if rows > LEAST_ROWS { threads } else { 1 });
            }
        }
    }
}
