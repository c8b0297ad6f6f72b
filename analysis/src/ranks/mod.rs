//! Ranks compared: waits in collectives, steps, and kernels that are slower on some ranks.
//!
//! [`collectives`] matches collectives and computes waits, [`steps`] and [`kernels`] compare ranks, [`outliers`] finds
//! ranks far from the others; [`crate::Analysis::ranks`] does all of it for a trace in memory, `streaming` reduces a trace
//! in chunks to the inputs of these functions.

pub mod align;
pub(crate) mod arrivals;
pub mod bandwidth;
mod busy;
pub mod collective_sizes;
pub mod collectives;
mod exposed;
pub mod kernels;
pub mod members;
pub(crate) mod needs;
pub mod outliers;
pub mod steps;
pub mod streaming;

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

pub use self::bandwidth::{Bandwidth, Timing};
use self::busy::Busy;
pub use self::collectives::CollectiveGroup;
use self::collectives::Collectives;
pub use self::kernels::KernelImbalance;
use self::members::{Member, Members};
pub(crate) use self::needs::{Need, Needs};
use self::outliers::RankValues;
pub use self::outliers::{Outlier, Quantity};
pub use self::steps::{StepMethod, Steps};
use crate::base::ops::Order;
use crate::gpu_time::ranges::Methods;
use crate::names::kernel_names::KernelNames;
use crate::ranks::align::RankWaits;

/// One rank: a GPU that a process ran something on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Rank {
    /// `rank 3`, with the GPU where the process uses several; what is known of the process where it has no rank.
    pub name: String,
    /// Number of the rank in the job, where it has one.
    pub rank: Option<u32>,
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// First start to last end in ns.
    #[serde(default)]
    pub wall_ns: i64,
    /// The union of its ops in ns.
    pub busy_ns: i64,
    /// The union of its ops that are no collectives in ns: its own work.
    pub compute_ns: i64,
    /// Collectives that it was in and that were matched with those of other ranks.
    pub collectives: u64,
    /// The number of matched collectives whose members are on one clock. The next four are about these, and unknown without
    /// any.
    pub timed_collectives: u64,
    /// ns that it waited for later ones.
    pub wait_ns: Option<i64>,
    /// ns that were left of its duration when the last one had come.
    pub transfer_ns: Option<i64>,
    /// ns that the others would not have waited had it come when the last but one did.
    pub delay_ns: Option<i64>,
    /// How often it came last.
    pub last: Option<u64>,
    /// Wait in ns, computed without clocks.
    pub clock_free_wait_ns: i64,
    /// Part of that in which nothing but collectives ran on its GPU, in ns.
    #[serde(default)]
    pub exposed_wait_ns: i64,
    /// Transfer in ns, computed without clocks.
    pub clock_free_transfer_ns: i64,
    /// Number of last arrivals, computed without clocks.
    pub clock_free_last: u64,
}

/// The comparison of ranks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ranks {
    /// Ordered by number, then by process and GPU.
    pub ranks: Vec<Rank>,
    /// The collectives of each group of ranks, most time first.
    pub collectives: Vec<CollectiveGroup>,
    /// The bandwidth of collectives whose sizes the trace states, by operation, communicator and size.
    #[serde(default)]
    pub bandwidth: Vec<Bandwidth>,
    /// Calls of collectives without a size, where the trace states that of others.
    #[serde(default)]
    pub unsized_calls: u64,
    /// Calls of collectives that no other rank's could be matched with.
    pub unmatched_calls: u64,
    /// The number of them before or after everything that the other members of their group recorded.
    #[serde(default)]
    pub unmatched_at_edges: u64,
    /// Ranks of whose collectives none could be matched: no verdict covers them.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The straggler, computed without clocks, if one stands out.
    pub straggler: Option<String>,
    /// How even the steps are, where there are steps.
    pub steps: Option<Steps>,
    /// How even each kernel is, what evenness would save most first; without collectives, whose time is waiting.
    pub kernels: Vec<KernelImbalance>,
    /// Ranks far from the median.
    pub outliers: Vec<Outlier>,
    /// The time that each rank needs for the collectives of all.
    #[serde(skip)]
    pub(crate) needs: Needs,
}

pub(crate) struct RankInputs<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) names: &'a KernelNames,
    pub(crate) order: &'a Order,
    pub(crate) methods: &'a Methods<'a>,
}

