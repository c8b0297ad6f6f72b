//! Groups of ranks that take part in the same collectives, found without comparing clocks.
//!
//! A trace does not say which communicator a collective belongs to. But all members of one leave it together: from one
//! collective to the next, the same time passes on each of their clocks, whatever those show. Ranks that only run
//! the same program in step differ by the noise of what they compute in between. So sequences of the same kernel with the
//! same number of launches are one group where the steps from end to end agree, and nothing is matched by its
//! order where they do not, or where the numbers differ.

use crate::stats::robust_deviation;

/// How much the steps of two members differ, as a standard deviation in ns: what leaving a collective adds on a loaded
/// node, and far less than two groups that only do the same differ by.
const IN_STEP_NS: f64 = 30_000.0;

/// The least number of steps.
const LEAST: usize = 3;

/// Steps that are compared first, spread over the sequence: most pairs differ there.
const SAMPLE: usize = 64;

/// The collectives of one kind that one rank launched on one queue, in the order of their ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The index of the rank.
    pub rank: usize,
    /// The kernel and launch shape, as the caller numbers them: equal on all members.
    pub kind: u64,
    /// Start and end in ns of the rank's clock.
    pub calls: Vec<(i64, i64)>,
}

/// Sequences that are the same collectives seen from each member: the calls with the same index belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Indices of the sequences, by rank.
    pub members: Vec<usize>,
}

/// The same collective on two or more ranks: rank, start and end of each member, by rank.
pub type MatchedCollective = Vec<(usize, i64, i64)>;

/// The result of grouping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// Groups of at least two ranks, by their first member.
    pub groups: Vec<Group>,
    /// Sequences that no other rank's could be matched with.
    pub unmatched: Vec<usize>,
}

/// Finds the groups.
#[must_use]
pub fn group_sequences(sequences: &[Sequence]) -> Groups {
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|&at| (sequences[at].kind, sequences[at].calls.len(), sequences[at].rank, at));
    let mut found: Vec<Group> = Vec::new();
    let alike = |one: &usize, other: &usize| {
        let of = |at: usize| (sequences[at].kind, sequences[at].calls.len());
        of(*one) == of(*other)
    };
    for same in order.chunk_by(alike) {
        let first = found.len();
        for &at in same {
            let sequence = &sequences[at];
            let candidates = found[first..].iter_mut().filter(|group| {
                group.members.last().is_some_and(|&member| sequences[member].rank != sequence.rank)
            });
            // The best of those in step: two groups of one rank may be nearly in step with each other.
            let best = candidates
                .filter_map(|group| Some((apart(&sequences[group.members[0]], sequence)?, group)))
                .min_by(|one, other| one.0.total_cmp(&other.0));
            match best {
                Some((_, group)) => group.members.push(at),
                None => found.push(Group { members: vec![at] }),
            }
        }
    }
    let (groups, unmatched): (Vec<Group>, Vec<Group>) =
        found.into_iter().partition(|group| group.members.len() > 1);
    let mut unmatched: Vec<usize> = unmatched.into_iter().flat_map(|group| group.members).collect();
    unmatched.sort_unstable();
    Groups { groups, unmatched }
}

/// By how much the steps of two sequences differ, in ns, where they are in step.
fn apart(one: &Sequence, other: &Sequence) -> Option<f64> {
    let steps = one.calls.len().checked_sub(1).filter(|&steps| steps >= LEAST)?;
    let difference = |step: usize| {
        let end = |sequence: &Sequence, call: usize| sequence.calls[call].1;
        let of = |sequence: &Sequence| end(sequence, step + 1).saturating_sub(end(sequence, step)) as f64;
        of(one) - of(other)
    };
    if steps > 2 * SAMPLE {
        let mut some: Vec<f64> = (0..SAMPLE).map(|at| difference(at * steps / SAMPLE)).collect();
        if robust_deviation(&mut some) > 2.0 * IN_STEP_NS {
            return None;
        }
    }
    let mut all: Vec<f64> = (0..steps).map(difference).collect();
    Some(robust_deviation(&mut all)).filter(|&apart| apart <= IN_STEP_NS)
}

