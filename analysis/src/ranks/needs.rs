//! The time that each rank needs from the first common collective to the last, without waiting for others: a job whose slowest
//! rank becomes faster is bound by what the next one needs.
//!
//! Work is compared where ranks did the same: a recording begins and ends elsewhere on each of them.

use rtl_schema::{ProcessId, Tables};
use rustc_hash::FxHashMap;

use super::collectives::GroupInstances;
use super::members::Members;
use crate::base::ops::{AgentOps, Op, Order};
use crate::base::stats::{CallTotal, median, robust_deviation};
use crate::base::union_length::UnionLength;
use crate::idle::{Cause, cause_of_function};
use crate::launches::EnqueueTimes;
use crate::names::kernel_names::KernelNames;
use crate::ranks::align::MatchedCollective;

/// A host whose ops start so long in ns after their launch is ahead of its GPU.
const AHEAD: i64 = 100_000;

/// How much the lead of a host differs at most, as a part of it, where its GPU determines that.
const STEADY: f64 = 0.05;

/// A launch that takes longer in ns waits for a place in its queue.
const LONG_LAUNCH: i64 = 100_000;

/// The least cost of torch.profiler for the host of each call of the runtime and each operator, in ns: fitted on loops with and
/// without it (`docs/reference/findings.md`).
const RECORDED_CALL: i64 = 2_000;
const RECORDED_OPERATOR: i64 = 3_000;

/// A collective waits for a rank where its members wait for at least this part of what they usually do.
const NOTABLE: f64 = 0.5;

/// The needs of all ranks, and how they wait for each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Needs {
    /// Indexed as the ranks; `None` for those outside of the largest group.
    pub(crate) ranks: Vec<Option<Need>>,
    /// The median of the hosts' times from one collective to the next in ns, summed; 0 where nothing ties collectives to calls.
    pub(crate) median_host_ns: i64,
    /// The median of the members' waits in ns, summed over the collectives but the first: ranks begin apart.
    pub(crate) median_wait_ns: i64,
    /// The waits of all members in ns, summed over these collectives.
    pub(crate) waits_ns: i64,
    /// How many of them made the others wait notably.
    pub(crate) notable: u64,
    /// From one collective to the next.
    pub(crate) intervals: u64,
}

/// The needs of one rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Need {
    /// From the end of the first collective to the end of the last, in ns.
    pub(crate) span_ns: i64,
    /// The time of the host between them without waiting for its GPU, in ns.
    pub(crate) host_ns: i64,
    /// The least time in ns that recording cost the host meanwhile.
    pub(crate) recorder_ns: i64,
    /// The union of its own ops between them in ns.
    pub(crate) between_ns: i64,
    /// The union of its own ops, wherever ranks did the same, in ns.
    pub(crate) compute_ns: i64,
    /// The kernels that are no collectives, wherever ranks did the same, by position.
    pub(crate) kernels: FxHashMap<usize, CallTotal>,
    /// How long it waited in the collectives but the first, in ns.
    pub(crate) wait_ns: i64,
    /// How often it was the last in a collective that made the others wait notably.
    pub(crate) last: u64,
}

/// A collective on one member, in ns.
#[derive(Debug, Clone, Copy)]
struct Call {
    start: i64,
    end: i64,
    wait: i64,
    /// When the host launched it.
    launch: Option<i64>,
}

/// Own work before the first collective, between them and after the last.
#[derive(Debug, Clone, Default)]
struct Work {
    lengths: [UnionLength; 3],
    kernels: FxHashMap<usize, [CallTotal; 3]>,
    /// How many ops were launched, and how many of them long before they started.
    launched: u64,
    ahead: u64,
}

const BETWEEN: usize = 1;

