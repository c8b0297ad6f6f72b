//! Kernels at the same time on one queue.

use rtl_schema::Dialect;

use super::evidence;
use super::reason::{Reason, Trust};
use crate::Analysis;
use crate::error::time;

/// From this part of the busy time. Kernels of a stream overlap by little where the next one is launched while the last blocks of the
/// one before it run, as CUDA does on request and libraries do on Hopper.
const MUCH: f64 = 0.05;

fn share(analysis: &Analysis<'_>) -> f64 {
    let sweep = analysis.sweep();
    let busy = sweep.gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.busy_ns));
    if busy == 0 { 0.0 } else { sweep.overlap_ns as f64 / busy as f64 }
}

/// Returns whether kernels of a stream overlap for longer than they do where this is ordinary.
pub(super) fn is_much(analysis: &Analysis<'_>) -> bool {
    let in_order = matches!(analysis.tables.info.dialect, Dialect::Kineto | Dialect::Nsys);
    in_order && share(analysis) >= MUCH
}

/// A remark where the queue may be one of HSA, which runs kernels beside each other.
pub(super) fn reason(analysis: &Analysis<'_>) -> Option<Reason> {
    let sweep = analysis.sweep();
    let rows = &sweep.overlaps;
    let (count, of) = (rows.count, analysis.tables.dispatches.len() as u64);
    let sentence = format!(
        "{count} of {of} dispatches start on a queue before the one before them has ended: for {} in all, {:.1} % of the busy time",
        time(sweep.overlap_ns),
        share(analysis) * 100.0,
    );
    let trust = if is_much(analysis) { Trust::Limited } else { Trust::Good };
    let reason =
        || Reason { evidence: evidence::rows(rows), trust, ..Reason::new("overlaps", count, of, sentence) };
    (count > 0).then(reason)
}
