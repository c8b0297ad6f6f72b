//! Groups of ranks that take part in the same collectives, found without comparing clocks.
//!
//! Where the trace states communicators and sequence numbers, they decide. Else all members of a collective leave it
//! together: from one collective to the next, the same time passes on each of their clocks, whatever those show. Ranks that
//! only run the same program in step differ by the noise of what they compute in between. So sequences of the same
//! kernel are one group where their intervals agree (module `matching`), even if a rank lacks calls: a recording begins and
//! ends at another call on each rank. Once two ranks are in a group, the difference of their clocks is known and
//! finds their other groups, whatever their rhythm.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::call_lists::CallLists;
use super::differences::Differences;
use super::draft::Draft;
use super::placing;

pub use super::rhythm::Label;
pub use super::sequence::Sequence;

/// A collective that lacks a larger part of the group's members says nothing of waits: the last one may be missing.
const MAY_LACK: usize = 20;

/// Sequences that are the same collectives seen from each member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Indices of the sequences, by rank.
    pub members: Vec<usize>,
    /// Indexed by collective, in order of time: the position in `members` and the call of each member that has it.
    collectives: CallLists,
}

/// One collective on two or more ranks: rank, start and end of each member, by rank.
pub type MatchedCollective = Vec<(usize, i64, i64)>;

/// The result of grouping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// Groups of at least two ranks, by their first member.
    pub groups: Vec<Group>,
    /// Sequences that no other rank's could be matched with.
    pub unmatched: Vec<usize>,
}

/// Calls that no other rank's could be matched with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unmatched {
    /// The number of calls.
    pub calls: u64,
    /// The number of them before or after everything that the other members of their group recorded.
    pub at_edges: u64,
    /// The indices of ranks without a single matched call: no verdict covers them.
    pub ranks: Vec<usize>,
}

/// Groups the ranks that run the same collectives in the same order, without any clock.
#[must_use]
pub fn group_sequences(sequences: &[Sequence]) -> Groups {
    let ranks = sequences.iter().map(|sequence| sequence.rank + 1).max().unwrap_or(0);
    let mut differences = Differences::new(ranks);
    let mut drafts = placing::drafts(sequences, &mut differences);
    // Some were tried before the clocks of their ranks were related.
    if differences.related() > 0 && drafts.iter().any(|draft| draft.members.len() < 2) {
        drafts = placing::drafts(sequences, &mut differences);
    }
    drafts.sort_by_key(|draft| {
        let first = &sequences[draft.members[0]];
        (first.kind, first.rank, draft.members[0])
    });
    let (groups, unmatched): (Vec<Draft>, Vec<Draft>) =
        drafts.into_iter().partition(|draft| draft.members.len() > 1);
    let mut unmatched: Vec<usize> = unmatched.into_iter().flat_map(|draft| draft.members).collect();
    unmatched.sort_unstable();
    Groups { groups: threads::map(groups, Group::of), unmatched }
}

/// The collectives of a group that at least two ranks have, from first to last.
pub fn matched_collectives<'a>(
    group: &'a Group,
    sequences: &'a [Sequence],
) -> impl Iterator<Item = MatchedCollective> + 'a {
    matched_every(group, 1, sequences)
}

/// The first of every `step` of them.
pub fn matched_every<'a>(
    group: &'a Group,
    step: usize,
    sequences: &'a [Sequence],
) -> impl Iterator<Item = MatchedCollective> + 'a {
    let matched = group.collectives.iter().filter(|calls| calls.len() > 1);
    matched.step_by(step).map(|calls| group.stated(calls, sequences))
}

/// As [`matched_collectives`], of one of [`Group::parts`].
pub fn matched_within<'a>(
    group: &'a Group,
    part: Range<usize>,
    sequences: &'a [Sequence],
) -> impl Iterator<Item = MatchedCollective> + 'a {
    let calls = group.collectives.within(part).filter(|calls| calls.len() > 1);
    calls.map(|calls| group.stated(calls, sequences))
}

