//! A simulated cluster: what its ranks would have recorded, and what is true.

use rtl_analysis::align::Sequence;
use rtl_analysis::compare::random::Random;

/// How it is built and how it behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cluster {
    /// Nodes, each with a clock.
    pub(crate) nodes: usize,
    /// Ranks of a node.
    pub(crate) ranks: usize,
    /// How long it runs, in ns.
    pub(crate) length: f64,
    /// Collectives of all ranks together.
    pub(crate) collectives: usize,
    /// How far clocks are off at first, in ns, either way.
    pub(crate) offset: f64,
    /// How fast they drift, in ns/ns, as a standard deviation.
    pub(crate) drift: f64,
    /// How far the drift wanders, in ns/ns, either way, within the run.
    pub(crate) wander: f64,
    /// How late ranks come on average, in ns: exponential.
    pub(crate) arrival: f64,
    /// How much ends scatter, in ns: normal.
    pub(crate) jitter: f64,
    /// How late the ends of a node are always, in ns, as a standard deviation.
    pub(crate) bias: f64,
}

/// The time that a rank's clock shows at a true time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrueClock {
    offset: f64,
    drift: f64,
    wander: f64,
    period: f64,
    phase: f64,
}

impl TrueClock {
    pub(crate) fn shows(&self, time: f64) -> f64 {
        let phase = |time: f64| std::f64::consts::TAU * time / self.period + self.phase;
        // The integral of a rate that swings.
        let swing =
            self.wander * self.period / std::f64::consts::TAU * (phase(time).sin() - phase(0.0).sin());
        time + self.offset + self.drift * time + swing
    }
}

/// The recording, and the truth behind it.
pub(crate) struct Recorded {
    /// Indexed by rank: the collectives of all, and those within a node.
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) node_of: Vec<usize>,
    pub(crate) clocks: Vec<TrueClock>,
}

impl Cluster {
    pub(crate) fn run(&self, seed: u64) -> Recorded {
        let mut random = Random::new(seed);
        let either_way = |random: &mut Random| 2.0 * random.unit() - 1.0;
        let clocks: Vec<TrueClock> = (0..self.nodes)
            .map(|_| TrueClock {
                offset: self.offset * either_way(&mut random),
                drift: self.drift * random.normal(),
                wander: self.wander * either_way(&mut random),
                period: self.length * (0.7 + random.unit()),
                phase: std::f64::consts::TAU * random.unit(),
            })
            .collect();
        let bias: Vec<f64> = (0..self.nodes).map(|_| self.bias * random.normal()).collect();
        let ranks = self.nodes * self.ranks;
        let node_of: Vec<usize> = (0..ranks).map(|rank| rank / self.ranks).collect();
        let mut sequences: Vec<Sequence> = (0..2)
            .flat_map(|kind| (0..ranks).map(move |rank| Sequence { rank, kind, ..Sequence::default() }))
            .collect();
        let step = self.length / self.collectives as f64;
        let transfer = 80_000.0;
        let mut meet = |kind: usize, members: std::ops::Range<usize>, ready: f64, random: &mut Random| {
            let starts: Vec<f64> =
                members.clone().map(|_| ready - self.arrival * (1.0 - random.unit()).ln()).collect();
            let end = starts.iter().copied().fold(ready, f64::max) + transfer;
            for (rank, start) in members.zip(starts) {
                let node = node_of[rank];
                let left = end + bias[node] + self.jitter * random.normal();
                let shown = |time: f64| clocks[node].shows(time).round() as i64;
                sequences[kind * ranks + rank].calls.push((shown(start), shown(left)));
            }
        };
        for number in 0..self.collectives {
            let ready = number as f64 * step;
            for node in 0..self.nodes {
                let apart = 0.2 * step + 100_000.0 * random.normal();
                meet(1, node * self.ranks..(node + 1) * self.ranks, ready + apart, &mut random);
            }
            meet(0, 0..ranks, ready + 0.6 * step + 50_000.0 * random.normal(), &mut random);
        }
        Recorded { sequences, node_of, clocks }
    }
}
