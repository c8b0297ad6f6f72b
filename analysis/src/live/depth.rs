//! The mean queue depth of a GPU whose ops come in any order.

use crate::launches::queued_since;

/// How long the ops of one GPU waited and ran.
#[derive(Debug, Clone, Default)]
pub(super) struct MeanDepth {
    /// Ops times ns, from when they were queued.
    sum: u128,
    /// When ops were queued before the first start so far; what lies before the first start does not count.
    early: Vec<i64>,
    /// The first start and the last end in ns.
    span: Option<(i64, i64)>,
    /// Ops with a recorded moment.
    known: u64,
}

impl MeanDepth {
    /// Adds an op. One of which it is unknown when it was enqueued counts while it runs.
    pub(super) fn add(&mut self, start: i64, end: i64, enqueued: Option<i64>) {
        let from = queued_since(start, enqueued, None).unwrap_or(start);
        self.known += u64::from(enqueued.is_some());
        self.sum += u128::from(end.wrapping_sub(from) as u64);
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
        if start < first {
            self.early.retain(|&queued| queued < start);
        }
        if from < first.min(start) {
            self.early.push(from);
        }
    }

    /// The mean from the first start to the last end; `None` if no moment was recorded.
    pub(super) fn mean(&self) -> Option<f64> {
        let (first, last) = self.span.filter(|_| self.known > 0)?;
        let before: u128 = self.early.iter().map(|&from| u128::from(first.wrapping_sub(from) as u64)).sum();
        let wall = last.wrapping_sub(first) as u64;
        Some(if wall == 0 { 0.0 } else { (self.sum - before) as f64 / wall as f64 })
    }
}
