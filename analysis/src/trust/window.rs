//! Work that was launched before the recording began and ended inside it: it belongs to a step that is not there.

use super::launched::Launched;
use super::reason::Reason;

/// The work of a step or two before the recording is in each trace of a GPU that the host is ahead of; from this part of the ops it is
/// what the trace is about.
const MOST: f64 = 0.5;

pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let tables = launched.tables;
    let of = (tables.dispatches.len() + tables.copies.len()) as u64;
    let count = launched.earlier;
    let sentence =
        format!("{count} of {of} ops were launched before the recording began: they belong to no whole step");
    (count > 0).then(|| Reason::new("window-start", count, of, sentence).remark_below(MOST))
}
