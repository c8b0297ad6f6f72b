//! Programs with one planted cause of lost time, drawn at random.

use rtl_analysis::compare::random::Random;

use crate::machine::Action;

/// A cause of lost time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Sync,
    Host,
    Launch,
    Copy,
    Allocation,
    FirstCall,
    Tail,
    Exposed,
    SlowGpu,
    SlowHost,
    Uneven,
}

impl Cause {
    pub(crate) const ALL: [Self; 11] = [
        Self::Sync,
        Self::Host,
        Self::Launch,
        Self::Copy,
        Self::Allocation,
        Self::FirstCall,
        Self::Tail,
        Self::Exposed,
        Self::SlowGpu,
        Self::SlowHost,
        Self::Uneven,
    ];

    /// The finding that states it.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Sync => "idle-sync",
            Self::Host => "idle-host",
            Self::Launch => "launch-bound",
            Self::Copy => "blocking-copy",
            Self::Allocation => "alloc-in-loop",
            Self::FirstCall => "first-call",
            Self::Tail => "tail-kernel",
            Self::Exposed => "exposed-comm",
            Self::SlowGpu | Self::SlowHost => "straggler",
            Self::Uneven => "imbalance",
        }
    }

    fn is_of_jobs(self) -> bool {
        matches!(self, Self::Exposed | Self::SlowGpu | Self::SlowHost | Self::Uneven)
    }
}

/// Properties that are drawn once for a trace.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    seed: u64,
    pub(crate) cause: Option<Cause>,
    pub(crate) ranks: usize,
    steps: usize,
    /// Names of kernels with their usual durations in ns, in the order in which a step launches them.
    kernels: Vec<(&'static str, i64)>,
    /// From one launch to the next, in ns.
    pace: i64,
    /// How strong the cause is, 0 to 1.
    strength: f64,
    /// True if the program annotates its steps and its parts.
    annotates: bool,
}

const NAMES: [&str; 8] = [
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32",
    "Cijk_Alik_Bljk_HHS_BH_MT256x64x32",
    "attn_fwd",
    "layer_norm_kernel",
    "gelu_kernel",
    "reduce_kernel",
    "cross_entropy_kernel",
    "adamw_kernel",
];

impl Plan {
    /// A plan without a cause, or with this one.
    pub(crate) fn drawn(seed: u64, cause: Option<Cause>) -> Self {
        let mut random = Random::new(seed);
        let kernels = (0..40 + random.below(120))
            .map(|_| {
                let length = 20_000.0 * (random.normal() * 0.8).exp() + 25_000.0;
                (NAMES[random.below(NAMES.len())], length as i64)
            })
            .collect();
        let is_job = cause.is_some_and(Cause::is_of_jobs) || cause.is_none() && random.below(3) == 0;
        Self {
            seed,
            cause,
            ranks: if is_job { 4 + 4 * random.below(2) } else { 1 },
            steps: 6 + random.below(20),
            kernels,
            pace: 3_000 + random.below(6_000) as i64,
            strength: random.unit(),
            annotates: random.below(10) < 7,
        }
    }

    /// Returns the actions of each rank; `planted` or with the cause gone and everything else equal.
    pub(crate) fn programs(&self, planted: bool) -> Vec<Vec<Action>> {
        (0..self.ranks).map(|rank| self.program(rank, planted)).collect()
    }

    fn has(&self, cause: Cause, planted: bool) -> bool {
        planted && self.cause == Some(cause)
    }

