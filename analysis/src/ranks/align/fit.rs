//! The clocks of all nodes at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::clock::{Clock, Observation};
use super::groups::MatchedCollective;
use crate::base::stats::{interquartile_mean, median, robust_deviation};

/// Fewer collectives than this, that a node has in common with others, are no evidence.
const LEAST: usize = 10;

/// Where a larger share of collectives contradicts the result, it is not used.
const CONTRADICTED: f64 = 0.01;

/// How often each clock is fitted anew against all the others, and from how many nodes on once.
const ROUNDS: usize = 3;
const MANY: usize = 64;

/// Calls of collectives that one thread looks at together.
const CHUNK: usize = 50_000;

/// A first idea of a clock needs no more observations.
const FIRST: usize = 32;

/// How many of its standard deviations a stated error is.
const SURE: f64 = 2.0;

/// The ends on a node may always be late by as much as they scatter: by what this part of them does not exceed. On four real
/// jobs of four GPUs with one clock they are late by at most 0.7 of that.
const SCATTER: f64 = 0.95;

/// Clocks on one clock.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Alignment {
    /// Indexed by node: its clock, or why it is unknown. The reference has offset 0.
    pub nodes: Vec<Result<NodeClock, AlignmentError>>,
    /// The node whose clock all are put on.
    pub reference: usize,
    /// Collectives of at least two nodes.
    pub collectives: usize,
    /// The number of them in which a member ends before the last one starts, on the aligned clocks.
    pub violations: usize,
}

/// The clock of one node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeClock {
    /// The offset to add.
    pub clock: Clock,
    /// The number of collectives that it was fitted to.
    pub collectives: usize,
    /// How far off it may be in ns, 19 times in 20: from the noise, and from what a node's ends may be late by always,
    /// which no clock shows but how long collectives take on it does.
    pub error_ns: f64,
    /// True if it was taken for the clock of the reference, because no collective contradicts that.
    pub is_shared: bool,
}

/// Why a node's clock is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlignmentError {
    /// Too few matched collectives with nodes whose clocks are known; how many.
    TooFew(usize),
    /// Members end before the last one starts too often to believe it.
    Contradicted,
}

/// A collective as nodes see it: node and the middle of its members' ends in ns of the node's clock.
type Seen = Vec<(usize, i64, usize)>;

