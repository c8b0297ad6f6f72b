//! The gaps of one GPU: counts by length, and the longest few.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtl_schema::Tables;

use super::types::{BUCKETS, Bucket, Gap, Gpu};
use crate::base::ops::Op;
use crate::base::union_length::to_ns;

/// A gap between two ops. The order is that of reports reversed, so that the heap drops the least interesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LongGap {
    pub(super) length: Reverse<u64>,
    /// ns after the first start on its GPU.
    pub(super) start: u64,
    pub(super) before: Op,
    pub(crate) after: Op,
}

impl LongGap {
    /// Start and length in ns.
    pub(crate) fn times(&self, gpu: &Gpu) -> (i64, i64) {
        (gpu.start_ns.saturating_add_unsigned(self.start), to_ns(self.length.0))
    }

    pub(super) fn of_gpu(&self, tables: &Tables, gpu: &Gpu) -> Gap {
        let (start_ns, duration_ns) = self.times(gpu);
        Gap {
            gpu: gpu.gpu,
            label: gpu.label.clone(),
            start_ns,
            duration_ns,
            before: self.before.name(tables).to_owned(),
            after: self.after.name(tables).to_owned(),
            cause: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Gaps {
    counts: [u64; BUCKETS.len()],
    totals: [u64; BUCKETS.len()],
    longest: BinaryHeap<LongGap>,
    keep: usize,
}

impl Gaps {
    pub(super) fn keeping(keep: usize) -> Self {
        Self { counts: [0; 8], totals: [0; 8], longest: BinaryHeap::new(), keep }
    }

    /// Counts a gap; returns whether it is one of the longest so far.
    #[inline]
    pub(super) fn count(&mut self, length: u64) -> bool {
        let mut bucket = 0;
        while bucket + 1 < BUCKETS.len() && length >= BUCKETS[bucket + 1] as u64 {
            bucket += 1;
        }
        self.counts[bucket] += 1;
        self.totals[bucket] += length;
        self.longest.len() < self.keep || self.longest.peek().is_some_and(|least| length > least.length.0)
    }

    pub(super) fn push(&mut self, gap: LongGap) {
        self.longest.push(gap);
        if self.longest.len() > self.keep {
            self.longest.pop();
        }
    }

    pub(super) fn finish(self) -> (Vec<Bucket>, Vec<LongGap>) {
        let buckets = (0..BUCKETS.len())
            .map(|bucket| Bucket {
                from_ns: BUCKETS[bucket],
                below_ns: BUCKETS.get(bucket + 1).copied(),
                count: self.counts[bucket],
                total_ns: to_ns(self.totals[bucket]),
            })
            .collect();
        (buckets, self.longest.into_sorted_vec())
    }
}
