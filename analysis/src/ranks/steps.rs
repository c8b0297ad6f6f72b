//! Steps: the repeated work of every rank, and its imbalance.
//!
//! Where ranges repeat, a step is a range that every process goes through equally often, and its time on a rank is that of the
//! kernels launched in it that are no collectives. Else a step is what a rank does from leaving one collective of the
//! largest group to coming to the next, on its own clock: idle time and waiting in smaller groups count.

use std::cmp::Reverse;

use rtl_schema::ProcessId;
use serde::{Deserialize, Serialize};

use super::collectives::GroupInstances;
use super::members::Members;
use crate::base::ops::{AgentOps, Order};
use crate::base::parallel;
use crate::base::stats::median;
use crate::gpu_time::ranges::{Methods, Repeated};
use crate::names::kernel_names::KernelNames;
use crate::ranks::align::{self, MatchedCollective};

/// Fewer repetitions are no steps.
const LEAST: usize = 3;

/// How steps were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepMethod {
    /// Ranges of one name are steps.
    Ranges,
    /// The time between collectives is a step.
    Collectives,
}

/// The steps of one rank.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RankSteps {
    /// Name of the rank.
    pub name: String,
    /// Time in all steps in ns.
    pub total_ns: i64,
    /// How often it was the only one that took longest.
    pub slowest: u64,
}

/// How even the steps are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// How they were found.
    pub method: StepMethod,
    /// The range, or the kernel between whose calls they lie.
    pub name: String,
    /// The number of steps.
    pub steps: u64,
    /// The time of the slowest rank in ns, summed over the steps.
    pub slowest_ns: i64,
    /// The mean over ranks in ns, summed over the steps.
    pub mean_ns: f64,
    /// Excess of the slowest rank over the mean: 0.1 for 10 %.
    pub imbalance: f64,
    /// The steps of each rank.
    pub ranks: Vec<RankSteps>,
}

pub(super) fn steps(
    (methods, order): (&Methods<'_>, &Order),
    members: &Members,
    names: &KernelNames,
    instances: &[GroupInstances],
) -> Option<Steps> {
    in_ranges(methods, order, members, names).or_else(|| between_collectives(members, instances))
}

fn in_ranges(methods: &Methods<'_>, order: &Order, members: &Members, names: &KernelNames) -> Option<Steps> {
    let tables = methods.tables;
    let mut processes: Vec<ProcessId> = members.all.iter().map(|member| member.process).collect();
    processes.dedup();
    let repeated = Repeated::new(methods, &processes, LEAST)?;
    let count = processes.first().map_or(0, |&process| repeated.count(process));
    let width = members.all.len();
    let by_agent = members.by_agent(order);
    let of_agent = |(ops, mut times): (&AgentOps, Vec<Vec<i64>>)| {
        let rows = ops.dispatches.iter().map(|&row| row as usize);
        for (row, member, duration) in members.own_work(tables, names, rows) {
            if let Some(step) = repeated.of_dispatch(tables, row) {
                let times = &mut times[by_agent.place(member)];
                times.resize(count, 0);
                times[step] = times[step].saturating_add(duration);
            }
        }
        times
    };
    let divided = by_agent.divide(vec![Vec::new(); width]);
    let of_agents = order.agents.iter().zip(divided);
    let of_agents = match tables.dispatches.len() > parallel::LEAST_ROWS {
        true => threads::map(of_agents, of_agent),
        false => of_agents.map(of_agent).collect(),
    };
    let mut times = vec![0_i64; count * width];
    for (member, of_member) in by_agent.join(of_agents).into_iter().enumerate() {
        for (step, time) in of_member.into_iter().enumerate() {
            times[step * width + member] = time;
        }
    }
    let ranks: Vec<&str> = members.all.iter().map(|member| member.name.as_str()).collect();
    let name = tables.strings.get(repeated.name);
    (times.iter().any(|&time| time > 0)).then(|| step_totals(StepMethod::Ranges, name, &ranks, &times))
}

fn between_collectives(members: &Members, instances: &[GroupInstances]) -> Option<Steps> {
    let sizes = instances.iter().map(|group| (group.members.len(), group.all.len(), group.kernel.as_str()));
    let group = &instances[step_group(sizes)?];
    let ranks: Vec<&str> = group.members.iter().map(|&member| members.all[member].name.as_str()).collect();
    let totals = StepTotals::between(group.all.iter().cloned(), &group.members);
    Some(totals.steps(StepMethod::Collectives, &group.kernel, &ranks))
}

/// The position of the group between whose collectives steps lie: the largest. Of each group the number of its members,
/// of its collectives, and the kernel are given.
pub fn step_group<'a>(groups: impl Iterator<Item = (usize, usize, &'a str)>) -> Option<usize> {
    let enough = groups.enumerate().filter(|(_, (_, collectives, _))| *collectives > LEAST);
    let size = |&(_, (ranks, collectives, kernel)): &(usize, (usize, usize, &'a str))| {
        (ranks, collectives, Reverse(kernel))
    };
    enough.max_by_key(size).map(|(at, _)| at)
}

/// Steps of ranks, added one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepTotals {
    /// Indexed by rank: the time in all steps in ns, and how often it was the only one that took longest.
    ranks: Vec<(i64, u64)>,
    slowest_ns: i64,
    sum: i128,
    steps: u64,
}