pub(super) fn needs(
    tables: &Tables,
    order: &Order,
    members: &Members,
    names: &KernelNames,
    instances: &[GroupInstances],
) -> Needs {
    let (group, mut collectives) = largest(instances);
    if collectives.len() < 2 {
        return Needs::default();
    }
    let times = EnqueueTimes::new(tables, order);
    let launches = launches(tables, order, members, names, &times);
    let is_launched = |collective: &&MatchedCollective| {
        collective.iter().all(|&(member, start, _)| launches.contains_key(&(member, start)))
    };
    // The first collectives of a recording may have been launched before it.
    if collectives.iter().filter(|collective| is_launched(collective)).count() * 2 >= collectives.len() {
        collectives.retain(is_launched);
    }
    collectives.sort_by_key(|collective| {
        let &(member, start, end) = &collective[0];
        (launches.get(&(member, start)).copied().unwrap_or(end), end)
    });
    let stay = |&(_, start, end): &(usize, i64, i64)| end.saturating_sub(start);
    let shortest: Vec<i64> =
        collectives.iter().map(|collective| collective.iter().map(stay).min().unwrap_or(0)).collect();
    // Members are in the order of the group.
    let of_member = |at: usize| {
        let call = |(collective, shortest): (&&MatchedCollective, &i64)| {
            let (member, start, end) = collective[at];
            let wait = end.saturating_sub(start).saturating_sub(*shortest);
            Call { start, end, wait, launch: launches.get(&(member, start)).copied() }
        };
        collectives.iter().zip(&shortest).map(call).collect()
    };
    let calls: Vec<Vec<Call>> = (0..group.len()).map(of_member).collect();
    let mut found = Needs { ranks: vec![None; members.all.len()], ..Needs::default() };
    found.intervals = collectives.len().saturating_sub(1) as u64;
    let work = work(tables, order, members, names, &times, &group, &calls);
    let is_same = [0, BETWEEN, 2].map(|part| part == BETWEEN || is_same_work(&work, part));
    let hosts = host_times(tables, members, &group, &calls, &work);
    let recorder = recorder_times(tables, members, &group, &calls);
    for (at, &member) in group.iter().enumerate() {
        let (calls, work) = (&calls[at], &work[at]);
        let (Some(first), Some(last)) = (calls.first(), calls.last()) else { continue };
        let parts = || (0..3).filter(|&part| is_same[part]);
        let kernels = work.kernels.iter().map(|(&kernel, totals)| {
            let mut total = CallTotal::default();
            parts().for_each(|part| total.append(totals[part]));
            (kernel, total)
        });
        found.ranks[member] = Some(Need {
            span_ns: last.end.saturating_sub(first.end).max(0),
            host_ns: hosts.iter().map(|interval| interval[at]).sum(),
            recorder_ns: recorder[at],
            between_ns: work.lengths[BETWEEN].length_ns(),
            compute_ns: parts().map(|part| work.lengths[part].length_ns()).sum(),
            kernels: kernels.filter(|(_, total)| total.calls > 0).collect(),
            wait_ns: calls[1..].iter().map(|call| call.wait).fold(0, i64::saturating_add),
            last: 0,
        });
    }
    found.median_host_ns = hosts.iter().map(|interval| middle(interval)).sum();
    found.add_waits(&group, &calls);
    found
}

/// The members of the largest group, and the collectives that all of them are in.
fn largest(instances: &[GroupInstances]) -> (Vec<usize>, Vec<&MatchedCollective>) {
    let members = |group: &GroupInstances| {
        let mut members = group.members.clone();
        members.sort_unstable();
        members
    };
    let most = instances.iter().max_by_key(|group| (group.members.len(), group.all.len()));
    let Some(group) = most.map(members) else { return Default::default() };
    let own = instances.iter().filter(|instances| members(instances) == group);
    let whole = own.flat_map(|instances| &instances.all).filter(|one| one.len() == group.len()).collect();
    (group, whole)
}

/// When each collective was launched, by member and start.
fn launches(
    tables: &Tables,
    order: &Order,
    members: &Members,
    names: &KernelNames,
    times: &EnqueueTimes<'_>,
) -> FxHashMap<(usize, i64), i64> {
    let rows = order.agents.iter().flat_map(|ops| &ops.dispatches);
    let collectives = rows.filter(|&&row| names.is_collective(tables.dispatches.name[row as usize]));
    let launch = |&row: &u32| {
        let op = Op { copy: false, row };
        let member = members.of_track(op.track(tables))?;
        Some(((member, op.start(tables)), launch_of(tables, times, op)?))
    };
    collectives.filter_map(launch).collect()
}

/// When the host launched an op in ns.
fn launch_of(tables: &Tables, times: &EnqueueTimes<'_>, op: Op) -> Option<i64> {
    times.call(op).map(|call| tables.api_calls.start[call]).or_else(|| op.enqueued(tables))
}

