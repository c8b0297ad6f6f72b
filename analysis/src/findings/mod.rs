//! Where GPU time is lost and why: each file looks for one cause.
//!
//! A finding states its cost: how much shorter the wall time would be without the cause, as far as the trace tells.
//! `docs/reference/findings.md` describes the rules. A new rule is a file with a function `findings` and an entry in
//! `RULES`.

mod activity;
mod advice;
mod alloc_in_loop;
mod before_first;
mod blocking_copy;
mod copies_alone;
mod drift;
mod exposed_comm;
mod finding;
mod first_call;
mod headline;
mod host_only;
mod idle_host;
mod idle_queued;
mod idle_sync;
mod idle_unknown;
mod imbalance;
mod inputs;
mod job;
mod launch_bound;
mod lost;
mod place;
mod rhythm;
mod self_check;
mod slow_step;
mod small_ops;
mod straggler;
mod tail_kernel;
mod untrustworthy;
mod waiting;
mod words;

pub use self::before_first::BeforeFirst;
pub use self::finding::{Finding, LEAST, WORTH};
pub use self::headline::Headline;
pub use self::host_only::{HostOnly, RECORD_THE_GPU};
use self::inputs::Inputs;
pub use self::slow_step::SlowStep;
use crate::Analysis;
use crate::trust::Health;

type Rule = fn(&Inputs<'_>) -> Vec<Finding>;

/// All rules. Of findings with equal costs the first rule's comes first.
const RULES: [Rule; 15] = [
    straggler::findings,
    imbalance::findings,
    waiting::findings,
    exposed_comm::findings,
    first_call::findings,
    blocking_copy::findings,
    copies_alone::findings,
    alloc_in_loop::findings,
    idle_sync::findings,
    of_host,
    idle_queued::findings,
    small_ops::findings,
    idle_unknown::findings,
    drift::findings,
    |inputs| tail_kernel::finding(inputs).into_iter().collect(),
];

/// The findings on the host: other things that it does instead of launching, and its pace where that is too slow.
fn of_host(inputs: &Inputs<'_>) -> Vec<Finding> {
    let (mut findings, pace) = idle_host::findings(inputs);
    findings.extend(launch_bound::finding(inputs, &pace));
    findings
}

/// Where the time went, and where it was lost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// The time of the GPUs.
    pub headline: Headline,
    /// All findings from [`LEAST`] of the wall time, in the order of what all GPUs lose together, most first.
    pub findings: Vec<Finding>,
}

/// Applies every rule. `health` is that of the trace.
#[must_use]
pub fn findings(analysis: &Analysis<'_>, health: &Health) -> Findings {
    let inputs = Inputs::of(analysis, health);
    let mut findings: Vec<Finding> =
        RULES.iter().flat_map(|rule| rule(&inputs)).filter(|finding| finding.share >= LEAST).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.total_ns));
    let mut findings = self_check::keep_consistent(&inputs, findings);
    findings.splice(..0, untrustworthy::finding(&inputs, health));
    Findings { headline: Headline::of(&inputs, health), findings }
}