impl StepTotals {
    /// The steps between `collectives` of one group of ranks, each with start and end of its members, on clocks of their own.
    /// A step that more than a few members lack is none; the others have what is usual in it.
    #[must_use]
    pub fn between(collectives: impl Iterator<Item = MatchedCollective>, members: &[usize]) -> Self {
        let mut totals = Self::default();
        let mut last: Option<MatchedCollective> = None;
        for next in collectives {
            if let Some(last) = last.as_ref().filter(|last| {
                align::is_whole(last.len(), members.len()) && align::is_whole(next.len(), members.len())
            }) {
                totals.add(&times_between(last, &next, members));
            }
            last = Some(next);
        }
        totals
    }

    /// Adds a step: the time in ns of each rank.
    pub fn add(&mut self, step: &[i64]) {
        self.ranks.resize(step.len(), (0, 0));
        let most = step.iter().copied().max().unwrap_or(0);
        self.slowest_ns = self.slowest_ns.saturating_add(most);
        self.sum += step.iter().map(|&time| i128::from(time)).sum::<i128>();
        self.steps += 1;
        let alone = step.iter().filter(|&&time| time == most).count() == 1;
        for ((total_ns, slowest), &time) in self.ranks.iter_mut().zip(step) {
            *total_ns = total_ns.saturating_add(time);
            *slowest += u64::from(alone && time == most);
        }
    }

    /// The imbalance of `ranks`.
    #[must_use]
    pub fn steps(&self, method: StepMethod, name: &str, ranks: &[&str]) -> Steps {
        let mean_ns = self.sum as f64 / ranks.len().max(1) as f64;
        let rank = |(&name, &(total_ns, slowest)): (&&str, &(i64, u64))| RankSteps {
            name: name.to_owned(),
            total_ns,
            slowest,
        };
        Steps {
            method,
            name: name.to_owned(),
            steps: self.steps,
            slowest_ns: self.slowest_ns,
            mean_ns,
            imbalance: super::kernels::beyond(self.slowest_ns as f64, mean_ns),
            ranks: ranks.iter().zip(&self.ranks).map(rank).collect(),
        }
    }
}

/// The time of each of `members` from the end of one collective to the start of the next in ns.
fn times_between(last: &MatchedCollective, next: &MatchedCollective, members: &[usize]) -> Vec<i64> {
    let (mut before, mut after) = (last.iter().peekable(), next.iter().peekable());
    let time = |&member: &usize| {
        let (before, after) =
            (before.next_if(|call| call.0 == member), after.next_if(|call| call.0 == member));
        Some(after?.1.saturating_sub(before?.2).max(0))
    };
    let times: Vec<Option<i64>> = members.iter().map(time).collect();
    let mut known: Vec<f64> = times.iter().flatten().map(|&time| time as f64).collect();
    let usual = median(&mut known) as i64;
    times.into_iter().map(|time| time.unwrap_or(usual)).collect()
}

/// How even `times` are: of each step the times in ns of all `ranks`.
#[must_use]
pub fn step_totals(method: StepMethod, name: &str, ranks: &[&str], times: &[i64]) -> Steps {
    let mut totals = StepTotals::default();
    times.chunks_exact(ranks.len().max(1)).for_each(|step| totals.add(step));
    totals.steps(method, name, ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_of_three_ranks_by_hand() {
        // The slowest take 30 and 40, the means are 20 and 30.
        let steps = step_totals(StepMethod::Ranges, "step", &["a", "b", "c"], &[10, 20, 30, 40, 10, 40]);
        assert_eq!((steps.steps, steps.slowest_ns, steps.mean_ns), (2, 70, 50.0));
        assert!((steps.imbalance - 0.4).abs() < 1e-12);
        let ranks: Vec<_> = steps.ranks.iter().map(|rank| (rank.total_ns, rank.slowest)).collect();
        assert_eq!(ranks, [(50, 0), (30, 0), (70, 1)], "two that are equally slow are not the slowest");
    }

    #[test]
    fn steps_in_which_nothing_ran_are_even() {
        let steps = step_totals(StepMethod::Ranges, "step", &["a", "b"], &[0, 0, 0, 0]);
        assert_eq!((steps.imbalance, steps.ranks[0].slowest), (0.0, 0));
    }
}
