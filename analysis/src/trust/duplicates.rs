//! Dispatches that are there twice: every sum counts them twice.

use super::evidence;
use super::reason::Reason;
use crate::Analysis;

pub(super) fn reason(analysis: &Analysis<'_>) -> Option<Reason> {
    let rows = &analysis.sweep().duplicates;
    let (count, of) = (rows.count, analysis.tables.dispatches.len() as u64);
    let sentence = format!("{count} of {of} dispatches repeat another one");
    let reason = || Reason::missing("duplicates", count, of, sentence);
    (count > 0).then(|| Reason { evidence: evidence::rows(rows), ..reason() })
}
