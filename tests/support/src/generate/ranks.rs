//! The traces of a job of several ranks that work in step: each step is compute and then a collective, which ends on all
//! ranks when the last one has come. Each node has its own clock.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rtl_write::{Call, NativeWriter, Op, OpKind, StringId};

use super::random::Random;

/// A job; every default is small enough for a test.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Job {
    /// Number of machines
    #[arg(long, default_value_t = 2)]
    pub nodes: u32,
    /// Ranks of each machine, with a GPU each
    #[arg(long, default_value_t = 4)]
    pub ranks_per_node: u32,
    /// Number of steps, which end in a collective each
    #[arg(long, default_value_t = 40)]
    pub steps: u32,
    /// Kernels of a step besides the collective
    #[arg(long, default_value_t = 12)]
    pub kernels: u32,
    /// Largest difference between two clocks in ns, beyond that of their nodes' starts
    #[arg(long, default_value_t = 5_000_000)]
    pub skew: i64,
    /// Largest drift of a clock, in ns a second
    #[arg(long, default_value_t = 3_000.0)]
    pub drift: f64,
    /// A rank whose kernels take longer, and by what factor
    #[arg(long, value_parser = super::parse_slow::<u32>)]
    pub slow: Option<(u32, f64)>,
    /// Write a call for each launch
    #[arg(long)]
    pub api: bool,
    /// Write the moments at which two clocks of a machine were read together
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    pub anchors: bool,
    /// Name the machine and its boot in each trace
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    pub named: bool,
    /// Seed of the random numbers, which alone decides the files
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            nodes: 2,
            ranks_per_node: 4,
            steps: 40,
            kernels: 12,
            skew: 5_000_000,
            drift: 3_000.0,
            slow: None,
            api: false,
            anchors: true,
            named: true,
            seed: 1,
        }
    }
}

/// Nanoseconds of a day: how much later each node was started.
const DAY: i64 = 86_400 * 1_000_000_000;
/// When the job begins, in ns of the real time: 2026-01-01.
const BEGIN: i64 = 1_767_225_600 * 1_000_000_000;
/// How long a collective takes when all have come, in ns.
const TRANSFER: i64 = 40_000;
const KERNELS: [&str; 3] = ["gemm_f16_128x128", "layernorm_fwd", "elementwise_add"];
const COLLECTIVE: &str = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";

