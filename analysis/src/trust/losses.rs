//! Records that the recorder lost, as it counted them.

use rtl_schema::Tables;

use super::reason::Reason;
use crate::overview;

pub(super) fn reason(tables: &Tables) -> Option<Reason> {
    let (lost, _) = overview::lost_and_skipped(&tables.info);
    let kept = tables.dispatches.len() + tables.copies.len() + tables.api_calls.len() + tables.ranges.len();
    let sentence = overview::loss_note(&tables.info)?;
    (lost > 0).then(|| Reason::missing("lost-records", lost, lost.saturating_add(kept as u64), sentence))
}
