//! The ops of each agent in order of start.

use schema::table::AgentKind;
use schema::{AgentId, Tables};

/// For each agent the rows of its dispatches and copies with a known, non-negative duration, by start.
/// CPU agents are left out; the order of equal starts is left open.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub(crate) agents: Vec<AgentOps>,
}

/// The rows of one agent that ran something.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOps {
    pub(crate) agent: AgentId,
    pub(crate) dispatches: Vec<u32>,
    pub(crate) copies: Vec<u32>,
}

impl Order {
    /// Orders the ops of `tables`: four bytes for each.
    pub fn of(tables: &Tables) -> Self {
        let agent_of_lane: Vec<u32> = tables.lanes.rows().iter().map(|lane| lane.agent.0).collect();
        let agent_count = agent_of_lane.iter().max().map_or(0, |&agent| agent as usize + 1);
        let dispatches = &tables.dispatches;

        let mut rows_of_lane = vec![0_usize; agent_of_lane.len()];
        for lane in &dispatches.lane {
            rows_of_lane[lane.index()] += 1;
        }
        let mut counts = vec![0; agent_count];
        for (lane, count) in rows_of_lane.iter().enumerate() {
            counts[agent_of_lane[lane] as usize] += count;
        }
        let mut agents: Vec<AgentOps> = counts
            .iter()
            .enumerate()
            .map(|(agent, &count)| AgentOps {
                agent: AgentId(agent as u32),
                dispatches: Vec::with_capacity(count),
                copies: Vec::new(),
            })
            .collect();

        let all_short = dispatches.duration.all_short();
        for (row, lane) in dispatches.lane.iter().enumerate() {
            if all_short || dispatches.duration.valid(row).is_some() {
                agents[agent_of_lane[lane.index()] as usize].dispatches.push(row as u32);
            }
        }
        for (row, copy) in tables.copies.iter().enumerate() {
            if copy.duration.is_some_and(|duration| duration >= 0) {
                agents[agent_of_lane[copy.lane.index()] as usize].copies.push(row as u32);
            }
        }
        for agent in &mut agents {
            sort_by_start(&mut agent.dispatches, |row| dispatches.start[row as usize]);
            sort_by_start(&mut agent.copies, |row| tables.copies[row as usize].start);
        }
        agents.retain(|ops| {
            let is_cpu =
                tables.agents.get(ops.agent.index()).is_some_and(|agent| agent.kind == AgentKind::Cpu);
            !is_cpu && (!ops.dispatches.is_empty() || !ops.copies.is_empty())
        });
        Self { agents }
    }
}

/// Sorts `rows` by start. Recorders write ops in order of completion, so most rows are in place and the
/// others a few places off: insertion repairs that in one pass, and gives way to a real sort beyond a budget.
pub(crate) fn sort_by_start(rows: &mut [u32], start: impl Fn(u32) -> i64) {
    let mut budget = rows.len().saturating_mul(4);
    let Some(&first) = rows.first() else { return };
    let mut last = start(first);
    for position in 1..rows.len() {
        let row = rows[position];
        let moment = start(row);
        if moment >= last {
            last = moment;
            continue;
        }
        let mut hole = position;
        while hole > 0 && start(rows[hole - 1]) > moment {
            rows[hole] = rows[hole - 1];
            hole -= 1;
        }
        rows[hole] = row;
        match budget.checked_sub(position - hole) {
            Some(left) => budget = left,
            None => {
                rows.sort_unstable_by_key(|&row| start(row));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_rows_come_out_sorted(starts in prop::collection::vec(0_i64..1000, 0..400)) {
            let mut rows: Vec<u32> = (0..starts.len() as u32).collect();
            sort_by_start(&mut rows, |row| starts[row as usize]);
            prop_assert!(rows.is_sorted_by_key(|&row| starts[row as usize]));
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..starts.len() as u32).collect::<Vec<_>>());
        }
    }
}
