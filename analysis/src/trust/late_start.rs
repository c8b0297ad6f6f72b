//! The first op starts long after its launch: the GPU was busy with work that was not recorded.

use super::evidence;
use super::launched::Launched;
use super::reason::{Reason, Trust};
use crate::error::time;

/// An idle GPU starts an op sooner, in ns.
const LONG: i64 = 1_000_000;

/// No queue is this long, in ns: the clocks of GPU and host do not agree.
const APART: i64 = 60_000_000_000;

pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let tables = launched.tables;
    let (start, call) = launched.first_op?;
    let row = call? as usize;
    let calls = &tables.api_calls;
    let returned = calls.start[row].saturating_add(calls.duration.valid(row).unwrap_or(0));
    let late = start.saturating_sub(returned);
    let sentence = format!(
        "the first op starts {} after its launch: the GPU was busy before with work that is not in the trace",
        time(late)
    );
    let evidence = || evidence::calls(tables, std::iter::once(row as u32));
    let reason = Reason::new("late-start", late.unsigned_abs(), 0, sentence);
    let remark = || Reason { evidence: evidence(), trust: Trust::Good, ..reason };
    if !(LONG..APART).contains(&late) {
        return None;
    }
    // The work had been launched before the recording began: it ran until then, and no shorter after that.
    let begin = calls.start.iter().min()?;
    (late >= returned.saturating_sub(*begin)).then(remark)
}