/// Puts clocks on the clock of `reference`; the collectives by group, `node_of` by rank. `named` says by node whether it is known to be another
/// machine than the others: else it has the clock of the reference, unless collectives contradict that.
#[must_use]
pub fn align(
    matched: &[Vec<MatchedCollective>],
    node_of: &[usize],
    named: &[bool],
    reference: usize,
) -> Alignment {
    let nodes = named.len();
    let spans = |collective: &&MatchedCollective| spans(collective, node_of);
    let groups: Vec<Vec<&MatchedCollective>> =
        matched.iter().map(|group| group.iter().filter(spans).collect()).collect();
    let crossing: Vec<&MatchedCollective> = groups.iter().flatten().copied().collect();
    let calls: usize = crossing.iter().map(|collective| collective.len()).sum();
    let chunk = (CHUNK * crossing.len()).div_ceil(calls.max(1)).max(1);
    let seen = |collectives: &[&MatchedCollective]| -> Vec<Seen> {
        collectives.iter().map(|collective| by_node(collective, node_of)).collect()
    };
    let seen = threads::map(crossing.chunks(chunk), seen).into_iter().flatten();
    let mut observed = Observed::new(seen.collect(), nodes);
    let mut fitted: Vec<Option<Clock>> = vec![None; nodes];
    if reference < nodes {
        observed.reach(&mut fitted, reference);
    }
    for _ in 0..if nodes < MANY { ROUNDS } else { 1 } {
        for node in (0..nodes).filter(|&node| node != reference) {
            if let Some(clock) = &mut fitted[node] {
                *clock = Clock::fitted(&observed.observations(node));
                observed.move_to(node, clock);
            }
        }
    }
    let late = lateness(&groups, chunk, node_of, nodes);
    let mut clocks = Clocks { all: fitted.clone(), errors: vec![0.0; nodes], shared: vec![false; nodes] };
    let error_of = |node: usize| match &fitted[node] {
        Some(clock) if node != reference => {
            let late = late[node].zip(late[reference]);
            error(clock, late, observed.scatter((node, reference), &fitted))
        }
        _ => 0.0,
    };
    if calls > CHUNK {
        clocks.errors = threads::map(0..nodes, error_of);
    } else {
        clocks.errors = (0..nodes).map(error_of).collect();
    }
    let apart = Clocks { shared: vec![false; nodes], ..clocks.clone() };
    clocks.share(named, reference);
    let most = CONTRADICTED * crossing.len() as f64;
    let contradictions = |clocks: &Clocks, errors: f64| -> usize {
        let contradicts = |collective: &&&MatchedCollective| clocks.contradict(collective, node_of, errors);
        let count = |collectives: &[&MatchedCollective]| collectives.iter().filter(contradicts).count();
        threads::map(crossing.chunks(chunk), count).into_iter().sum()
    };
    // What looks like one clock is none where collectives say so.
    if contradictions(&clocks, 1.0) as f64 > most {
        clocks = apart;
    }
    let contradicted = contradictions(&clocks, 1.0) as f64 > most;
    let violations = contradictions(&clocks, 0.0);
    let clock_of = |node: usize| match &clocks.all[node] {
        None => Err(AlignmentError::TooFew(observed.places_of[node].len())),
        Some(_) if contradicted && node != reference => Err(AlignmentError::Contradicted),
        Some(clock) => Ok(NodeClock {
            clock: clock.clone(),
            collectives: observed.places_of[node].len(),
            error_ns: clocks.errors[node],
            is_shared: clocks.shared[node],
        }),
    };
    Alignment {
        nodes: (0..nodes).map(clock_of).collect(),
        reference,
        collectives: crossing.len(),
        violations,
    }
}

/// The clocks of all nodes, as far as they are known.
#[derive(Clone)]
struct Clocks {
    all: Vec<Option<Clock>>,
    /// How far off each may be in ns.
    errors: Vec<f64>,
    /// True if it is taken for that of the reference.
    shared: Vec<bool>,
}

impl Clocks {
    /// Takes clocks that may be that of the reference for it, where nothing names their machine.
    fn share(&mut self, named: &[bool], reference: usize) {
        for node in (0..named.len()).filter(|&node| node != reference && !named[node]) {
            let Some(clock) = &mut self.all[node] else { continue };
            let most = clock.moments().map(|at| clock.offset(at).abs()).fold(0.0, f64::max);
            if most <= self.errors[node] {
                self.errors[node] += most;
                self.shared[node] = true;
                *clock = Clock::constant(0.0);
            }
        }
    }

    /// Returns whether a member of a collective ends before another one starts, by more than this many stated errors.
    fn contradict(&self, collective: &MatchedCollective, node_of: &[usize], errors: f64) -> bool {
        let mut last_start = f64::NEG_INFINITY;
        let mut first_end = f64::INFINITY;
        let Some(&(_, origin, _)) = collective.first() else { return false };
        for &(rank, start, end) in collective {
            let node = node_of[rank];
            if let Some(clock) = &self.all[node] {
                let error = errors * self.errors[node];
                let time = |time: i64| time.saturating_sub(origin) as f64 + clock.offset(time);
                last_start = last_start.max(time(start) - error);
                first_end = first_end.min(time(end) + error);
            }
        }
        first_end < last_start
    }
}

fn spans(collective: &MatchedCollective, node_of: &[usize]) -> bool {
    let first = collective.first().map(|&(rank, ..)| node_of[rank]);
    collective.iter().any(|&(rank, ..)| Some(node_of[rank]) != first)
}

