//! How long ranks waited in collectives, with aligned clocks and without.
//!
//! With one clock: a rank waits from its own start to the start of the last arriver, and what follows is transfer. Without:
//! the member with the shortest duration arrived last, its duration is the transfer, and the rest of the others' is how long
//! they waited. The two agree where the clocks are right; the second needs none.

use std::borrow::Borrow;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::groups::MatchedCollective;
use crate::base::stats::{median, robust_deviation};

/// A larger share of collectives in which a member ends before the last one starts says that the clocks of their
/// members are not one.
const MAX_VIOLATIONS: f64 = 0.01;

/// A straggler waits less than this part of what is usual; with less than [`CLEARLY`] it is one wherever the others lie.
const LITTLE: f64 = 0.5;
const CLEARLY: f64 = 0.1;

/// Between the two a straggler lies this number of spreads below what is usual: ranks without a fault wait differently too.
const SPREADS: f64 = 3.5;

/// A straggler costs the others at least this part of their time.
const MATTERS: f64 = 0.01;

/// How much too small the spread of three and more values is on average, where it is that of normal values (Croux and Rousseeuw
/// 1992).
const FEW: [f64; 7] = [1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107];

/// The waits of one rank. Field names of serialised fields are those of `rtl-merge/1`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RankWaits {
    /// Collectives that it was in.
    pub collectives: u64,
    /// The number of them whose members are on one clock: figures by clock cover only these.
    #[serde(skip)]
    pub timed: u64,
    /// ns that it waited for later ones, by the clocks.
    pub wait_ns: i64,
    /// ns that were left of its duration when the last one had come, by the clocks.
    #[serde(skip)]
    pub transfer_ns: i64,
    /// ns that the others would not have waited had it come when the last but one did, by the clocks.
    pub delay_ns: i64,
    /// How often it came last, by the clocks.
    pub last: u64,
    /// ns that it waited, without clocks.
    pub clock_free_wait_ns: i64,
    /// ns of its duration that it did not wait, without clocks.
    #[serde(skip)]
    pub clock_free_transfer_ns: i64,
    /// How often it came last, without clocks.
    pub clock_free_last: u64,
    /// ns from its first start to its last end, on its own clock.
    #[serde(skip)]
    pub span: Option<(i64, i64)>,
}

impl RankWaits {
    /// ns that it waited in a collective, on average, without clocks.
    #[must_use]
    pub fn mean_wait_ns(&self) -> f64 {
        self.clock_free_wait_ns as f64 / self.collectives.max(1) as f64
    }
}

/// The waits of all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Waits {
    /// Indexed by rank.
    pub ranks: Vec<RankWaits>,
    /// Collectives of at least two ranks.
    pub collectives: u64,
    /// ns from the first arrival to the last, summed over the collectives, by the clocks.
    pub spread_ns: i64,
    /// ns from the last arrival to the last end, summed, by the clocks.
    pub transfer_ns: i64,
    /// As the transfer above, without clocks: the shortest durations.
    pub clock_free_transfer_ns: i64,
}

impl RankWaits {
    fn append(&mut self, other: &Self) {
        self.collectives += other.collectives;
        self.timed += other.timed;
        add(&mut self.wait_ns, other.wait_ns);
        add(&mut self.transfer_ns, other.transfer_ns);
        add(&mut self.delay_ns, other.delay_ns);
        self.last += other.last;
        add(&mut self.clock_free_wait_ns, other.clock_free_wait_ns);
        add(&mut self.clock_free_transfer_ns, other.clock_free_transfer_ns);
        self.clock_free_last += other.clock_free_last;
        if let Some((start, end)) = other.span {
            self.lasts(start, end);
        }
    }

    /// Extends the time that it was recorded for.
    fn lasts(&mut self, start: i64, end: i64) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }
}

impl Waits {
    /// No collectives of this number of ranks.
    #[must_use]
    pub fn none(ranks: usize) -> Self {
        Self { ranks: vec![RankWaits::default(); ranks], ..Self::default() }
    }

    /// Adds the collectives of a group: `members` has the rank behind each of its ranks.
    pub fn append(&mut self, other: &Self, members: &[usize]) {
        members.iter().zip(&other.ranks).for_each(|(&rank, more)| self.ranks[rank].append(more));
        self.append_sums(other);
    }

    /// Adds further collectives, without what each rank waited in them.
    pub fn append_sums(&mut self, other: &Self) {
        self.collectives += other.collectives;
        add(&mut self.spread_ns, other.spread_ns);
        add(&mut self.transfer_ns, other.transfer_ns);
        add(&mut self.clock_free_transfer_ns, other.clock_free_transfer_ns);
    }

