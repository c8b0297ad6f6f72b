//! Which ranks share a file: each has its own in runs of few ranks, because tens of thousands of small files are slow everywhere.

use std::ops::RangeInclusive;

pub(crate) const FILE: &str = "part-0.parquet";

/// When the ranks of a table share files.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    /// Ranks up to which each has a file of its own.
    pub own: usize,
    /// Rows of a file where ranks share files, on average at least.
    pub rows: u64,
}

/// A thousand files, or 64 MB each at 5 bytes a row.
impl Default for Packing {
    fn default() -> Self {
        Self { own: 1_000, rows: 12_800_000 }
    }
}

/// The bucket of rows without a rank. Hive's name for a missing value would be null in that folder alone, which pandas and Dask
/// refuse.
const NO_RANK: i64 = -1;

/// The ranks of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    first: i64,
    width: u64,
}

impl Bucket {
    pub fn of(rank: Option<i64>, width: u64) -> Self {
        let first = |rank: i64| rank - rank.rem_euclid(width.cast_signed());
        rank.map_or(Self { first: NO_RANK, width: 1 }, |rank| Self { first: first(rank), width })
    }

    /// Reads the name of a folder.
    pub(crate) fn of_folder(name: &str, width: u64) -> Option<Self> {
        let first = name.strip_prefix("bucket=")?.parse().ok()?;
        Some(Self { first, width: if first == NO_RANK { 1 } else { width } })
    }

    /// The folder has the name of the first rank.
    pub(crate) fn folder(&self) -> String {
        format!("bucket={}", self.first)
    }

    pub fn has_any(&self, ranks: &RangeInclusive<i64>) -> bool {
        let last = self.first.saturating_add_unsigned(self.width.saturating_sub(1));
        self.first.max(0).max(*ranks.start()) <= last.min(*ranks.end())
    }
}

impl Packing {
    /// The number of ranks of a bucket, a power of two: 1 unless there are many ranks, else the least with which files are large,
    /// or all ranks are in one. `ranks` ascend; `rows` is how many rows they have together.
    pub(crate) fn width(&self, ranks: &[i64], rows: u64) -> u64 {
        let files = if ranks.len() <= self.own { u64::MAX } else { (rows / self.rows).max(1) };
        let buckets = |width: &u64| {
            let bucket = |rank: &i64| Bucket::of(Some(*rank), *width);
            ranks.chunk_by(|one, next| bucket(one) == bucket(next)).count() as u64
        };
        (0..u32::BITS).map(|power| 1 << power).find(|width| buckets(width) <= files).unwrap_or(1 << u32::BITS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn ranks(below: u32) -> impl Strategy<Value = BTreeSet<u32>> {
        prop::collection::btree_set(0..below, 0..1_500)
    }

    proptest! {
        #[test]
        fn every_rank_is_in_one_bucket(
            ranks in prop_oneof![ranks(4_000), ranks(u32::MAX)],
            rows in 0..100 * Packing::default().rows,
        ) {
            let ranks: Vec<i64> = ranks.into_iter().map(i64::from).collect();
            let packing = Packing::default();
            let width = packing.width(&ranks, rows);
            let mut buckets: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for &rank in &ranks {
                buckets.entry(Bucket::of(Some(rank), width).folder()).or_default().push(rank);
            }
            for (folder, own) in &buckets {
                let bucket = Bucket::of_folder(folder, width).unwrap();
                let found: Vec<i64> = ranks.iter().copied().filter(|&rank| bucket.has_any(&(rank..=rank))).collect();
                prop_assert_eq!(&found, own);
                prop_assert!(!bucket.has_any(&(NO_RANK..=NO_RANK)));
            }
            prop_assert!(width.is_power_of_two());
            if ranks.len() <= packing.own {
                prop_assert_eq!(buckets.len(), ranks.len());
            } else {
                prop_assert!(buckets.len() == 1 || rows / buckets.len() as u64 >= packing.rows);
            }
        }
    }

    #[test]
    fn a_bucket_has_no_more_ranks_than_a_large_file_needs() {
        let (packing, ranks) = (Packing::default(), (0..1_024).collect::<Vec<i64>>());
        for (files, expected) in [(0, 1_024), (1, 1_024), (2, 512), (3, 512), (1_024, 1)] {
            let rows = files * packing.rows;
            assert_eq!(packing.width(&ranks, rows), expected, "{rows}");
        }
        assert_eq!(packing.width(&ranks[..1_000], 0), 1);
        assert_eq!(packing.width(&[], 0), 1);
    }

    #[test]
    fn a_bucket_has_the_ranks_of_a_range_that_meets_it() {
        let bucket = Bucket::of(Some(5), 4);
        for ranks in [4..=4, 7..=7, 0..=4, 7..=9, 5..=6, i64::MIN..=i64::MAX] {
            assert!(bucket.has_any(&ranks), "{ranks:?}");
        }
        for ranks in [0..=3, 8..=8, 8..=i64::MAX, i64::MIN..=-1, RangeInclusive::new(7, 4)] {
            assert!(!bucket.has_any(&ranks), "{ranks:?}");
        }
    }

    #[test]
    fn rows_without_a_rank_have_a_bucket_of_their_own() {
        let without = Bucket::of(None, 512);
        assert_eq!(without.folder(), "bucket=-1");
        assert_eq!(Bucket::of_folder("bucket=-1", 512), Some(without));
        assert!(!without.has_any(&(i64::MIN..=i64::MAX)));
        assert!(without < Bucket::of(Some(0), 512));
        assert_eq!(Bucket::of_folder("rank=0", 1), None);
    }
}
