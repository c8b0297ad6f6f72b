//! Work that was launched and not done when the recording ended: the host was ahead of the GPU, as it should be.

use super::evidence;
use super::launched::Launched;
use super::reason::{Reason, Trust};

pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let rows = launched.in_flight();
    let count = rows.len() as u64;
    let of = (launched.kernels.len() + launched.graphs.len()) as u64;
    let sentence = match count {
        1 => format!(
            "the work of 1 of {of} launches was queued when the recording ended, and is not in the trace"
        ),
        _ => format!(
            "the work of {count} of {of} launches was queued when the recording ended, and is not in the trace"
        ),
    };
    let evidence = evidence::calls(launched.tables, rows.into_iter());
    let reason = Reason { evidence, trust: Trust::Good, ..Reason::new("window-end", count, of, sentence) };
    (count > 0).then_some(reason)
}