/// All collectives of a group, also those that one rank has: of each member the position of its sequence and of its call.
pub fn collective_calls(group: &Group) -> impl Iterator<Item = Vec<(usize, usize)>> + '_ {
    let sequence = |&(member, call): &(u32, u32)| (group.members[member as usize], call as usize);
    group.collectives.iter().map(move |calls| calls.iter().map(sequence).collect())
}

impl Group {
    fn of(draft: Draft) -> Self {
        let (members, collectives) = draft.finish();
        Self { members, collectives }
    }

    fn stated(&self, calls: &[(u32, u32)], sequences: &[Sequence]) -> MatchedCollective {
        let member = |&(member, call): &(u32, u32)| {
            let sequence = &sequences[self.members[member as usize]];
            let (start, end) = sequence.calls[call as usize];
            (sequence.rank, start, end)
        };
        calls.iter().map(member).collect()
    }

    /// Parts of its collectives of about as many calls, from first to last.
    pub fn parts(&self, calls: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (all, length) = (self.collectives.len(), (calls / self.members.len().max(1)).max(1));
        (0..all).step_by(length).map(move |first| first..all.min(first + length))
    }

    /// How many collectives have the calls of more than one member.
    #[must_use]
    pub fn matched(&self) -> usize {
        self.collectives.iter().filter(|calls| calls.len() > 1).count()
    }

    /// Returns whether a collective has the calls of enough members for the last one to be among them: at least 19 of 20.
    #[must_use]
    pub fn is_whole(&self, collective: &MatchedCollective) -> bool {
        is_whole(collective.len(), self.members.len())
    }
}

/// Returns whether this number of calls of this number of members is enough for the last one to be among them.
#[must_use]
pub fn is_whole(calls: usize, members: usize) -> bool {
    members.saturating_sub(calls) * MAY_LACK <= members
}

