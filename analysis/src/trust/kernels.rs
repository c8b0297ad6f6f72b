//! Launches of kernels without a kernel.

use super::evidence;
use super::launched::Launched;
use super::reason::Reason;

/// Only in a trace that ties some launch to its kernel, or has no kernel: else it ties none.
pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let is_bare = |row: &&u32| launched.ops[**row as usize] == 0 && !launched.is_in_flight(**row);
    let bare = launched.kernels.iter().filter(is_bare);
    let (count, of) = (bare.clone().count() as u64, launched.kernels.len() as u64);
    if count == 0 || launched.tied == 0 || (count == of && !launched.tables.dispatches.is_empty()) {
        return None;
    }
    let sentence = format!("{count} of {of} kernel launches have no kernel on a GPU");
    let evidence = evidence::calls(launched.tables, bare.copied());
    Some(Reason { evidence, ..Reason::missing("kernels-missing", count, of, sentence) })
}