    /// The rank that the others waited for: the one that itself waited least, without clocks. `None` where no rank stands
    /// out: in at least ten collectives it must have waited less than half as long as is usual, farther below than ranks
    /// differ, and that must matter.
    #[must_use]
    pub fn straggler(&self) -> Option<usize> {
        let waited: Vec<(usize, f64)> = (self.ranks.iter().enumerate())
            .filter(|(_, rank)| rank.collectives >= 10)
            .map(|(rank, waits)| (rank, waits.mean_wait_ns()))
            .collect();
        let &(rank, least) = waited.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
        let mut all: Vec<f64> = waited.iter().map(|&(_, wait)| wait).collect();
        let usual = median(&mut all);
        // Two ranks have no spread.
        let few = all.len().checked_sub(3).map_or(f64::INFINITY, |at| FEW.get(at).copied().unwrap_or(1.0));
        let spread = few * robust_deviation(&mut all);
        let own = &self.ranks[rank];
        let span = own.span.map_or(0, |(first, last)| last.saturating_sub(first)) as f64;
        let stands_out = least < CLEARLY * usual || usual - least > SPREADS * spread;
        let matters = (usual - least) * own.collectives as f64 >= MATTERS * span;
        (waited.len() > 1 && least < LITTLE * usual && stands_out && matters).then_some(rank)
    }
}

/// A collective with positions among `members`, the ranks of its group in ascending order, in place of ranks: figures of a
/// group then take no more memory than its members, of however many ranks.
#[must_use]
pub fn by_position(collective: &MatchedCollective, members: &[usize]) -> MatchedCollective {
    let mut position = 0;
    let call = |&(rank, start, end): &(usize, i64, i64)| {
        position += members[position..].iter().take_while(|&&member| member < rank).count();
        (position, start, end)
    };
    collective.iter().map(call).collect()
}

/// Counts them; `matched` on one clock where `aligned`, else only what needs no clocks.
#[must_use]
pub fn waits(
    matched: impl IntoIterator<Item = impl Borrow<MatchedCollective>>,
    ranks: usize,
    aligned: bool,
) -> Waits {
    let mut waits = Waits::none(ranks);
    for collective in matched {
        let collective = collective.borrow();
        if collective.len() < 2 {
            continue;
        }
        waits.collectives += 1;
        for &(rank, start, end) in collective {
            waits.ranks[rank].collectives += 1;
            waits.ranks[rank].lasts(start, end);
        }
        waits.without_clocks(collective);
        if aligned {
            waits.with_clocks(collective);
        }
    }
    waits
}

/// Counts the collectives in which a member ends before the last one starts.
#[must_use]
pub fn violations(matched: impl IntoIterator<Item = impl Borrow<MatchedCollective>>) -> u64 {
    let is_violation = |collective: &MatchedCollective| {
        let last_start = collective.iter().map(|&(_, start, _)| start).max();
        let first_end = collective.iter().map(|&(.., end)| end).min();
        first_end < last_start
    };
    matched.into_iter().filter(|collective| is_violation(collective.borrow())).count() as u64
}

/// Returns whether there are so few violations that the clocks of the members can be one.
#[must_use]
pub fn are_on_one_clock(violations: u64, collectives: u64) -> bool {
    violations as f64 <= MAX_VIOLATIONS * collectives as f64
}

/// How far the ends of a collective on two ranks of one clock may lie apart in ns, in the middle.
const TOGETHER_NS: f64 = 50_000.0;

/// Fewer collectives say nothing of clocks.
pub const LEAST_OF_A_CLOCK: usize = 10;

/// Returns whether all members end the collectives together, as they do where their times are on one clock.
#[must_use]
pub fn leave_together<'a>(matched: impl IntoIterator<Item = &'a MatchedCollective>) -> bool {
    let mut apart: FxHashMap<usize, Vec<f64>> = FxHashMap::default();
    for collective in matched {
        let mut ends: Vec<f64> = collective.iter().map(|&(.., end)| end as f64).collect();
        let middle = median(&mut ends);
        for &(rank, _, end) in collective {
            apart.entry(rank).or_default().push(end as f64 - middle);
        }
    }
    let is_near =
        |apart: &mut Vec<f64>| apart.len() >= LEAST_OF_A_CLOCK && median(apart).abs() <= TOGETHER_NS;
    !apart.is_empty() && apart.values_mut().all(is_near)
}

impl Waits {
    fn without_clocks(&mut self, collective: &MatchedCollective) {
        let duration = |&(_, start, end): &(usize, i64, i64)| end.saturating_sub(start).max(0);
        let Some(last) = collective.iter().min_by_key(|member| duration(member)) else { return };
        let shortest = duration(last);
        self.ranks[last.0].clock_free_last += 1;
        add(&mut self.clock_free_transfer_ns, shortest);
        for member in collective {
            let waits = &mut self.ranks[member.0];
            add(&mut waits.clock_free_wait_ns, duration(member) - shortest);
            add(&mut waits.clock_free_transfer_ns, shortest);
        }
    }

    fn with_clocks(&mut self, collective: &MatchedCollective) {
        let mut starts: Vec<(i64, usize)> =
            collective.iter().map(|&(rank, start, _)| (start, rank)).collect();
        starts.sort_unstable();
        let [(first, _), .., (before, _), (last, late)] = starts[..] else {
            if let [(first, _), (last, late)] = starts[..] {
                self.arrived((first, first, last), late, collective);
            }
            return;
        };
        self.arrived((first, before, last), late, collective);
    }