fn by_node(collective: &MatchedCollective, node_of: &[usize]) -> Seen {
    let mut ends: Vec<(usize, i64)> = collective.iter().map(|&(rank, _, end)| (node_of[rank], end)).collect();
    ends.sort_unstable();
    ends.chunk_by(|one, other| one.0 == other.0)
        .map(|node| {
            let first = node[0].1;
            let mut rest: Vec<f64> = node.iter().map(|&(_, end)| (end - first) as f64).collect();
            (node[0].0, first + interquartile_mean(&mut rest).round() as i64, node.len())
        })
        .collect()
}

/// Collectives as nodes see them, with the sum of the times of those whose clock is known.
struct Observed {
    seen: Vec<Seen>,
    /// Indexed by collective: the sum of the known times, counted from its first end, and the number of ranks in it.
    sums: Vec<(f64, f64)>,
    /// Indexed by node: its places in collectives.
    places_of: Vec<Vec<Place>>,
}

#[derive(Clone, Copy)]
struct Place {
    collective: u32,
    position: u32,
    /// The collective's end on the common clock as the node's clock is known, counted from the collective's first end.
    time: Option<f64>,
}

impl Observed {
    fn new(seen: Vec<Seen>, nodes: usize) -> Self {
        let mut places_of = vec![Vec::new(); nodes];
        for (collective, members) in (0..).zip(&seen) {
            for (position, &(node, ..)) in (0..).zip(members) {
                places_of[node].push(Place { collective, position, time: None });
            }
        }
        Self { sums: vec![(0.0, 0.0); seen.len()], seen, places_of }
    }

    fn move_to(&mut self, node: usize, clock: &Clock) {
        let mut offsets = clock.offsets();
        for place in &mut self.places_of[node] {
            let collective = &self.seen[place.collective as usize];
            let (_, end, ranks) = collective[place.position as usize];
            let time = end.saturating_sub(collective[0].1) as f64 + offsets.at(end);
            let before = place.time.replace(time);
            let (sum, weight) = &mut self.sums[place.collective as usize];
            *sum += ranks as f64 * (time - before.unwrap_or(0.0));
            *weight += if before.is_none() { ranks as f64 } else { 0.0 };
        }
    }

    /// Gives a first clock to every node that enough collectives tie to one that has a clock, the best tied one first.
    fn reach(&mut self, clocks: &mut [Option<Clock>], reference: usize) {
        let mut ties = vec![0_usize; clocks.len()];
        // With every number of ties that a node has had since there were enough, of which the last one counts.
        let mut open: BinaryHeap<(usize, Reverse<usize>)> = BinaryHeap::new();
        let mut is_tied = vec![false; self.seen.len()];
        let mut next = Some((reference, Clock::constant(0.0)));
        while let Some((node, clock)) = next {
            self.move_to(node, &clock);
            clocks[node] = Some(clock);
            for place in &self.places_of[node] {
                if !std::mem::replace(&mut is_tied[place.collective as usize], true) {
                    for &(other, ..) in &self.seen[place.collective as usize] {
                        ties[other] += 1;
                        if ties[other] >= LEAST {
                            open.push((ties[other], Reverse(other)));
                        }
                    }
                }
            }
            let best = std::iter::from_fn(|| open.pop()).find(|&(_, Reverse(node))| clocks[node].is_none());
            next = best.map(|(_, Reverse(node))| {
                let all = self.observations(node);
                let some: Vec<Observation> = all.iter().copied().step_by(all.len().div_ceil(FIRST)).collect();
                (node, Clock::fitted(&some))
            });
        }
    }