/// The collectives of a group, from first to last.
pub fn matched_collectives<'a>(
    group: &'a Group,
    sequences: &'a [Sequence],
) -> impl Iterator<Item = MatchedCollective> + 'a {
    let calls = group.members.first().map_or(0, |&first| sequences[first].calls.len());
    (0..calls).map(move |call| {
        let member = |&at: &usize| {
            let (start, end) = sequences[at].calls[call];
            (sequences[at].rank, start, end)
        };
        group.members.iter().map(member).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::random::Random;

    /// Collectives of these ranks, whose clocks are seconds apart and drift.
    fn group(ranks: &[usize], kind: u64, calls: usize, seed: u64) -> Vec<Sequence> {
        let mut random = Random::new(seed);
        let mut ends = Vec::new();
        let mut now = 0.0;
        for _ in 0..calls {
            now += 1e7 + 1e5 * random.normal();
            ends.push(now);
        }
        let mut of = |rank: usize| {
            let clock = |time: f64| rank as f64 * 1e9 + time * (1.0 + 1e-6 * rank as f64);
            let call = |end: &f64| {
                let end = clock(end + 5_000.0 * random.normal()) as i64;
                (end - 50_000, end)
            };
            Sequence { rank, kind, calls: ends.iter().map(call).collect() }
        };
        ranks.iter().map(|&rank| of(rank)).collect()
    }

    fn ranks(groups: &Groups, sequences: &[Sequence]) -> Vec<Vec<usize>> {
        let of = |group: &Group| group.members.iter().map(|&at| sequences[at].rank).collect();
        groups.groups.iter().map(of).collect()
    }

    #[test]
    fn two_groups_that_run_the_same_kernel_in_the_same_rhythm_are_told_apart() {
        let mut sequences = group(&[0, 1, 2, 3], 7, 200, 1);
        sequences.extend(group(&[4, 5, 6, 7], 7, 200, 2));
        sequences.swap(1, 5);
        let found = group_sequences(&sequences);
        assert_eq!(ranks(&found, &sequences), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(found.unmatched, [] as [usize; 0]);
    }

    #[test]
    fn a_rank_may_be_in_several_groups() {
        let mut sequences = group(&[0, 1], 7, 100, 1);
        sequences.extend(group(&[2, 3], 7, 100, 2));
        sequences.extend(group(&[0, 2], 7, 100, 3));
        sequences.extend(group(&[1, 3], 9, 100, 4));
        assert_eq!(
            ranks(&group_sequences(&sequences), &sequences),
            [vec![0, 1], vec![0, 2], vec![2, 3], vec![1, 3]]
        );
    }

    #[test]
    fn sequences_of_different_length_are_left_alone() {
        let mut sequences = group(&[0, 1], 7, 100, 1);
        sequences[1].calls.remove(50);
        let found = group_sequences(&sequences);
        assert_eq!((found.groups.len(), found.unmatched), (0, vec![0, 1]));
    }

    #[test]
    fn too_few_calls_tell_nothing() {
        assert_eq!(group_sequences(&group(&[0, 1], 7, 3, 1)).groups, []);
        assert_eq!(group_sequences(&group(&[0, 1], 7, 4, 1)).groups.len(), 1);
        assert_eq!(group_sequences(&[]), Groups::default());
    }

    #[test]
    fn a_meeting_is_one_collective_on_all_its_members() {
        let calls = |shift: i64| (0..5).map(|call| (call * 100 + shift, call * 100 + shift + 9)).collect();
        let sequences = [3, 1].map(|rank| Sequence { rank, kind: 0, calls: calls(rank as i64 * 1000) });
        let found = group_sequences(&sequences);
        let all: Vec<MatchedCollective> = matched_collectives(&found.groups[0], &sequences).collect();
        assert_eq!(all[1], [(1, 1100, 1109), (3, 3100, 3109)]);
        assert_eq!(all.len(), 5);
    }
}