    /// Arrivals in ns: the first, the last but one, the last; and whose that was.
    fn arrived(
        &mut self,
        (first, before, last): (i64, i64, i64),
        late: usize,
        collective: &MatchedCollective,
    ) {
        add(&mut self.spread_ns, last.saturating_sub(first));
        let others = collective.len() as i64 - 1;
        self.ranks[late].last += 1;
        add(&mut self.ranks[late].delay_ns, last.saturating_sub(before).saturating_mul(others));
        let end = collective.iter().map(|&(_, _, end)| end).max().unwrap_or(last);
        add(&mut self.transfer_ns, end.saturating_sub(last).max(0));
        for &(rank, start, end) in collective {
            let waits = &mut self.ranks[rank];
            waits.timed += 1;
            add(&mut waits.wait_ns, last.saturating_sub(start));
            add(&mut waits.transfer_ns, end.saturating_sub(last).max(0));
        }
    }
}

/// Times of bad rows may be anything.
fn add(sum: &mut i64, more: i64) {
    *sum = sum.saturating_add(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three ranks, one of which always comes 30 ns after the first; 10 ns of transfer.
    fn aligned() -> Vec<MatchedCollective> {
        (0..12)
            .map(|at| at * 1000)
            .map(|at| vec![(0, at, at + 40), (1, at + 30, at + 40), (2, at + 20, at + 40)])
            .collect()
    }

    #[test]
    fn a_rank_waits_for_the_last_arriver() {
        let waits = waits(aligned(), 3, true);
        let waited: Vec<i64> = waits.ranks.iter().map(|rank| rank.wait_ns / 12).collect();
        assert_eq!(waited, [30, 0, 10]);
        assert_eq!((waits.spread_ns, waits.transfer_ns), (12 * 30, 12 * 10));
        let stayed: Vec<i64> = waits.ranks.iter().map(|rank| rank.transfer_ns / 12).collect();
        assert_eq!((stayed, waits.ranks[0].timed), (vec![10; 3], 12));
        assert_eq!((waits.ranks[1].last, waits.ranks[1].delay_ns), (12, 12 * 10 * 2));
    }

    #[test]
    fn the_same_is_told_without_clocks() {
        let mut matched = aligned();
        matched
            .iter_mut()
            .for_each(|collective| collective[2] = (2, collective[2].1 + 5_000, collective[2].2 + 5_000));
        let waits = waits(matched, 3, false);
        let waited: Vec<i64> = waits.ranks.iter().map(|rank| rank.clock_free_wait_ns / 12).collect();
        assert_eq!((waited, waits.clock_free_transfer_ns), (vec![30, 0, 10], 120));
        assert!(waits.ranks.iter().all(|rank| rank.clock_free_transfer_ns == 120 && rank.timed == 0));
        assert_eq!((waits.straggler(), waits.spread_ns), (Some(1), 0));
    }

    #[test]
    fn where_all_come_alike_nobody_is_named() {
        let matched: Vec<MatchedCollective> =
            (0..12).map(|at| (0..3).map(|rank| (rank, at * 100, at * 100 + 50)).collect()).collect();
        assert_eq!(waits(matched, 3, true).straggler(), None);
    }

    /// Collectives every 1,500 us in which ranks wait for these times on average, in us.
    fn waiting(means: &[i64]) -> Waits {
        let collective = |at: i64| {
            let end = at * 1_500_000 + 1_400_000;
            means.iter().enumerate().map(|(rank, mean)| (rank, end - 1_000 * (mean + 200), end)).collect()
        };
        let matched: Vec<MatchedCollective> = (0..100).map(collective).collect();
        waits(&matched, means.len(), false)
    }

    #[test]
    fn ranks_that_differ_by_chance_have_no_straggler() {
        // Mean waits of real jobs without a fault: one rank is a little slower, as one always is.
        for means in [[189, 282, 74, 172], [109, 315, 37, 115]] {
            let mut found = waiting(&means);
            for (rank, mean) in found.ranks.iter_mut().zip(means) {
                rank.clock_free_wait_ns = mean * 100 * 1_000;
            }
            assert_eq!(found.straggler(), None, "{means:?}");
        }
        assert_eq!(waiting(&[1_294, 0, 1_227, 1_232]).straggler(), Some(1));
        let mut two = waiting(&[0, 200]);
        assert_eq!(two.straggler(), Some(0));
        two.ranks[0].clock_free_wait_ns = 20 * 100 * 1_000;
        assert_eq!(two.straggler(), None);
    }

    #[test]
    fn a_rank_that_costs_the_others_nothing_is_no_straggler() {
        assert_eq!(waiting(&[12, 0, 12, 12]).straggler(), None);
        assert_eq!(waiting(&[18, 0, 18, 18]).straggler(), Some(1));
    }

    #[test]
    fn one_rank_alone_meets_nobody() {
        assert_eq!(waits([MatchedCollective::from([(0, 1, 2)])], 1, true).collectives, 0);
    }
}