impl Groups {
    /// The calls that were not matched.
    #[must_use]
    pub fn unmatched(&self, sequences: &[Sequence]) -> Unmatched {
        let mut found = Unmatched::default();
        // By rank, whether it has a matched call.
        let mut ranks: FxHashMap<usize, bool> = FxHashMap::default();
        for &at in &self.unmatched {
            found.calls += sequences[at].calls.len() as u64;
            if !sequences[at].calls.is_empty() {
                ranks.entry(sequences[at].rank).or_insert(false);
            }
        }
        for group in &self.groups {
            let is_matched = |calls: &[(u32, u32)]| calls.len() > 1;
            let first = group.collectives.iter().position(is_matched).unwrap_or(0);
            let last = group.collectives.iter().rposition(is_matched).unwrap_or(0);
            let alone = group.collectives.iter().enumerate().filter(|(_, calls)| calls.len() == 1);
            for (at, _) in alone {
                found.calls += 1;
                found.at_edges += u64::from(!(first..=last).contains(&at));
            }
            for &member in &group.members {
                ranks.insert(sequences[member].rank, true);
            }
        }
        found.ranks = ranks.into_iter().filter(|(_, is_matched)| !is_matched).map(|(rank, _)| rank).collect();
        found.ranks.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

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
            Sequence { rank, kind, calls: ends.iter().map(call).collect(), ..Sequence::default() }
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
    fn a_call_that_one_rank_lacks_leaves_the_others_matched() {
        let mut sequences = group(&[0, 1, 2], 7, 100, 1);
        let ends: Vec<i64> = sequences[1].calls.iter().map(|call| call.1).collect();
        sequences[1].calls.remove(50);
        sequences[0].calls.drain(..6);
        sequences[2].calls.truncate(90);
        let found = group_sequences(&sequences);
        let all: Vec<MatchedCollective> = matched_collectives(&found.groups[0], &sequences).collect();
        assert_eq!((found.groups.len(), all.len()), (1, 100));
        let members = |collective: usize| all[collective].iter().map(|call| call.0).collect::<Vec<_>>();
        assert_eq!(
            [members(5), members(50), members(7), members(99)],
            [vec![1, 2], vec![0, 2], vec![0, 1, 2], vec![0, 1]]
        );
        let of_second: Vec<i64> =
            all.iter().flatten().filter(|call| call.0 == 1).map(|call| call.2).collect();
        assert_eq!(of_second, [&ends[..50], &ends[51..]].concat());
        let whole = all.iter().filter(|collective| found.groups[0].is_whole(collective)).count();
        assert_eq!(whole, 100 - 6 - 10 - 1);
    }

    #[test]
    fn a_rank_that_matches_no_other_is_told() {
        let mut sequences = group(&[0, 1], 7, 100, 1);
        sequences.extend(group(&[2], 7, 100, 2));
        let found = group_sequences(&sequences);
        let expected = Unmatched { calls: 100, at_edges: 0, ranks: vec![2] };
        assert_eq!(found.unmatched(&sequences), expected);
        sequences[0].calls.drain(..4);
        sequences[1].calls.remove(20);
        let found = group_sequences(&sequences);
        let expected = Unmatched { calls: 105, at_edges: 4, ranks: vec![2] };
        assert_eq!(found.unmatched(&sequences), expected);
    }

    #[test]
    fn sequence_numbers_match_what_has_no_rhythm() {
        let calls = |ends: &[i64]| ends.iter().map(|&end| (end * 1_000_000 - 500, end * 1_000_000)).collect();
        let labels = |numbers: &[u32]| numbers.iter().map(|&number| Label { tag: 1, number }).collect();
        let sequence = |rank, communicator, ends: &[i64], numbers: &[u32]| Sequence {
            rank,
            communicator,
            calls: calls(ends),
            labels: labels(numbers),
            ..Sequence::default()
        };
        let sequences = [
            sequence(0, 5, &[1, 7, 9, 20], &[3, 4, 5, 6]),
            sequence(0, 6, &[2, 8, 10], &[3, 4, 5]),
            sequence(1, 5, &[30, 50, 51], &[4, 6, 7]),
            sequence(1, 6, &[33, 44, 61], &[4, 5, 6]),
        ];
        let found = group_sequences(&sequences);
        assert_eq!(ranks(&found, &sequences), [[0, 1], [0, 1]]);
        let ends = |at: usize| -> Vec<Vec<i64>> {
            let all = matched_collectives(&found.groups[at], &sequences);
            all.map(|calls| calls.iter().map(|call| call.2 / 1_000_000).collect()).collect()
        };
        assert_eq!(ends(0), [[7, 30], [20, 50]]);
        assert_eq!(ends(1), [[8, 33], [10, 44]]);
    }

    #[test]
    fn a_few_calls_are_matched_where_others_relate_the_clocks() {
        let mut sequences = group(&[0, 1], 7, 100, 1);
        let mut few = group(&[0, 1], 9, 100, 1);
        few.iter_mut().for_each(|sequence| {
            sequence.calls.drain(..40);
            sequence.calls.truncate(2);
        });
        few[0].calls.remove(0);
        sequences.extend(few);
        let found = group_sequences(&sequences);
        assert_eq!(ranks(&found, &sequences), [[0, 1], [0, 1]]);
        let few: Vec<MatchedCollective> = matched_collectives(&found.groups[1], &sequences).collect();
        let first = &sequences[3].calls[1];
        assert_eq!((few.len(), few[0][1]), (1, (1, first.0, first.1)));
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
        let sequences =
            [3, 1].map(|rank| Sequence { rank, calls: calls(rank as i64 * 1000), ..Sequence::default() });
        let found = group_sequences(&sequences);
        let all: Vec<MatchedCollective> = matched_collectives(&found.groups[0], &sequences).collect();
        assert_eq!(all[1], [(1, 1100, 1109), (3, 3100, 3109)]);
        assert_eq!(all.len(), 5);
        let every_second: Vec<MatchedCollective> = matched_every(&found.groups[0], 2, &sequences).collect();
        assert_eq!(every_second, [all[0].clone(), all[2].clone(), all[4].clone()]);
    }
}
