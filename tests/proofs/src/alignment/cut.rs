//! Simulated jobs as profilers record them: each rank lacks the first and the last calls and single ones between, ranks
//! leave a collective at their own times, and each clock shows something else.

use rtl_analysis::align::{MatchedCollective, Sequence, group_sequences, matched_collectives, waits};
use rtl_analysis::compare::random::Random;

/// Steps that are recorded, and collectives of a step but for the last one, which is another kernel.
const STEPS: usize = 12;
const CALLS: usize = 18;

/// Mean ns that a rank computes from one collective of a step to the next, and that a collective takes when all have come.
const COMPUTE: f64 = 1.4e6;
const TRANSFER: f64 = 200_000.0;

/// Results of simulated jobs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) jobs: u32,
    /// Jobs in which the straggler was named, or none where there is none.
    pub(crate) right: u32,
    /// Collectives that at least two ranks recorded.
    pub(crate) collectives: usize,
    /// Collectives whose calls were all matched, with no other.
    pub(crate) matched: usize,
}

/// Simulates so many jobs. One in four has no straggler.
pub(crate) fn cut_jobs(count: u64) -> Found {
    let mut found = Found::default();
    for seed in 0..count {
        let mut random = Random::new(seed + 1);
        let job = Job::drawn(&mut random);
        let (sequences, truth) = job.record(&mut random);
        let groups = group_sequences(&sequences).groups;
        let mut all: Vec<MatchedCollective> = Vec::new();
        let mut whole: Vec<MatchedCollective> = Vec::new();
        for group in &groups {
            let matched: Vec<MatchedCollective> = matched_collectives(group, &sequences).collect();
            whole.extend(matched.iter().filter(|collective| group.is_whole(collective)).cloned());
            all.extend(matched);
        }
        all.sort_unstable();
        found.jobs += 1;
        found.right += u32::from(waits(&whole, job.ranks, false).straggler() == job.slow());
        found.collectives += truth.len();
        found.matched += truth.iter().filter(|collective| all.binary_search(collective).is_ok()).count();
    }
    found
}

/// Why a rank is late.
#[derive(Debug, Clone, Copy)]
enum Fault {
    None,
    /// The GPU of this rank computes longer by this factor.
    Gpu(usize, f64),
    /// The host of this rank begins each step so many ns later.
    Host(usize, f64),
}

struct Job {
    ranks: usize,
    fault: Fault,
    /// Indexed by rank: how much longer it computes than others, as every GPU does a little.
    pace: Vec<f64>,
    /// Indexed by rank: the ns by which its clock is ahead, and ns/ns by which it is faster.
    clocks: Vec<(f64, f64)>,
    /// Indexed by rank: ns by which it always leaves later.
    late: Vec<f64>,
}

impl Job {
    fn drawn(random: &mut Random) -> Self {
        let ranks = [2, 4, 8, 16][random.below(4)];
        let rank = random.below(ranks);
        let fault = match random.below(4) {
            0 => Fault::None,
            1 | 2 => Fault::Gpu(rank, 1.1 + 0.5 * random.unit()),
            _ => Fault::Host(rank, 1e7 + 3e7 * random.unit()),
        };
        let is_one_machine = random.below(2) == 0;
        let mut each =
            |of: &mut dyn FnMut(&mut Random) -> f64| -> Vec<f64> { (0..ranks).map(|_| of(random)).collect() };
        let pace = each(&mut |random| 1.0 + 0.002 * random.normal());
        let late = each(&mut |random| 8_000.0 * random.normal());
        let ahead = each(&mut |random| if is_one_machine { 0.0 } else { 2e10 * (random.unit() - 0.5) });
        let drift = each(&mut |random| if is_one_machine { 0.0 } else { 3e-6 * random.normal() });
        Self { ranks, fault, pace, late, clocks: ahead.into_iter().zip(drift).collect() }
    }

    fn slow(&self) -> Option<usize> {
        match self.fault {
            Fault::None => None,
            Fault::Gpu(rank, _) | Fault::Host(rank, _) => Some(rank),
        }
    }

    /// Returns the recording of each rank, and the calls that belong together.
    fn record(&self, random: &mut Random) -> (Vec<Sequence>, Vec<MatchedCollective>) {
        let mut times = vec![0.0_f64; self.ranks];
        // How long a part of a step takes is much the same in every step.
        let parts: Vec<f64> = (0..=CALLS).map(|_| COMPUTE * (0.4 * random.normal()).exp()).collect();
        let mut all: Vec<(u64, MatchedCollective)> = Vec::new();
        let mut end = 0.0_f64;
        for _ in 0..STEPS {
            for (rank, time) in times.iter_mut().enumerate() {
                let pause = match self.fault {
                    Fault::Host(slow, pause) if slow == rank => pause,
                    _ => 0.0,
                };
                *time = time.max(end) + 2e6 + 3e5 * random.unit() + pause;
            }
            for (call, part) in parts.iter().enumerate() {
                for (rank, time) in times.iter_mut().enumerate() {
                    let slow = match self.fault {
                        Fault::Gpu(slow, factor) if slow == rank => factor,
                        _ => 1.0,
                    };
                    *time += part * self.pace[rank] * slow * (0.04 * random.normal()).exp();
                }
                // A queue runs one collective after the other, and computing goes on beside them.
                let starts: Vec<f64> = times.iter().map(|&time| time.max(end)).collect();
                end = starts.iter().copied().fold(0.0, f64::max) + TRANSFER * (0.05 * random.normal()).exp();
                let member = |(rank, start): (usize, f64), random: &mut Random| {
                    let wild = if random.below(50) == 0 { 25_000.0 * random.unit() } else { 0.0 };
                    let left = end + self.late[rank] + 6_000.0 * random.normal() + wild;
                    (rank, self.shown(rank, start), self.shown(rank, left))
                };
                let calls = starts.into_iter().enumerate().map(|start| member(start, random)).collect();
                all.push((u64::from(call == CALLS), calls));
            }
        }
        self.cut(all, random)
    }

    fn shown(&self, rank: usize, time: f64) -> i64 {
        let (ahead, drift) = self.clocks[rank];
        1_800_000_000_000_000_000 + (time * (1.0 + drift) + ahead) as i64
    }

    /// Leaves out calls of every rank at both ends and between.
    fn cut(
        &self,
        mut all: Vec<(u64, MatchedCollective)>,
        random: &mut Random,
    ) -> (Vec<Sequence>, Vec<MatchedCollective>) {
        let count = all.len();
        for rank in 0..self.ranks {
            let (head, tail) = (random.below(11), random.below(11));
            let share = 0.01 * random.unit();
            for (at, (_, calls)) in all.iter_mut().enumerate() {
                if at < head || at >= count - tail || random.unit() < share {
                    calls.retain(|call| call.0 != rank);
                }
            }
        }
        let of = |rank: usize, kind: u64| {
            let own =
                all.iter().filter(|collective| collective.0 == kind).flat_map(|collective| &collective.1);
            let mut calls: Vec<(i64, i64)> =
                own.filter(|call| call.0 == rank).map(|&(_, start, end)| (start, end)).collect();
            calls.sort_unstable_by_key(|&(start, end)| (end, start));
            Sequence { rank, kind, calls, ..Sequence::default() }
        };
        let sequences = (0..self.ranks).flat_map(|rank| [of(rank, 0), of(rank, 1)]).collect();
        let mut truth: Vec<MatchedCollective> = all.into_iter().map(|(_, calls)| calls).collect();
        truth.retain(|calls| calls.len() > 1);
        (sequences, truth)
    }
}
