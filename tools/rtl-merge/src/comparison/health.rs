//! The verdict on the figures of a job.

use rtl_analysis::trust::{self, Health};

use super::imbalance::Imbalance;
use super::waits::Waits;
use crate::read::Input;

/// The verdict on all traces, and on how long their ranks waited for each other.
pub(crate) fn of_job(inputs: &[Input], waits: &Waits, imbalance: &Imbalance) -> Health {
    let parts: Vec<Health> = inputs.iter().map(|input| input.health.clone()).collect();
    let positive = |time: i64| time.max(0).unsigned_abs();
    let waited: u64 = waits.by_member.iter().map(|&(wait_ns, _)| positive(wait_ns)).sum();
    let busy: Option<u64> = imbalance.ranks.iter().map(|rank| rank.busy_ns.map(positive)).sum();
    trust::of_job(&parts, busy.filter(|_| !waits.groups.is_empty()).map(|busy| (waited, busy)))
}

/// The rules that some of these traces was not examined by.
pub(crate) fn unexamined(
    traces: impl IntoIterator<Item = &'static [&'static str]>,
) -> &'static [&'static str] {
    traces.into_iter().max_by_key(|rules| rules.len()).unwrap_or_default()
}