impl Job {
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.nodes * self.ranks_per_node
    }

    /// The clock of a node at a moment of the job, which is in ns since the job's start.
    #[must_use]
    pub fn clock(&self, node: u32, moment: i64) -> i64 {
        let mut random = Random::new(self.seed ^ (u64::from(node) << 20) ^ 0x5eed);
        let within = |random: &mut Random| random.below(2_001) as f64 / 1_000.0 - 1.0;
        let (skew, rate) = (within(&mut random), within(&mut random));
        let drifted = self.drift * rate * moment as f64 * 1e-9;
        (1 + i64::from(node)) * DAY + moment + (self.skew as f64 * skew + drifted) as i64
    }

    /// Writes `rank<N>.db` for each rank into `folder` and returns the paths by rank.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn generate(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let ends = self.ends();
        let path = |rank: u32| folder.join(format!("rank{rank}.db"));
        (0..self.ranks())
            .map(|rank| {
                self.rank(rank, &ends, &path(rank))?;
                Ok(path(rank))
            })
            .collect()
    }

    /// Duration of each kernel of a step on a rank and the pause behind it, in ns.
    fn work(&self, rank: u32, step: u32) -> impl Iterator<Item = (i64, i64)> {
        let mut random = Random::new(self.seed ^ (u64::from(rank) << 32) ^ u64::from(step) << 1);
        let factor = self.slow.filter(|&(slow, _)| slow == rank).map_or(1.0, |(_, factor)| factor);
        (0..self.kernels).map(move |_| {
            let duration = (random.lognormal(20_000.0, 0.2) * factor) as i64;
            (duration, 300 + random.below(2_000) as i64)
        })
    }

    /// When each step's collective is over, in ns of the job.
    fn ends(&self) -> Vec<i64> {
        let mut ends: Vec<i64> = Vec::new();
        for step in 0..self.steps {
            let begin = ends.last().copied().unwrap_or(1_000_000);
            let works = (0..self.ranks())
                .map(|rank| self.work(rank, step).map(|(work, gap)| work + gap).sum::<i64>());
            ends.push(begin + works.max().unwrap_or(0) + TRANSFER);
        }
        ends
    }

    fn rank(&self, rank: u32, ends: &[i64], path: &Path) -> Result<()> {
        let (node, local) = (rank / self.ranks_per_node, rank % self.ranks_per_node);
        let mut writer = NativeWriter::create(path)?;
        let over = ends.last().copied().unwrap_or(0) + 1_000_000;
        self.metadata(&mut writer, (rank, node, local), over)?;
        let mut random = Random::new(!self.seed ^ u64::from(rank));
        let clock = |moment: i64| self.clock(node, moment);
        let names: Vec<StringId> =
            KERNELS.iter().map(|name| writer.intern(name)).collect::<Result<_, _>>()?;
        let (collective, step_name) = (writer.intern(COLLECTIVE)?, writer.intern("step")?);
        let launch = writer.intern("hipModuleLaunchKernel")?;
        let (mut now, mut number) = (1_000_000, 0);
        for (step, &end) in (0..).zip(ends) {
            let (begin, range) = (now, i64::from(step) + 1);
            let mut op = |writer: &mut NativeWriter, name: StringId, start: i64, end: i64| -> Result<()> {
                number += 1;
                if self.api {
                    let tid = Some(1_000 + i64::from(rank));
                    let start = clock(start) - 5_000;
                    writer.push_call(&Call {
                        tid,
                        start,
                        duration: Some(2_000),
                        name: Some(launch),
                        correlation: number,
                        ..Call::default()
                    })?;
                }
                writer.push_op(&Op {
                    gpu: Some(0),
                    queue: Some(0),
                    start: clock(start),
                    end: Some(clock(end)),
                    description: Some(name),
                    range,
                    items: Some([1_024, 1, 1]),
                    workgroup: Some([256, 1, 1]),
                    correlation: number,
                    ..Op::default()
                })?;
                Ok(())
            };
            for (at, (duration, gap)) in self.work(rank, step).enumerate() {
                op(&mut writer, names[at % names.len()], now, now + duration)?;
                now += duration + gap;
            }
            let jitter = random.below(3_000) as i64;
            op(&mut writer, collective, now, end + jitter)?;
            now = end + jitter;
            writer.push_op(&Op {
                gpu: Some(-1),
                queue: Some(0),
                start: clock(begin),
                end: Some(clock(now)),
                description: Some(step_name),
                kind: OpKind::UserMarker,
                range,
                sequence: Some(0),
                ..Op::default()
            })?;
            // What comes next was launched from where all ranks are together again.
            now = end;
        }
        Ok(writer.finish()?)
    }

    fn metadata(
        &self,
        writer: &mut NativeWriter,
        (rank, node, local): (u32, u32, u32),
        over: i64,
    ) -> Result<()> {
        // Ranks of different nodes share process ids, as those of containers do.
        let number = |value: u32| value.to_string();
        for (tag, value) in [
            ("schema_version", "rtl-1".to_owned()),
            ("tool", "rtl generate".to_owned()),
            ("mode", "standard".to_owned()),
            ("pid", number(100 + local)),
            ("host", format!("node{node}")),
            ("machine_id", format!("{:032x}", 0xabc + node)),
            ("boot_id", format!("00000000-0000-4000-8000-{:012x}", 0xb007 + node)),
            ("run_id", "job-17".to_owned()),
            ("rank", number(rank)),
            ("local_rank", number(local)),
            ("world_size", number(self.ranks())),
        ] {
            if self.named || !["host", "machine_id", "boot_id"].contains(&tag) {
                writer.push_metadata(tag, &value)?;
            }
        }
        for (tag, moment) in [("clock_start", 0), ("clock_end", over)] {
            if self.anchors {
                let (boottime, realtime) = (self.clock(node, moment), BEGIN + moment);
                let value = format!(r#"{{"boottime":{boottime},"realtime":{realtime},"within":120}}"#);
                writer.push_metadata(tag, &value)?;
            }
        }
        // Every rank sees its own GPU only, as number 0.
        let gpu = format!(
            r#"{{"number":0,"sourceId":0,"typeIndex":0,"absoluteIndex":{},"target":"gfx942","product":"AMD Instinct MI300X","uuid":"GPU-{:016x}","details":{{"pci":"0000:{:02x}:00.0","renderMinor":{}}}}}"#,
            local + 2,
            0x1000 * (node + 1) + local,
            0x10 + local,
            128 + local
        );
        writer.push_metadata("gpu", &gpu)?;
        Ok(())
    }
}