/// The own work of each member of the group.
fn work(
    tables: &Tables,
    order: &Order,
    members: &Members,
    names: &KernelNames,
    times: &EnqueueTimes<'_>,
    group: &[usize],
    calls: &[Vec<Call>],
) -> Vec<Work> {
    let position: FxHashMap<usize, usize> =
        group.iter().enumerate().map(|(at, &member)| (member, at)).collect();
    let bounds: Vec<[Call; 2]> =
        calls.iter().filter_map(|calls| Some([*calls.first()?, *calls.last()?])).collect();
    let of_agent = |ops: &AgentOps| {
        let mut work: FxHashMap<usize, Work> = FxHashMap::default();
        ops.in_order(tables).for_each(|same| {
            for op in same.ops() {
                let member = members.of_track(op.track(tables));
                let Some(&at) = member.and_then(|member| position.get(&member)) else { continue };
                let name = (!op.copy).then(|| tables.dispatches.name[op.row as usize]);
                if name.is_some_and(|name| names.is_collective(name)) {
                    continue;
                }
                let start = op.start(tables);
                let launch = launch_of(tables, times, op);
                let [first, last] = bounds[at];
                let is_before = |call: Call| match (launch, call.launch) {
                    (Some(launch), Some(moment)) => launch < moment,
                    _ => start < call.end,
                };
                let part = match () {
                    () if is_before(first) => 0,
                    () if is_before(last) => BETWEEN,
                    () => 2,
                };
                let own = work.entry(at).or_default();
                own.launched += u64::from(launch.is_some());
                own.ahead += u64::from(launch.is_some_and(|launch| start.saturating_sub(launch) >= AHEAD));
                let length = op.length(tables);
                own.lengths[part].add(same.start, same.start.saturating_add(length));
                if let Some(kernel) = name.and_then(|name| names.own_kernel(name)) {
                    own.kernels.entry(kernel).or_default()[part].add(length as i64);
                }
            }
        });
        work
    };
    let mut all = vec![Work::default(); group.len()];
    for (at, work) in threads::map(&order.agents, of_agent).into_iter().flatten() {
        all[at] = work;
    }
    all
}

/// Returns whether kernels that all ranks run are called equally often in a part.
fn is_same_work(work: &[Work], part: usize) -> bool {
    let Some((first, others)) = work.split_first() else { return false };
    let calls = |totals: &[CallTotal; 3]| totals[part].calls;
    first.kernels.iter().all(|(kernel, totals)| {
        let of_others: Option<Vec<u64>> =
            others.iter().map(|work| work.kernels.get(kernel).map(calls)).collect();
        of_others.is_none_or(|others| others.iter().all(|&other| other == calls(totals)))
    })
}

/// The time of each host from one collective to the next in ns, without waiting for its GPU; none where launches are not known.
fn host_times(
    tables: &Tables,
    members: &Members,
    group: &[usize],
    calls: &[Vec<Call>],
    work: &[Work],
) -> Vec<Vec<i64>> {
    let launched: Option<Vec<Vec<i64>>> =
        calls.iter().map(|calls| calls.iter().map(|call| call.launch).collect()).collect();
    let Some(launches) = launched else { return Vec::new() };
    let api = &tables.api_calls;
    let mut by_process: FxHashMap<ProcessId, Vec<u32>> = FxHashMap::default();
    for row in 0..api.len() {
        by_process.entry(api.process.get(row)).or_default().push(row as u32);
    }
    by_process.values_mut().for_each(|rows| rows.sort_by_key(|&row| api.start[row as usize]));
    let of_member = |at: usize| {
        // The pace of a host that is always as far ahead is that of its GPU.
        if work[at].ahead * 2 > work[at].launched && is_steady(&calls[at]) {
            return vec![0; launches[at].len().saturating_sub(1)];
        }
        let rows = by_process.get(&members.all[group[at]].process).map_or(&[][..], Vec::as_slice);
        let blocked = Blocked::new(tables, rows);
        let need = |pair: &[i64]| {
            let passed = pair[1].saturating_sub(pair[0]);
            passed.saturating_sub(blocked.before(pair[1]).saturating_sub(blocked.before(pair[0]))).max(0)
        };
        launches[at].windows(2).map(need).collect::<Vec<i64>>()
    };
    let of_members: Vec<Vec<i64>> = threads::map(0..group.len(), of_member);
    let intervals = of_members.first().map_or(0, Vec::len);
    (0..intervals).map(|interval| of_members.iter().map(|times| times[interval]).collect()).collect()
}

