//! Who waited for whom, as it is reported.

use rtl_analysis::align::RankWaits;
use serde::Serialize;

use crate::clocks::{Clocks, CollectiveGroup, Member};
use crate::members::Members;

/// What one group of ranks did together with one kernel.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// The kernel.
    pub kernel: String,
    /// Its members.
    pub members: Vec<String>,
    /// How many collectives.
    pub collectives: u64,
    /// Those in which a member ends before the last one starts.
    pub violations: u64,
    /// Whether the clocks of its members agree: else the next two are unknown.
    pub on_one_clock: bool,
    /// From the first arrival to the last in ns, summed.
    pub arrival_spread_ns: Option<i64>,
    /// From the last arrival to the last end in ns, summed.
    pub transfer_ns: Option<i64>,
    /// The shortest stays in ns, summed: transfer, told without clocks.
    pub clock_free_transfer_ns: i64,
}

/// What the collectives say of one rank.
#[derive(Debug, Clone, Serialize)]
pub struct Rank {
    /// What it is called: its rank, or its trace where that is unknown.
    pub member: String,
    /// Collectives that it was in.
    pub collectives: u64,
    /// ns that it waited for later ones, where clocks tell.
    pub wait_ns: i64,
    /// ns that the others would not have waited had it come when the last but one did, where clocks tell.
    pub delay_ns: i64,
    /// How often it came last, where clocks tell.
    pub last: u64,
    /// ns that it waited, told without clocks.
    pub clock_free_wait_ns: i64,
    /// How often it came last, told without clocks.
    pub clock_free_last: u64,
}

/// All that collectives say.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Waits {
    /// By group and kernel.
    pub groups: Vec<Group>,
    /// By rank.
    pub ranks: Vec<Rank>,
    /// The rank that the others waited for, told without clocks, where one stands out.
    pub straggler: Option<String>,
}

impl Waits {
    /// From what the ranks did together.
    pub(crate) fn of(clocks: &Clocks, members: &Members) -> Self {
        let names: Vec<String> = clocks.members.iter().map(|member| name(member, members)).collect();
        let group = |together: &CollectiveGroup| {
            let on_one_clock = together.is_on_one_clock();
            Group {
                kernel: together.name.clone(),
                members: together.members.iter().map(|&member| names[member].clone()).collect(),
                collectives: together.collectives as u64,
                violations: together.violations as u64,
                on_one_clock,
                arrival_spread_ns: on_one_clock.then_some(together.spread_ns),
                transfer_ns: on_one_clock.then_some(together.transfer_ns),
                clock_free_transfer_ns: together.clock_free_transfer_ns,
            }
        };
        let groups = clocks.groups.iter().map(group).collect();
        let sums = &clocks.waits;
        let straggler = sums.straggler().map(|rank| names[rank].clone());
        let rank = |(member, waits): (String, &RankWaits)| Rank {
            member,
            collectives: waits.collectives,
            wait_ns: waits.wait_ns,
            delay_ns: waits.delay_ns,
            last: waits.last,
            clock_free_wait_ns: waits.clock_free_wait_ns,
            clock_free_last: waits.clock_free_last,
        };
        let ranks = names.into_iter().zip(&sums.ranks).map(rank).filter(|rank| rank.collectives > 0);
        Self { groups, ranks: ranks.collect(), straggler }
    }
}

fn name(member: &Member, members: &Members) -> String {
    let position = members.position(member.input, member.process, member.agent);
    position.map(|position| members.all[position].name.clone()).unwrap_or_default()
}
