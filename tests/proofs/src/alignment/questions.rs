//! Questions about simulated clusters.

use rtl_analysis::align::{MatchedCollective, align, group_sequences, groups, waits};
use rtl_analysis::compare::random::Random;

use crate::cluster::{Cluster, Recorded};

/// 64 ranks on 8 nodes for a minute, clocks 5 ms off that drift by 3 ppm, 300 collectives of all and 300 of each node.
pub(crate) const CLUSTER: Cluster = Cluster {
    nodes: 8,
    ranks: 8,
    length: 60e9,
    collectives: 300,
    offset: 5e6,
    drift: 3e-6,
    wander: 0.0,
    arrival: 400_000.0,
    jitter: 5_000.0,
    bias: 0.0,
};

/// How far off aligned clocks are.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    /// At 61 moments of every node, in ns, from the smallest.
    pub(crate) errors: Vec<f64>,
    pub(crate) nodes: u32,
    /// Nodes that are never off by more than what is stated.
    pub(crate) covered: u32,
    /// Sum of what is stated, in ns.
    pub(crate) stated: f64,
    /// Collectives with a member that ends before the last one starts.
    pub(crate) violations: usize,
    /// Nodes whose clock was left as it is.
    pub(crate) refused: u32,
}

impl Errors {
    /// The error that this share of moments does not exceed, in us.
    pub(crate) fn microseconds(&self, share: f64) -> f64 {
        let at = ((self.errors.len() as f64 * share) as usize).min(self.errors.len() - 1);
        self.errors[at] / 1e3
    }
}

/// Aligns so many clusters.
pub(crate) fn clocks(cluster: Cluster, count: u64) -> Errors {
    let mut all = Errors::default();
    for seed in 0..count {
        let recorded = cluster.run(seed);
        let alignment = align(&meetings(&recorded), &recorded.node_of, &vec![true; cluster.nodes], 0);
        all.violations += alignment.violations;
        for (node, clock) in alignment.nodes.iter().enumerate().skip(1) {
            let Ok(clock) = clock else {
                all.refused += 1;
                continue;
            };
            let error = |moment: i32| {
                let time = cluster.length * f64::from(moment) / 60.0;
                let shown = recorded.clocks[node].shows(time);
                let truth = recorded.clocks[0].shows(time) - shown;
                (clock.clock.offset(shown.round() as i64) - truth).abs()
            };
            let errors: Vec<f64> = (0..=60).map(error).collect();
            all.nodes += 1;
            all.stated += clock.error_ns;
            all.covered += u32::from(errors.iter().all(|&error| error <= clock.error_ns));
            all.errors.extend(errors);
        }
    }
    all.errors.sort_unstable_by(f64::total_cmp);
    all
}

fn meetings(recorded: &Recorded) -> Vec<Vec<MatchedCollective>> {
    let found = group_sequences(&recorded.sequences);
    let of = |group| groups::matched_collectives(group, &recorded.sequences).collect::<Vec<_>>();
    found.groups.iter().map(of).collect()
}

/// One of 64 ranks computes 3 % longer in 300 steps of 10 ms, arrivals scatter by 100 us, clocks are not aligned: in
/// how many of `count` runs it is the one that is named.
pub(crate) fn straggler(count: u64) -> u64 {
    const RANKS: usize = 64;
    const SLOW: usize = 17;
    let named = |&seed: &u64| {
        let mut random = Random::new(seed);
        let mut now = 0.0;
        let mut meetings: Vec<MatchedCollective> = Vec::new();
        for _ in 0..300 {
            let compute = |rank: usize| if rank == SLOW { 10.3e6 } else { 10e6 };
            let starts: Vec<f64> =
                (0..RANKS).map(|rank| now + compute(rank) + 100_000.0 * random.normal()).collect();
            now = starts.iter().copied().fold(0.0, f64::max) + 80_000.0;
            let shown = |rank: usize, time: f64| (time + rank as f64 * 1e6) as i64;
            let mut member = |(rank, &start): (usize, &f64)| {
                (rank, shown(rank, start), shown(rank, now + 5_000.0 * random.normal()))
            };
            meetings.push(starts.iter().enumerate().map(&mut member).collect());
        }
        waits(&meetings, RANKS, false).straggler() == Some(SLOW)
    };
    (0..count).filter(named).count() as u64
}
