//! The clocks of all nodes at once.

use rustc_hash::FxHashMap;

use super::clock::{Clock, Observation};
use super::groups::MatchedCollective;
use crate::stats::{interquartile_mean, median, robust_deviation};

/// Fewer collectives than this, that a node has in common with others, are no evidence.
const LEAST: usize = 10;

/// Where a larger share of collectives contradicts the result, it is not used.
const CONTRADICTED: f64 = 0.01;

/// How often each clock is fitted anew against all the others.
const ROUNDS: usize = 3;

/// How many of its standard deviations a stated error is.
const SURE: f64 = 2.0;

/// Clocks on one clock.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Alignment {
    /// By node: its clock, or why it is unknown. The reference has offset 0.
    pub nodes: Vec<Result<NodeClock, AlignmentError>>,
    /// The node whose clock all are put on.
    pub reference: usize,
    /// Collectives of at least two nodes.
    pub collectives: usize,
    /// Those among them in which a member ends before the last one starts, on the aligned clocks.
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

/// Puts `nodes` clocks on the clock of `reference`; `node_of` by rank.
#[must_use]
pub fn align(matched: &[MatchedCollective], node_of: &[usize], nodes: usize, reference: usize) -> Alignment {
    let crossing: Vec<&MatchedCollective> =
        matched.iter().filter(|collective| spans(collective, node_of)).collect();
    let seen: Vec<Seen> = crossing.iter().map(|collective| by_node(collective, node_of)).collect();
    let mut shared = vec![0; nodes];
    for collective in &seen {
        collective.iter().for_each(|&(node, ..)| shared[node] += 1);
    }
    let mut clocks: Vec<Option<Clock>> = vec![None; nodes];
    if reference < nodes {
        clocks[reference] = Some(Clock::constant(0.0));
    }
    reach(&seen, &mut clocks);
    for _ in 0..ROUNDS {
        for node in (0..nodes).filter(|&node| node != reference) {
            if clocks[node].is_some() {
                let observations = observations(&seen, &clocks, node);
                clocks[node] = Some(Clock::fitted(&observations));
            }
        }
    }
    let late = lateness(&crossing, node_of, nodes);
    let violations = crossing.iter().filter(|collective| is_violated(collective, node_of, &clocks)).count();
    let contradicted = violations as f64 > CONTRADICTED * crossing.len() as f64;
    let clock_of = |node: usize| match &clocks[node] {
        None => Err(AlignmentError::TooFew(shared[node])),
        Some(_) if contradicted && node != reference => Err(AlignmentError::Contradicted),
        Some(clock) => {
            let error_ns = if node == reference { 0.0 } else { error(clock, late[node], late[reference]) };
            Ok(NodeClock { clock: clock.clone(), collectives: shared[node], error_ns })
        }
    };
    Alignment {
        nodes: (0..nodes).map(clock_of).collect(),
        reference,
        collectives: crossing.len(),
        violations,
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

/// Gives a first clock to every node that enough collectives tie to one that has a clock, the best tied one first.
fn reach(seen: &[Seen], clocks: &mut [Option<Clock>]) {
    loop {
        let mut ties: FxHashMap<usize, usize> = FxHashMap::default();
        for collective in seen {
            if collective.iter().any(|&(node, ..)| clocks[node].is_some()) {
                for &(node, ..) in collective.iter().filter(|&&(node, ..)| clocks[node].is_none()) {
                    *ties.entry(node).or_default() += 1;
                }
            }
        }
        let best = ties.into_iter().max_by_key(|&(node, ties)| (ties, std::cmp::Reverse(node)));
        let Some((node, _)) = best.filter(|&(_, ties)| ties >= LEAST) else { return };
        let clock = Clock::fitted(&observations(seen, clocks, node));
        clocks[node] = Some(clock);
    }
}

/// Observations of a node's clock: the mean time of the other nodes less its own, by collective.
fn observations(seen: &[Seen], clocks: &[Option<Clock>], node: usize) -> Vec<Observation> {
    let mut observations = Vec::new();
    for collective in seen {
        let Some(&(_, at, _)) = collective.iter().find(|member| member.0 == node) else { continue };
        let (mut sum, mut weights) = (0.0, 0.0);
        for &(other, end, ranks) in collective.iter().filter(|member| member.0 != node) {
            if let Some(clock) = &clocks[other] {
                sum += ranks as f64 * ((end - at) as f64 + clock.offset(end));
                weights += ranks as f64;
            }
        }
        if weights > 0.0 {
            observations.push(Observation { at, offset: sum / weights });
        }
    }
    observations
}

/// How long a collective takes on a node when its last arriver is there, and how sure that is: the time that no clock
/// difference is in. The last arriver is the member with the shortest stay.
fn lateness(crossing: &[&MatchedCollective], node_of: &[usize], nodes: usize) -> Vec<Option<(f64, f64)>> {
    let mut stays: Vec<Vec<f64>> = vec![Vec::new(); nodes];
    for collective in crossing {
        if let Some(&(rank, start, end)) = collective.iter().min_by_key(|&&(_, start, end)| end - start) {
            stays[node_of[rank]].push((end - start) as f64);
        }
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

/// 19 times in 20 the clock is off by less.
fn error(clock: &Clock, own: Option<(f64, f64)>, reference: Option<(f64, f64)>) -> f64 {
    let noise = SURE * clock.largest_deviation();
    match (own, reference) {
        (Some(own), Some(reference)) => {
            (own.0 - reference.0).abs() + SURE * (own.1.powi(2) + reference.1.powi(2)).sqrt() + noise
        }
        // Nothing says how late its ends are; as much as the ends scatter is the least that must be allowed for.
        _ => noise + SURE * clock.noise_ns,
    }
}

fn is_violated(collective: &MatchedCollective, node_of: &[usize], clocks: &[Option<Clock>]) -> bool {
    let mut last_start = i64::MIN;
    let mut first_end = i64::MAX;
    for &(rank, start, end) in collective {
        if let Some(clock) = &clocks[node_of[rank]] {
            last_start = last_start.max(start.saturating_add(clock.offset(start).round() as i64));
            first_end = first_end.min(end.saturating_add(clock.offset(end).round() as i64));
        }
    }
    first_end < last_start
}