    /// How far apart two nodes end a collective, at most, but for a few, in ns. Of nodes without a collective in common, each
    /// is compared with the others.
    fn scatter(&self, (node, reference): (usize, usize), clocks: &[Option<Clock>]) -> f64 {
        let (Some(own), Some(other)) = (&clocks[node], &clocks[reference]) else { return 0.0 };
        let beside = |place: &Place| {
            let collective = &self.seen[place.collective as usize];
            let position = collective.binary_search_by_key(&reference, |member| member.0).ok()?;
            let end = collective[position].1;
            Some(place.time? - (end.saturating_sub(collective[0].1) as f64 + other.offset(end)))
        };
        let common: Vec<f64> = self.places_of[node].iter().filter_map(beside).collect();
        if common.len() >= LEAST {
            return farthest(common);
        }
        let misses = |node: usize, clock: &Clock| {
            let observations = self.observations(node);
            let miss = |observation: Observation| observation.offset - clock.offset(observation.at);
            farthest(observations.into_iter().map(miss).collect())
        };
        misses(node, own).hypot(misses(reference, other))
    }

    /// Observations of a node's clock, which is in the sums where it is known: the mean time of the other nodes less its
    /// own, by collective.
    fn observations(&self, node: usize) -> Vec<Observation> {
        let of = |place: &Place| {
            let collective = &self.seen[place.collective as usize];
            let (_, at, ranks) = collective[place.position as usize];
            let (mut sum, mut weight) = self.sums[place.collective as usize];
            if let Some(time) = place.time {
                (sum, weight) = (sum - ranks as f64 * time, weight - ranks as f64);
            }
            let first = collective[0].1;
            (weight > 0.5).then(|| Observation { at, offset: sum / weight - at.saturating_sub(first) as f64 })
        };
        self.places_of[node].iter().filter_map(of).collect()
    }
}

/// How much longer than usual collectives take on a node when its last arriver is there, and how sure that is: the time that
/// no clock difference is in. The last arriver is the member with the shortest duration.
fn lateness(
    groups: &[Vec<&MatchedCollective>],
    chunk: usize,
    node_of: &[usize],
    nodes: usize,
) -> Vec<Option<(f64, f64)>> {
    let shortest = |collectives: &[&MatchedCollective]| -> Vec<(usize, f64)> {
        let shortest = collectives.iter().filter_map(|collective| {
            collective.iter().min_by_key(|&&(_, start, end)| end.saturating_sub(start))
        });
        shortest.map(|&(rank, start, end)| (node_of[rank], end.saturating_sub(start) as f64)).collect()
    };
    let mut stays: Vec<Vec<f64>> = vec![Vec::new(); nodes];
    for group in groups {
        let shortest: Vec<(usize, f64)> =
            threads::map(group.chunks(chunk), shortest).into_iter().flatten().collect();
        let mut all: Vec<f64> = shortest.iter().map(|&(_, stay)| stay).collect();
        let usual = median(&mut all);
        shortest.into_iter().for_each(|(node, stay)| stays[node].push(stay - usual));
    }
    let of = |stays: &mut Vec<f64>| {
        let sure = stays.len() as f64;
        (stays.len() >= 5).then(|| {
            let at = median(stays);
            // The deviation of a median of normal values.
            (at, 1.2533 * robust_deviation(stays) / sure.sqrt())
        })
    };
    stays.iter_mut().map(of).collect()
}

/// How far values lie from their median, at most, but for a few.
fn farthest(mut values: Vec<f64>) -> f64 {
    let middle = median(&mut values);
    values.iter_mut().for_each(|value| *value = (*value - middle).abs());
    values.sort_unstable_by(f64::total_cmp);
    let at = (values.len() as f64 * SCATTER) as usize;
    values.get(at).or(values.last()).copied().unwrap_or(0.0)
}

/// 19 times in 20 the clock is off by less: by the noise, and by what the ends of a node may always be late by. How
/// long collectives take on a node shows a part of that, how much its ends `scatter` another.
fn error(clock: &Clock, late: Option<((f64, f64), (f64, f64))>, scatter: f64) -> f64 {
    let late = late.map_or(0.0, |(own, reference)| {
        (own.0 - reference.0).abs() + SURE * (own.1.powi(2) + reference.1.powi(2)).sqrt()
    });
    SURE * clock.largest_deviation() + late.max(scatter)
}
