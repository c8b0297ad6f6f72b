//! Gaps as they are met: buckets, and the longest few.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{BUCKETS, Bucket};

/// An op: its row, and whether it is a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Op {
    pub(super) copy: bool,
    pub(super) row: u32,
}

/// A gap between two ops; the order is that of reports reversed: the least interesting is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) length: Reverse<u64>,
    pub(super) start: u64,
    pub(super) before: Op,
    pub(super) after: Op,
}

/// The gaps of one GPU.
#[derive(Debug)]
pub(super) struct Gaps {
    counts: [u64; BUCKETS.len()],
    totals: [u64; BUCKETS.len()],
    longest: BinaryHeap<Found>,
    keep: usize,
}

impl Gaps {
    pub(super) fn keeping(keep: usize) -> Self {
        Self { counts: [0; 8], totals: [0; 8], longest: BinaryHeap::new(), keep }
    }

    /// Counts a gap and says whether it is one of the longest so far.
    #[inline]
    pub(super) fn count(&mut self, length: u64) -> bool {
        let mut bucket = 0;
        while bucket + 1 < BUCKETS.len() && length >= BUCKETS[bucket + 1] as u64 {
            bucket += 1;
        }
        self.counts[bucket] += 1;
        self.totals[bucket] += length;
        self.longest.len() < self.keep || self.longest.peek().is_some_and(|found| length > found.length.0)
    }

    /// Keeps one of the longest.
    pub(super) fn remember(&mut self, found: Found) {
        self.longest.push(found);
        if self.longest.len() > self.keep {
            self.longest.pop();
        }
    }

    pub(super) fn finish(self) -> (Vec<Bucket>, Vec<Found>) {
        let buckets = (0..BUCKETS.len())
            .map(|bucket| Bucket {
                from_ns: BUCKETS[bucket],
                below_ns: BUCKETS.get(bucket + 1).copied(),
                count: self.counts[bucket],
                total_ns: i64::try_from(self.totals[bucket]).unwrap_or(i64::MAX),
            })
            .collect();
        (buckets, self.longest.into_sorted_vec())
    }
}