/// The least time that recording cost each host between the first launch and the last in ns.
fn recorder_times(tables: &Tables, members: &Members, group: &[usize], calls: &[Vec<Call>]) -> Vec<i64> {
    let (api, operators) = (&tables.api_calls, &tables.operators);
    let mut costs: FxHashMap<ProcessId, (i64, i64, i64)> = FxHashMap::default();
    for (&member, calls) in group.iter().zip(calls) {
        let launch = |call: Option<&Call>| call.and_then(|call| call.launch);
        if let (Some(from), Some(to)) = (launch(calls.first()), launch(calls.last())) {
            costs.insert(members.all[member].process, (from, to, 0));
        }
    }
    // Other recorders have no operators, and cost less.
    if operators.is_empty() {
        costs.clear();
    }
    let mut add = |process: ProcessId, start: i64, cost: i64| {
        if let Some((_, _, sum)) =
            costs.get_mut(&process).filter(|(from, to, _)| (*from..*to).contains(&start))
        {
            *sum += cost;
        }
    };
    (0..api.len()).for_each(|row| add(api.process.get(row), api.start[row], RECORDED_CALL));
    (0..operators.len())
        .for_each(|row| add(operators.process.get(row), operators.start[row], RECORDED_OPERATOR));
    group.iter().map(|&member| costs.get(&members.all[member].process).map_or(0, |cost| cost.2)).collect()
}

/// Returns whether a host is always as far ahead of the collectives of its GPU: it waits for the GPU in ways that are no calls.
fn is_steady(calls: &[Call]) -> bool {
    let leads = calls.iter().filter_map(|call| Some(call.start.saturating_sub(call.launch?) as f64));
    let mut leads: Vec<f64> = leads.collect();
    let usual = median(&mut leads);
    usual >= AHEAD as f64 && robust_deviation(&mut leads) <= STEADY * usual
}

/// When a host waits for its GPU: disjoint intervals, with their length in ns up to the end of each.
struct Blocked(Vec<(i64, i64, i64)>);

impl Blocked {
    /// `rows` are calls of the process by start.
    fn new(tables: &Tables, rows: &[u32]) -> Self {
        let calls = &tables.api_calls;
        let times = |row: u32| {
            let start = calls.start[row as usize];
            (start, start.saturating_add(calls.duration.valid(row as usize).unwrap_or(0)))
        };
        let mut causes = FxHashMap::default();
        let mut intervals: Vec<(i64, i64)> = Vec::new();
        for &row in rows {
            let name = calls.name[row as usize];
            let cause = *causes.entry(name).or_insert_with(|| cause_of_function(tables.strings.get(name)));
            let (start, end) = times(row);
            match cause {
                Some(Cause::Synchronise | Cause::BlockingCopy) => intervals.push((start, end)),
                Some(Cause::Launch) => intervals.push((start.saturating_add(LONG_LAUNCH), end)),
                _ => {}
            }
        }
        intervals.retain(|(start, end)| start < end);
        intervals.sort_unstable();
        let mut joined: Vec<(i64, i64, i64)> = Vec::new();
        let mut length = 0_i64;
        for (start, end) in intervals {
            let start = joined.last().map_or(start, |last| start.max(last.1));
            if start < end {
                length = length.saturating_add(end.saturating_sub(start));
                joined.push((start, end, length));
            }
        }
        Self(joined)
    }

    /// How long it waited until `moment`.
    fn before(&self, moment: i64) -> i64 {
        let at = self.0.partition_point(|&(start, ..)| start < moment);
        let last = at.checked_sub(1).map(|at| self.0[at]);
        last.map_or(0, |(_, end, length)| length.saturating_sub(end.saturating_sub(moment).max(0)))
    }
}

impl Needs {
    fn add_waits(&mut self, group: &[usize], calls: &[Vec<Call>]) {
        let count = calls.first().map_or(0, Vec::len);
        let waits = |at: usize| calls.iter().map(move |calls| calls[at].wait);
        let medians: Vec<i64> = (1..count).map(|at| middle(&waits(at).collect::<Vec<i64>>())).collect();
        self.median_wait_ns = medians.iter().copied().fold(0, i64::saturating_add);
        self.waits_ns = (1..count).flat_map(waits).fold(0, i64::saturating_add);
        let usual = self.median_wait_ns as f64 / medians.len().max(1) as f64;
        for (at, &wait) in (1..).zip(&medians) {
            if wait <= 0 || (wait as f64) < NOTABLE * usual {
                continue;
            }
            self.notable += 1;
            let last = (0..group.len()).min_by_key(|&member| calls[member][at].wait);
            if let Some(need) = last.and_then(|last| self.ranks[group[last]].as_mut()) {
                need.last += 1;
            }
        }
    }

    /// The needs of a rank by its position.
    pub(crate) fn of(&self, rank: usize) -> Option<&Need> {
        self.ranks.get(rank)?.as_ref()
    }
}

fn middle(values: &[i64]) -> i64 {
    let mut values: Vec<f64> = values.iter().map(|&value| value as f64).collect();
    if values.is_empty() { 0 } else { median(&mut values) as i64 }
}
