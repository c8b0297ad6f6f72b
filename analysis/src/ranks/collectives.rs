//! The collectives of groups of ranks, and how long each rank waited in them.

use rtl_schema::{Tables, identity};
use serde::{Deserialize, Serialize};

use super::members::{Member, Members};
use crate::align::{self, MatchedCollective, RankWaits, Unmatched, Waits};

/// The collectives of one kernel in one group of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CollectiveGroup {
    /// The kernel.
    pub kernel: String,
    /// Its members, by rank.
    pub ranks: Vec<String>,
    /// How many collectives.
    pub collectives: u64,
    /// Those that lack the calls of members, so that times leave them out: a recording begins and ends elsewhere on each rank.
    #[serde(default)]
    pub incomplete: u64,
    /// Those in which a member ends before the last one starts.
    pub violations: u64,
    /// Whether the clocks of its members are known to be one and nothing contradicts that. Else the next three are unknown.
    pub on_one_clock: bool,
    /// From the first arrival to the last in ns, summed.
    pub arrival_spread_ns: Option<i64>,
    /// Waits for the last member in ns, summed over members.
    pub wait_ns: Option<i64>,
    /// From the last arrival to the last end in ns, summed over collectives.
    pub transfer_ns: Option<i64>,
    /// Time beyond the shortest stay in ns, summed over members.
    pub clock_free_wait_ns: i64,
    /// The shortest stays in ns, summed over collectives.
    pub clock_free_transfer_ns: i64,
}

/// The collectives of one group of ranks.
pub(super) struct GroupInstances {
    pub(super) kernel: String,
    /// The indices of its members.
    pub(super) members: Vec<usize>,
    /// Of each collective the index, start and end of each member.
    pub(super) all: Vec<MatchedCollective>,
    /// [`CollectiveGroup::on_one_clock`].
    pub(super) on_one_clock: bool,
}

/// All collectives of a trace.
pub(super) struct Collectives {
    /// Most time first.
    pub(super) groups: Vec<CollectiveGroup>,
    pub(super) unmatched: Unmatched,
    /// The index of the member that the others waited for.
    pub(super) straggler: Option<usize>,
    /// By member.
    pub(super) waits: Vec<RankWaits>,
    pub(super) instances: Vec<GroupInstances>,
}

/// Matches the collectives of all members.
pub(super) fn collectives(tables: &Tables, members: &Members) -> Collectives {
    let mut sums = Waits::none(members.all.len());
    let found = align::collectives(tables);
    let (sequences, kernels) = align::sequences(found, |process, agent| members.of_place(process, agent));
    let matched = align::group_sequences(&sequences);
    let mut groups = Vec::new();
    let mut instances = Vec::new();
    for group in &matched.groups {
        let all: Vec<MatchedCollective> = align::matched_collectives(group, &sequences).collect();
        let kernel = identity(&kernels[group.members[0]]).to_owned();
        let ranks: Vec<usize> = group.members.iter().map(|&at| sequences[at].rank).collect();
        let whole: Vec<&MatchedCollective> =
            all.iter().filter(|collective| group.is_whole(collective)).collect();
        let (group, waits) = describe(tables, members, (&kernel, &ranks), &all, &whole);
        let on_one_clock = group.on_one_clock;
        groups.push(group);
        sums.append(&waits);
        instances.push(GroupInstances { kernel, members: ranks, all, on_one_clock });
    }
    groups.sort_by(|one, other| {
        let time =
            |group: &CollectiveGroup| group.clock_free_wait_ns.saturating_add(group.clock_free_transfer_ns);
        time(other)
            .cmp(&time(one))
            .then_with(|| (&one.kernel, &one.ranks).cmp(&(&other.kernel, &other.ranks)))
    });
    let unmatched = matched.unmatched(&sequences);
    Collectives { groups, unmatched, straggler: sums.straggler(), waits: sums.ranks, instances }
}

/// The group of `all` collectives of a kernel on these ranks, of which `whole` have all members.
fn describe(
    tables: &Tables,
    members: &Members,
    (kernel, ranks): (&str, &[usize]),
    all: &[MatchedCollective],
    whole: &[&MatchedCollective],
) -> (CollectiveGroup, Waits) {
    let ranks: Vec<&Member> = ranks.iter().map(|&member| &members.all[member]).collect();
    let (violations, is_consistent) = align::violations(all);
    let on_one_clock = is_consistent
        && match share_a_clock(tables, &ranks) {
            Some(shared) => shared,
            None => align::leave_together(whole.iter().copied()),
        };
    let waits = align::waits(whole.iter().copied(), members.all.len(), on_one_clock);
    let sum = |of: fn(&RankWaits) -> i64| waits.ranks.iter().map(of).fold(0, i64::saturating_add);
    let group = CollectiveGroup {
        kernel: kernel.to_owned(),
        ranks: ranks.iter().map(|member| member.name.clone()).collect(),
        collectives: all.len() as u64,
        incomplete: (all.len() - whole.len()) as u64,
        violations,
        on_one_clock,
        arrival_spread_ns: on_one_clock.then_some(waits.spread_ns),
        wait_ns: on_one_clock.then(|| sum(|rank| rank.wait_ns)),
        transfer_ns: on_one_clock.then_some(waits.transfer_ns),
        clock_free_wait_ns: sum(|rank| rank.clock_free_wait_ns),
        clock_free_transfer_ns: waits.clock_free_transfer_ns,
    };
    (group, waits)
}

/// Whether these ran on one boot of one machine, or have times that were put on one clock. `None` where the trace does
/// not say.
fn share_a_clock(tables: &Tables, members: &[&Member]) -> Option<bool> {
    let process = |member: &Member| tables.processes.get(member.process.index());
    let boot = |member: &Member| process(member)?.boot_id.as_deref();
    let first = members.first()?;
    let same_process = members.iter().all(|member| member.process == first.process);
    let same_boot = boot(first).is_some() && members.iter().all(|member| boot(member) == boot(first));
    if same_process || same_boot || tables.info.metadata.iter().any(|(tag, _)| tag == align::CLOCK) {
        return Some(true);
    }
    let is_named = |member: &Member| {
        process(member).is_some_and(|process| {
            process.boot_id.is_some() || process.machine_id.is_some() || process.host.is_some()
        })
    };
    members.iter().any(|member| is_named(member)).then_some(false)
}
