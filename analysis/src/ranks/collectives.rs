//! The collectives of groups of ranks, and how long each rank waited in them.

use rtl_schema::{Tables, identity};
use serde::{Deserialize, Serialize};

use super::bandwidth::{Bandwidth, BandwidthSums, MatchedCalls};
use super::members::{Member, Members};
use crate::names::kernel_names::KernelNames;
use crate::ranks::align::{self, FoundCollectives, MatchedCollective, RankWaits, Unmatched, Waits};

/// The collectives of one kernel in one group of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CollectiveGroup {
    /// Name of the kernel.
    pub kernel: String,
    /// Names of the members, by rank.
    pub ranks: Vec<String>,
    /// The number of collectives.
    pub collectives: u64,
    /// The number of collectives that lack the calls of members, so that times leave them out: a recording begins and ends
    /// elsewhere on each rank.
    #[serde(default)]
    pub incomplete: u64,
    /// The number of collectives in which a member ends before the last one starts.
    pub violations: u64,
    /// True if the clocks of the members are known to be one and nothing contradicts that. Else the next three are unknown.
    pub on_one_clock: bool,
    /// From the first arrival to the last in ns, summed.
    pub arrival_spread_ns: Option<i64>,
    /// Waits for the last member in ns, summed over members.
    pub wait_ns: Option<i64>,
    /// From the last arrival to the last end in ns, summed over collectives.
    pub transfer_ns: Option<i64>,
    /// Time beyond the shortest duration in ns, summed over members.
    pub clock_free_wait_ns: i64,
    /// The shortest durations in ns, summed over collectives.
    pub clock_free_transfer_ns: i64,
}

#[derive(Debug, Clone)]
pub(super) struct GroupInstances {
    pub(super) kernel: String,
    pub(super) members: Vec<usize>,
    /// Start and end of each member, by its index, in each collective.
    pub(super) all: Vec<MatchedCollective>,
    pub(super) on_one_clock: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Collectives {
    /// In order of time, most first.
    pub(super) groups: Vec<CollectiveGroup>,
    pub(super) unmatched: Unmatched,
    /// The index of the member that the others waited for.
    pub(super) straggler: Option<usize>,
    /// Indexed by member.
    pub(super) waits: Vec<RankWaits>,
    pub(super) instances: Vec<GroupInstances>,
    /// The bandwidth of those whose sizes are known.
    pub(super) bandwidth: Vec<Bandwidth>,
    /// Calls without a size, where the trace states that of others.
    pub(super) unsized_calls: u64,
}

pub(super) fn collectives(tables: &Tables, members: &Members, names: &KernelNames) -> Collectives {
    let mut all_waits = Waits::none(members.all.len());
    let FoundCollectives { calls, sizes, others } = align::collectives(tables, &names.categories);
    let (sequences, kernels) = align::sequences(calls, |process, agent| members.of_place(process, agent));
    let matched = align::group_sequences(&sequences);
    let mut groups = Vec::new();
    let mut instances: Vec<GroupInstances> = threads::map(&matched.groups, |group| GroupInstances {
        kernel: identity(&kernels[group.members[0]]).to_owned(),
        members: group.members.iter().map(|&at| sequences[at].rank).collect(),
        all: align::matched_collectives(group, &sequences).collect(),
        on_one_clock: false,
    });
    let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); members.all.len()];
    for (at, group) in instances.iter().enumerate().filter(|(_, group)| align::synchronises(&group.kernel)) {
        group.members.iter().for_each(|&member| groups_of[member].push(at));
    }
    let described = threads::map(0..instances.len(), |position| {
        let own = &instances[position];
        let is_whole = |collective: &&MatchedCollective| matched.groups[position].is_whole(collective);
        let mut whole: Vec<&MatchedCollective> = own.all.iter().filter(is_whole).collect();
        // Transfers have two members each, in groups of any size.
        if own.kernel.to_ascii_lowercase().contains("sendrecv") && whole.len() * 2 < own.all.len() {
            whole = own.all.iter().collect();
        }
        let leave_together = || match whole.len() < align::LEAST_OF_A_CLOCK {
            true => align::leave_together(&among(&instances, &groups_of, &own.members)),
            false => align::leave_together(whole.iter().copied()),
        };
        describe(tables, members, own, &whole, leave_together)
    });
    for (own, (group, waits)) in instances.iter_mut().zip(described) {
        own.on_one_clock = group.on_one_clock;
        groups.push(group);
        all_waits.append(&waits, &own.members);
    }
    let on_one_clock: Vec<bool> = instances.iter().map(|own| own.on_one_clock).collect();
    let mut sums = BandwidthSums::new([&sizes]);
    sums.add_calls(0, &others);
    let matched_calls =
        MatchedCalls { sequences: &sequences, groups: &matched, on_one_clock: &on_one_clock, trace: |_| 0 };
    sums.add_matched(&matched_calls, |_, times| times);
    let (bandwidth, unsized_calls) = sums.finish();
    groups.sort_by(|one, other| {
        let time =
            |group: &CollectiveGroup| group.clock_free_wait_ns.saturating_add(group.clock_free_transfer_ns);
        time(other)
            .cmp(&time(one))
            .then_with(|| (&one.kernel, &one.ranks).cmp(&(&other.kernel, &other.ranks)))
    });
    let unmatched = matched.unmatched(&sequences);
    let (straggler, waits) = (all_waits.straggler(), all_waits.ranks);
    Collectives { groups, unmatched, straggler, waits, instances, bandwidth, unsized_calls }
}