/// The ranks of a trace and their collectives: all that is needed to see whether comparing them says anything.
#[derive(Debug, Clone)]
pub(crate) struct Matching {
    members: Members,
    collectives: Collectives,
}

impl Matching {
    pub(crate) fn of(&RankInputs { tables, names, order, .. }: &RankInputs<'_>) -> Self {
        let members = Members::new(tables, order);
        let collectives = collectives::collectives(tables, &members, names);
        Self { members, collectives }
    }

    /// Returns whether any collective of several ranks matches.
    pub(crate) fn is_any(&self) -> bool {
        self.members.all.len() > 1 && self.collectives.waits.iter().any(|waits| waits.collectives > 0)
    }

    /// Compares the ranks. Where there is only one, only what it did itself is said.
    pub(crate) fn ranks(self, &RankInputs { tables, names, order, methods }: &RankInputs<'_>) -> Ranks {
        let Self { members, collectives } = self;
        let are_several = members.all.len() > 1;
        let Collectives { groups, unmatched, straggler, waits, instances, bandwidth, unsized_calls } =
            collectives;
        let own = || busy::busy(tables, order, &members, names, exposed::waits(&members, &instances));
        let totals = || if are_several { kernels::totals(tables, &members, names) } else { Vec::new() };
        let steps =
            || are_several.then(|| steps::steps((methods, order), &members, names, &instances)).flatten();
        let (own, (totals, steps)) = threads::both(own, || threads::both(totals, steps));
        let rank = |((member, (busy, exposed_wait_ns)), waits): ((&Member, (Busy, i64)), &RankWaits)| {
            let (busy_ns, compute_ns) = busy.busy_and_compute_ns();
            let (name, rank, gpu) = (member.name.clone(), member.rank, member.gpu);
            Rank {
                wall_ns: busy.wall_ns(),
                exposed_wait_ns,
                name,
                rank,
                gpu,
                busy_ns,
                compute_ns,
                ..Rank::of(waits)
            }
        };
        let mut ranks = Ranks {
            ranks: members.all.iter().zip(own).zip(&waits).map(rank).collect(),
            collectives: groups,
            bandwidth,
            unsized_calls,
            unmatched_calls: unmatched.calls,
            unmatched_at_edges: unmatched.at_edges,
            missing: unmatched.ranks.iter().map(|&member| members.all[member].name.clone()).collect(),
            straggler: straggler.map(|member| members.all[member].name.clone()),
            needs: needs::needs(tables, order, &members, names, &instances),
            ..Ranks::default()
        };
        if are_several {
            ranks.steps = steps;
            let names: Vec<&str> = members.all.iter().map(|member| member.name.as_str()).collect();
            let compute: Vec<Option<i64>> = ranks.ranks.iter().map(|rank| Some(rank.compute_ns)).collect();
            let waits: Vec<(i64, u64)> =
                ranks.ranks.iter().map(|rank| (rank.clock_free_wait_ns, rank.collectives)).collect();
            ranks.kernels = kernels::imbalances(&totals, &names);
            ranks.outliers = outliers::outliers(&RankValues {
                names: &names,
                compute: &compute,
                steps: ranks.steps.as_ref(),
                waits: &waits,
                kernels: &totals,
            });
        }
        ranks
    }
}

impl Ranks {
    /// Returns whether ranks have common collectives, but no two of them a common clock.
    #[must_use]
    pub fn lack_a_clock(&self) -> bool {
        let mut matched = self.ranks.iter().filter(|rank| rank.collectives > 0).peekable();
        matched.peek().is_some() && matched.all(|rank| rank.timed_collectives == 0)
    }
}

impl Rank {
    fn of(waits: &RankWaits) -> Self {
        let timed = waits.timed > 0;
        Self {
            collectives: waits.collectives,
            timed_collectives: waits.timed,
            wait_ns: timed.then_some(waits.wait_ns),
            transfer_ns: timed.then_some(waits.transfer_ns),
            delay_ns: timed.then_some(waits.delay_ns),
            last: timed.then_some(waits.last),
            clock_free_wait_ns: waits.clock_free_wait_ns,
            clock_free_transfer_ns: waits.clock_free_transfer_ns,
            clock_free_last: waits.clock_free_last,
            ..Self::default()
        }
    }
}
