//! Kernels at the same time on one queue.

use rtl_schema::Dialect;

use super::evidence;
use super::reason::{Reason, Trust};
use crate::Analysis;

/// From this part of the dispatches; rounding of times makes a few overlap.
const SOME: f64 = 0.01;

/// A remark where the queue may be one of HSA, which runs kernels beside each other.
pub(super) fn reason(analysis: &Analysis<'_>) -> Option<Reason> {
    let rows = &analysis.sweep().overlaps;
    let (count, of) = (rows.count, analysis.tables.dispatches.len() as u64);
    let sentence =
        format!("{count} of {of} dispatches start on a queue before the one before them has ended");
    let reason = || Reason { evidence: evidence::rows(rows), ..Reason::new("overlaps", count, of, sentence) };
    let in_order = matches!(analysis.tables.info.dialect, Dialect::Kineto | Dialect::Nsys);
    let weighed = |reason: Reason| match in_order {
        true => reason.remark_below(SOME),
        false => Reason { trust: Trust::Good, ..reason },
    };
    (count > 0).then(|| weighed(reason()))
}