/// Returns what these members did in collectives of all groups that have all of them and that members leave together, as `groups_of` has
/// them by member: a group of few collectives says too little of their clocks.
fn among(
    instances: &[GroupInstances],
    groups_of: &[Vec<usize>],
    members: &[usize],
) -> Vec<MatchedCollective> {
    // Members of a group ascend.
    let has_all =
        |group: &&GroupInstances| members.iter().all(|member| group.members.binary_search(member).is_ok());
    let candidates = members.iter().map(|&member| &groups_of[member]).min_by_key(|groups| groups.len());
    let groups = candidates.into_iter().flatten().map(|&at| &instances[at]).filter(has_all);
    let collectives = groups.flat_map(|group| &group.all);
    let whole = collectives.filter_map(|collective| {
        let is_own = |member: &usize| members.binary_search(member).is_ok();
        let own: MatchedCollective =
            collective.iter().filter(|(member, ..)| is_own(member)).copied().collect();
        (own.len() == members.len()).then_some(own)
    });
    whole.collect()
}

/// The group of collectives of a kernel, of which `whole` have all members.
fn describe(
    tables: &Tables,
    members: &Members,
    GroupInstances { kernel, members: members_of_group, all, .. }: &GroupInstances,
    whole: &[&MatchedCollective],
    leave_together: impl FnOnce() -> bool,
) -> (CollectiveGroup, Waits) {
    let ranks: Vec<&Member> = members_of_group.iter().map(|&member| &members.all[member]).collect();
    let violations = align::violations(all);
    let are_few = align::are_on_one_clock(violations, all.len() as u64);
    let on_one_clock = are_few && share_a_clock(tables, &ranks).unwrap_or_else(leave_together);
    let positions = whole.iter().map(|collective| align::by_position(collective, members_of_group));
    let waits = align::waits(positions, members_of_group.len(), on_one_clock);
    let sum = |of: fn(&RankWaits) -> i64| waits.ranks.iter().map(of).fold(0, i64::saturating_add);
    let group = CollectiveGroup {
        kernel: kernel.clone(),
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

/// Returns whether the members ran on one boot of one machine, or have times that were put on one clock. `None` where the
/// trace does not say.
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