    fn program(&self, rank: usize, planted: bool) -> Vec<Action> {
        // Draws that depend on the cause come from a sequence of their own.
        let mut noise = Random::part(self.seed, 1 + rank as u64);
        let mut fault = Random::part(self.seed, 1_001 + rank as u64);
        let slow = Random::part(self.seed, 2_000).below(self.ranks);
        let step_ns: i64 = self.kernels.iter().map(|(_, length)| length).sum();
        let lost = ((0.05 + 0.4 * self.strength) * step_ns as f64) as i64;
        let first = self.steps / 2;
        let mut program = Vec::new();
        for step in 0..self.steps {
            if self.annotates {
                program.push(Action::Step);
            }
            if self.has(Cause::Host, planted) {
                program.push(Action::Work(lost + step_ns, self.annotates.then_some("load batch")));
            }
            if self.has(Cause::SlowHost, planted) && rank == slow {
                program.push(Action::Work(lost + step_ns, None));
            }
            if self.has(Cause::FirstCall, planted) && step == first {
                let length = (1.0 + 10.0 * self.strength) * step_ns as f64;
                program.push(Action::Load(length as i64));
            }
            if self.has(Cause::Copy, planted) {
                program.push(Action::Copy(lost as u64 * 6, lost));
            }
            if self.has(Cause::Allocation, planted) {
                program.push(Action::Allocate(lost));
            }
            let is_slow = match self.cause {
                Some(Cause::Uneven) => (rank + slow) % self.ranks < self.ranks / 2,
                _ => rank == slow,
            };
            self.kernels(&mut program, (&mut noise, &mut fault), (is_slow, planted));
            // A healthy loop looks at its loss once in a while.
            if step % 5 == 4 {
                program.push(Action::Wait);
            }
        }
        program.push(Action::Wait);
        program
    }

    /// The kernels of one step, with the collectives of a job.
    fn kernels(
        &self,
        program: &mut Vec<Action>,
        (noise, fault): (&mut Random, &mut Random),
        (is_slow, planted): (bool, bool),
    ) {
        let is_job = self.ranks > 1;
        let step_ns: i64 = self.kernels.iter().map(|(_, length)| length).sum();
        let bucket = self.kernels.len() / 8;
        let every = 1 + (20.0 * (1.0 - self.strength)) as usize;
        let varying = self.kernels[0].0;
        let mut transferred = 0;
        for (at, &(name, usual)) in self.kernels.iter().enumerate() {
            let jitter = 1.0 + 0.01 * noise.normal();
            let mut length = (usual as f64 * jitter) as i64;
            let pace = (self.pace as f64 * (1.0 + 0.2 * noise.unit())) as i64;
            if self.cause == Some(Cause::Launch) {
                length = 1_500 + (3_000.0 * noise.unit()) as i64;
                if !planted {
                    program.push(Action::Node(name, length, at));
                    continue;
                }
            }
            program.push(Action::Work(pace, None));
            if self.has(Cause::Tail, planted) && name == varying && fault.unit() < 0.1 + 0.15 * self.strength
            {
                length = (length as f64 * (2.0 + 6.0 * fault.unit())) as i64;
            }
            if self.has(Cause::SlowGpu, planted) && is_slow {
                length = (length as f64 * (1.1 + 0.5 * self.strength)) as i64;
            }
            // Half of the ranks have what the others lack.
            if self.has(Cause::Uneven, planted) && name == varying {
                let more = if is_slow { 1.0 } else { -1.0 };
                length = (length as f64 * (1.0 + more * (0.3 + 0.6 * self.strength))) as i64;
            }
            program.push(Action::Launch(name, length, at));
            if self.has(Cause::Sync, planted) && at % every == 0 {
                program.push(Action::Wait);
                // Reads the value.
                program.push(Action::Work(8_000 + (20_000.0 * fault.unit()) as i64, None));
            }
            if is_job && at >= self.kernels.len() / 2 && at % bucket == 0 {
                let transfer = step_ns / 60;
                match self.cause == Some(Cause::Exposed) {
                    true => transferred += ((1.0 + 8.0 * self.strength) * transfer as f64) as i64,
                    false => program.push(Action::Collective(transfer)),
                }
            }
        }
        if is_job {
            if self.cause == Some(Cause::Exposed) {
                let transfer = if planted { transferred / 4 } else { 0 };
                program.extend(std::iter::repeat_n(Action::Collective(transfer), 4));
            }
            program.push(Action::Join);
            program.push(Action::Launch("adamw_kernel", step_ns / 50, self.kernels.len()));
        }
    }
}
