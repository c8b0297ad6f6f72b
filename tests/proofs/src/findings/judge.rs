//! Findings about traces whose lost time is known.

use rtl_analysis::combine::Combined;
use rtl_analysis::findings::{Finding, WORTH, findings};
use rtl_analysis::trust::Health;
use rtl_analysis::{Analysis, Categories};
use rtl_schema::Tables;

use crate::machine::run;
use crate::program::{Cause, Plan};

/// How far the stated cost may be from the true one, as a part of it.
const NEAR: f64 = 0.1;

/// A trace with a planted cause, and what was found in it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) plan: Plan,
    /// Cost of the cause, as a part of the wall time.
    pub(crate) share: f64,
    pub(crate) found: Vec<Finding>,
    /// True if the first finding states the cause; the next field says whether it states the cost.
    pub(crate) is_first: bool,
    pub(crate) cost_is_near: bool,
}

/// The next trace from `seed` on in which the cause costs enough for the short report.
pub(crate) fn planted(cause: Cause, seed: u64) -> Judged {
    (0..)
        .find_map(|attempt| {
            let plan = Plan::drawn(seed + attempt * 1_000_003, Some(cause));
            let (with, without) =
                (run(&plan.programs(true), plan.ranks > 1), run(&plan.programs(false), plan.ranks > 1));
            let cost = with.wall_ns - without.wall_ns;
            let share = cost / with.wall_ns;
            if share < WORTH {
                return None;
            }
            let found = reported(with.ranks);
            let first = found.first().filter(|first| first.id == cause.id());
            let cost_is_near = first.is_some_and(|first| (first.cost_ns as f64 - cost).abs() <= NEAR * cost);
            Some(Judged { is_first: first.is_some(), cost_is_near, plan, share, found })
        })
        .unwrap_or_else(|| unreachable!("draws never end"))
}

/// The findings in a trace without a cause.
pub(crate) fn healthy(seed: u64) -> Vec<Finding> {
    let plan = Plan::drawn(seed, None);
    reported(run(&plan.programs(true), plan.ranks > 1).ranks)
}

/// The findings of the short report on the traces of all ranks.
pub(crate) fn reported(ranks: Vec<Tables>) -> Vec<Finding> {
    let mut combined = Combined::default();
    ranks.into_iter().for_each(|rank| combined.append(rank));
    let tables = combined.into_tables();
    let analysis = Analysis::new(&tables, &Categories::default());
    let all = findings(&analysis, &Health::default()).findings;
    all.into_iter().filter(|finding| finding.share >= WORTH).collect()
}
