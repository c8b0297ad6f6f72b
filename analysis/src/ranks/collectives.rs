//! What ranks did together, and who waited for whom.

use rtl_schema::{Tables, identity};
use serde::{Deserialize, Serialize};

use super::Ranks;
use super::members::{Member, Members};
use crate::align::{self, MatchedCollective, RankWaits, Waits};

/// A larger share of collectives in which a member ends before the last one starts says that the clocks of their
/// members are not one.
const CONTRADICTED: f64 = 0.01;

/// What one group of ranks did together with one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CollectiveGroup {
    /// The kernel.
    pub kernel: String,
    /// Its members, by rank.
    pub ranks: Vec<String>,
    /// How many collectives.
    pub collectives: u64,
    /// Those in which a member ends before the last one starts.
    pub violations: u64,
    /// Whether the clocks of its members are known to be one and nothing contradicts that. Else the next three are unknown.
    pub on_one_clock: bool,
    /// From the first arrival to the last in ns, summed.
    pub arrival_spread_ns: Option<i64>,
    /// What the members waited for the last one in ns, summed over members.
    pub wait_ns: Option<i64>,
    /// From the last arrival to the last end in ns, summed over collectives.
    pub transfer_ns: Option<i64>,
    /// What members stayed longer than the one that stayed shortest in ns, summed over members.
    pub clock_free_wait_ns: i64,
    /// The shortest stays in ns, summed over collectives.
    pub clock_free_transfer_ns: i64,
}

/// The collectives of one group and what it ran.
pub(super) struct GroupCollectives {
    pub(super) kernel: String,
    /// The indices of its members, and of each collective the start and end of each of them.
    pub(super) all: Vec<MatchedCollective>,
}

/// Fills in the groups and the straggler; the waits by member, and the collectives of each group.
pub(super) fn collectives(
    tables: &Tables,
    members: &Members,
    into: &mut Ranks,
) -> (Waits, Vec<GroupCollectives>) {
    let count = members.all.len();
    let mut sums = Waits { ranks: vec![RankWaits::default(); count], ..Waits::default() };
    let found = align::collectives(tables);
    let (sequences, kernels) = align::sequences(found, |process, agent| members.of_place(process, agent));
    let groups = align::group_sequences(&sequences);
    into.unmatched_calls = groups.unmatched.iter().map(|&at| sequences[at].calls.len() as u64).sum();
    let mut meetings = Vec::new();
    for group in &groups.groups {
        let all: Vec<MatchedCollective> = align::matched_collectives(group, &sequences).collect();
        let first = all.first().into_iter().flatten();
        let together: Vec<&Member> = first.map(|&(member, ..)| &members.all[member]).collect();
        let violations = all.iter().filter(|meeting| is_violated(meeting)).count();
        let on_one_clock =
            share_a_clock(tables, &together) && violations as f64 <= CONTRADICTED * all.len() as f64;
        let waits = align::waits(&all, count, on_one_clock);
        let kernel = identity(&kernels[group.members[0]]).to_owned();
        let sum = |of: fn(&RankWaits) -> i64| waits.ranks.iter().map(of).fold(0, i64::saturating_add);
        into.collectives.push(CollectiveGroup {
            kernel: kernel.clone(),
            ranks: together.iter().map(|member| member.name.clone()).collect(),
            collectives: waits.collectives,
            violations: violations as u64,
            on_one_clock,
            arrival_spread_ns: on_one_clock.then_some(waits.spread_ns),
            wait_ns: on_one_clock.then(|| sum(|rank| rank.wait_ns)),
            transfer_ns: on_one_clock.then_some(waits.transfer_ns),
            clock_free_wait_ns: sum(|rank| rank.clock_free_wait_ns),
            clock_free_transfer_ns: waits.clock_free_transfer_ns,
        });
        sums.append(&waits);
        meetings.push(GroupCollectives { kernel, all });
    }
    into.collectives.sort_by(|one, other| {
        let time =
            |group: &CollectiveGroup| group.clock_free_wait_ns.saturating_add(group.clock_free_transfer_ns);
        time(other)
            .cmp(&time(one))
            .then_with(|| (&one.kernel, &one.ranks).cmp(&(&other.kernel, &other.ranks)))
    });
    into.straggler = sums.straggler().map(|member| members.all[member].name.clone());
    (sums, meetings)
}

/// Whether a member ends before the last one starts.
fn is_violated(meeting: &MatchedCollective) -> bool {
    let last_start = meeting.iter().map(|&(_, start, _)| start).max();
    meeting.iter().map(|&(.., end)| end).min() < last_start
}

/// Whether the trace says that these ran on one boot of one machine, or that its times were put on one clock.
fn share_a_clock(tables: &Tables, members: &[&Member]) -> bool {
    let boot = |member: &Member| tables.processes.get(member.process.index())?.boot_id.as_deref();
    let process = members.first().map(|member| member.process);
    let same_process = members.iter().all(|member| Some(member.process) == process);
    let first = members.first().and_then(|member| boot(member));
    let same_boot = first.is_some() && members.iter().all(|member| boot(member) == first);
    same_process || same_boot || tables.info.metadata.iter().any(|(tag, _)| tag == align::CLOCK)
}
