//! Records that the recorder lost, as it counted them.

use rtl_schema::{Tables, TraceInfo};

use super::reason::Reason;
use crate::trace::overview;

pub(super) fn reason(tables: &Tables) -> Option<Reason> {
    let kept = tables.dispatches.len() + tables.copies.len() + tables.api_calls.len() + tables.ranges.len();
    of_counts(&tables.info, kept as u64)
}

/// Returns the reason where a recorder that kept this number of records says that it lost some.
pub(super) fn of_counts(info: &TraceInfo, kept: u64) -> Option<Reason> {
    let lost = lost(info);
    let sentence = overview::loss_note(info)?;
    (lost > 0).then(|| Reason::missing("lost-records", lost, lost.saturating_add(kept), sentence))
}

pub(super) fn lost(info: &TraceInfo) -> u64 {
    overview::lost_and_skipped(info).0
}
