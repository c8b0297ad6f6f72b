//! How late each rank comes to each collective, from the first one to the last.

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

use super::collectives::{self, GroupInstances};
use super::members::Members;
use crate::base::ops::Order;
use crate::names::kernel_names::KernelNames;
use crate::ranks::align::MatchedCollective;

/// The most cells of the picture.
const CELLS: usize = 1 << 17;

/// The most columns of the picture.
const COLUMNS: usize = 600;

/// How late ranks come to collectives. A column is a collective, or the mean of consecutive ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Arrivals {
    /// The ranks, by number.
    pub ranks: Vec<String>,
    /// How many collectives of several ranks were matched.
    pub collectives: u64,
    /// How many of them a column has; the last one may have fewer.
    pub collectives_per_column: u64,
    /// The kernel of each column, of its first collective.
    pub kernels: Vec<String>,
    /// The end of the first collective of each column in ns.
    pub end_ns: Vec<i64>,
    /// Indexed by rank, then by column: ns after the first rank, the mean of its collectives; `None` where it was in none.
    pub late_ns: Vec<Vec<Option<i64>>>,
}

/// `None` where no collective was matched.
pub(crate) fn arrivals(tables: &Tables, order: &Order, names: &KernelNames) -> Option<Arrivals> {
    if !names.any_collective() {
        return None;
    }
    let members = Members::new(tables, order);
    if members.all.len() < 2 {
        return None;
    }
    let instances = collectives::collectives(tables, &members, names).instances;
    let end = |collective: &MatchedCollective| collective.iter().map(|&(.., end)| end).min().unwrap_or(0);
    let mut all: Vec<(i64, &GroupInstances, &MatchedCollective)> = instances
        .iter()
        .flat_map(|group| group.all.iter().map(move |collective| (end(collective), group, collective)))
        .collect();
    all.sort_by(|one, other| (one.0, &one.1.kernel, one.2).cmp(&(other.0, &other.1.kernel, other.2)));
    let columns = (CELLS / members.all.len()).clamp(1, COLUMNS);
    let each = all.len().div_ceil(columns).max(1);
    let mut found = Arrivals {
        ranks: members.all.iter().map(|member| member.name.clone()).collect(),
        collectives: all.len() as u64,
        collectives_per_column: each as u64,
        late_ns: vec![Vec::new(); members.all.len()],
        ..Arrivals::default()
    };
    for column in all.chunks(each) {
        let mut sums = vec![(0_i64, 0_i64); members.all.len()];
        for (_, group, collective) in column {
            for (member, late) in late(collective, group.on_one_clock) {
                let (sum, count) = &mut sums[member];
                (*sum, *count) = (sum.saturating_add(late), *count + 1);
            }
        }
        let (end, group, _) = column[0];
        found.kernels.push(group.kernel.clone());
        found.end_ns.push(end);
        for (row, (sum, count)) in found.late_ns.iter_mut().zip(sums) {
            row.push((count > 0).then(|| sum / count));
        }
    }
    (!all.is_empty()).then_some(found)
}

/// Returns for each member how long after the first one it came, in ns. Members leave together, so without a common clock the
/// one that stays shortest came last.
fn late(collective: &MatchedCollective, on_one_clock: bool) -> impl Iterator<Item = (usize, i64)> {
    let stay = |start: i64, end: i64| end.saturating_sub(start);
    let first = collective.iter().map(|&(_, start, _)| start).min().unwrap_or(0);
    let longest = collective.iter().map(|&(_, start, end)| stay(start, end)).max().unwrap_or(0);
    collective.iter().map(move |&(member, start, end)| {
        let late = if on_one_clock { start.saturating_sub(first) } else { longest - stay(start, end) };
        (member, late)
    })
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Agent, Dispatch, Process, Track};
    use rtl_schema::{AgentId, ProcessId};

    use super::*;
    use crate::{Analysis, Categories};

    #[test]
    fn the_rank_that_comes_last_is_late_by_what_the_others_wait() {
        let mut tables = Tables {
            processes: (0..3).map(|rank| Process { rank: Some(rank), ..Process::default() }).collect(),
            agents: (0..3).map(|number| Agent { number, ..Agent::default() }).collect(),
            ..Tables::default()
        };
        for step in 0..12_i64 {
            for rank in 0..3_u32 {
                let track = Track { process: ProcessId(rank), agent: AgentId(rank), ..Track::default() };
                let track = tables.tracks.intern(track);
                let name = tables.strings.intern("ncclDevKernel_AllReduce_Sum");
                let late = i64::from(rank) * 100;
                // Steps of different lengths have a rhythm.
                let start = step * 10_000 + step * step * 37 + late;
                let duration = Some(1_000 - late);
                tables.dispatches.push(Dispatch { track, name, start, duration, ..Dispatch::default() });
            }
        }
        let arrivals = Analysis::new(&tables, &Categories::default()).arrivals().unwrap();
        assert_eq!((arrivals.collectives, arrivals.collectives_per_column), (12, 1));
        assert_eq!(arrivals.ranks.len(), 3);
        for (row, late) in arrivals.late_ns.iter().zip([0, 100, 200]) {
            assert_eq!(row, &[Some(late); 12]);
        }
        let none = Analysis::new(&Tables::default(), &Categories::default()).arrivals();
        assert_eq!(none, None);
    }
}
