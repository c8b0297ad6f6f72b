//! Where GPU time is lost and why: each file looks for one cause.
//!
//! A finding states its cost: how much shorter the wall time would be without the cause, as far as the trace tells.
//! `docs/reference/findings.md` describes the rules. A new rule is a file with a function `finding` and an entry in
//! `RULES`.

mod alloc_in_loop;
mod blocking_copy;
mod exposed_comm;
mod finding;
mod first_call;
mod first_calls;
mod headline;
mod idle;
mod idle_host;
mod idle_queued;
mod idle_sync;
mod idle_unknown;
mod imbalance;
mod inputs;
mod launch_bound;
mod straggler;
mod tail_kernel;
mod untrustworthy;
mod words;

pub use self::finding::Finding;
pub use self::headline::Headline;
use self::inputs::Inputs;
use crate::Analysis;
use crate::trust::Health;

/// The short report leaves out findings that cost less of the wall time.
pub const WORTH: f64 = 0.03;

/// No report has findings that cost less of the wall time.
pub const LEAST: f64 = 0.01;

type Rule = fn(&Inputs<'_>) -> Option<Finding>;

/// All rules. Of findings with equal costs the first rule's comes first.
const RULES: [Rule; 12] = [
    straggler::finding,
    imbalance::finding,
    exposed_comm::finding,
    first_call::finding,
    blocking_copy::finding,
    alloc_in_loop::finding,
    idle_sync::finding,
    idle_host::finding,
    launch_bound::finding,
    idle_queued::finding,
    idle_unknown::finding,
    tail_kernel::finding,
];

/// Where the time went, and where it was lost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// The time of the GPUs.
    pub headline: Headline,
    /// All findings from [`LEAST`] of the wall time, most cost first.
    pub findings: Vec<Finding>,
}

/// Applies every rule. `health` is that of the trace.
#[must_use]
pub fn findings(analysis: &Analysis<'_>, health: &Health) -> Findings {
    let inputs = Inputs::of(analysis);
    let mut findings: Vec<Finding> =
        RULES.iter().filter_map(|rule| rule(&inputs)).filter(|finding| finding.share >= LEAST).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.cost_ns));
    findings.splice(..0, untrustworthy::finding(health));
    Findings { headline: Headline::of(&inputs), findings }
}
