//! Work that was launched before the recording began and ended inside it: it belongs to a step that is not there.

use super::launched::Launched;
use super::reason::Reason;

/// From this part of the ops totals are far from those of whole steps.
const MUCH: f64 = 0.1;

pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let tables = launched.tables;
    let of = (tables.dispatches.len() + tables.copies.len()) as u64;
    let count = launched.earlier;
    let sentence =
        format!("{count} of {of} ops were launched before the recording began: they belong to no whole step");
    (count > 0).then(|| Reason::new("window-start", count, of, sentence).remark_below(MUCH))
}
