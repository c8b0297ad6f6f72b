//! Idle time of a GPU around the ops of a launch: a kernel that is missing ran then.

use rtl_schema::AgentId;

use crate::Analysis;

/// The gaps of one GPU in order: start, end, and the time of all up to this one, in ns.
#[derive(Debug)]
pub(super) struct Room {
    agent: AgentId,
    gaps: Vec<(i64, i64, u64)>,
    end: i64,
}

impl Room {
    /// Finds the gaps of each GPU with ops.
    pub(super) fn of_gpus(analysis: &Analysis<'_>) -> Vec<Self> {
        let tables = analysis.tables;
        let of_gpu = |ops: &crate::base::ops::AgentOps| {
            let base = ops.base(tables);
            let (mut gaps, mut end, mut sum) = (Vec::new(), 0_u64, 0);
            for same in ops.in_order(tables) {
                if same.start > end {
                    sum += same.start - end;
                    let [from, to] = [end, same.start].map(|moment| base.saturating_add_unsigned(moment));
                    gaps.push((from, to, sum));
                }
                let ends = same.ops().map(|op| same.start.saturating_add(op.length(tables)));
                end = ends.fold(end, u64::max);
            }
            Self { agent: ops.agent, gaps, end: base.saturating_add_unsigned(end) }
        };
        analysis.order().agents.iter().map(of_gpu).collect()
    }

    /// Returns whether kernels of this time in ns may have run on a GPU before, between or right behind ops from `first` to `last`,
    /// in ns. What ran after the last op of the recording is not known.
    pub(super) fn is_for(all: &[Self], agent: AgentId, [first, last]: [i64; 2], ns: u64) -> bool {
        let Some(room) = all.iter().find(|room| room.agent == agent) else { return true };
        if last >= room.end {
            return true;
        }
        let from = room.gaps.partition_point(|&(_, end, _)| end < first);
        let to = room.gaps.partition_point(|&(start, ..)| start <= last);
        let sum = |gaps: usize| gaps.checked_sub(1).map_or(0, |last| room.gaps[last].2);
        sum(to).saturating_sub(sum(from)) >= ns
    }
}
