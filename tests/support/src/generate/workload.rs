use std::collections::VecDeque;

use super::Options;
use super::kernels::Kernels;
use super::random::Random;

/// Twelve days of uptime in ns: eight bytes in SQLite, as on most machines (six bytes end at 39 hours).
const BOOT: i64 = 12 * 86_400 * 1_000_000_000;

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Kernel { kernel: u16, size: u8 },
    HostToDevice { bytes: u64 },
    DeviceToHost { bytes: u64 },
    DeviceToDevice { bytes: u64, peer: i64 },
}

/// One op. `number` counts launches from 1; rows may come in another order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    pub(super) number: i64,
    pub(super) gpu: i64,
    pub(super) queue: i64,
    pub(super) kind: Kind,
    pub(super) start: i64,
    pub(super) end: i64,
    /// The innermost range, 0 for none.
    pub(super) range: i64,
    /// When and for how long the host asked for it.
    pub(super) call: (i64, i64),
}

/// A push/pop range of the launching thread.
#[derive(Debug, Clone)]
pub(super) struct Range {
    pub(super) number: i64,
    pub(super) name: String,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The next row of a recorder.
#[derive(Debug)]
pub(super) enum Event {
    Op(Op),
    Range(Range),
}

/// Steps of a training loop on several GPUs, as a stream of events in memory of constant size.
#[derive(Debug)]
pub(super) struct Workload<'a> {
    options: &'a Options,
    kernels: &'a Kernels,
    random: Random,
    /// When each queue of each GPU is free again.
    free: Vec<i64>,
    launched: u64,
    late: VecDeque<(u64, Op)>,
    ready: VecDeque<Event>,
    step_start: i64,
    phase_start: i64,
    newest: i64,
}

/// The ranges of a step, each of which has as many ops as the others.
const PHASES: [&str; 3] = ["forward", "backward", "optimizer"];
/// Ops of one phase on one GPU.
const PHASE: u64 = 80;

impl<'a> Workload<'a> {
    pub(super) fn new(options: &'a Options, kernels: &'a Kernels, random: Random) -> Self {
        let lanes = (options.gpus.max(1) * options.queues.max(1)) as usize;
        Self {
            options,
            kernels,
            random,
            free: (0..lanes as i64).map(|lane| BOOT + lane * 1_700).collect(),
            launched: 0,
            late: VecDeque::new(),
            ready: VecDeque::new(),
            step_start: BOOT - 30_000,
            phase_start: BOOT - 25_000,
            newest: BOOT,
        }
    }

    fn launch(&mut self) -> Op {
        let random = &mut self.random;
        let lane = (0..self.free.len()).min_by_key(|&lane| self.free[lane]).unwrap_or(0);
        let queues = self.options.queues.max(1) as usize;
        let (gpu, queue) = ((lane / queues) as i64, (lane % queues) as i64);
        let start = self.free[lane];
        let (kind, duration) = if random.once_in(50) {
            let bytes = 4_096 << random.below(14);
            let duration = 6_000.0 + bytes as f64 / 25.0;
            let peer = (gpu + 1) % i64::from(self.options.gpus.max(1));
            let kind = match random.below(4) {
                0 => Kind::DeviceToHost { bytes },
                1 => Kind::DeviceToDevice { bytes, peer },
                _ => Kind::HostToDevice { bytes },
            };
            (kind, random.lognormal(duration, 0.1))
        } else {
            let kernel = self.kernels.pick(random);
            let size = random.below(2) as u8;
            let median = self.kernels.all[usize::from(kernel)].median * f64::from(1 + size);
            (Kind::Kernel { kernel, size }, random.lognormal(median, 0.25))
        };
        let end = start + (duration as i64).max(400);
        // Most launches follow each other closely; pauses reach from synchronisation to data loading.
        let mut pause = 300 + random.below(2_500) as i64;
        if random.once_in(40) {
            pause += random.lognormal(60_000.0, 1.2) as i64;
        }
        if queue > 0 {
            pause += 6 * (end - start);
        }
        self.free[lane] = end + pause;
        let asked = start - 4_000 - random.below(40_000) as i64;
        let call = (asked, asked + 1_800 + random.below(3_000) as i64);
        self.launched += 1;
        self.newest = self.newest.max(start);
        let range = if self.options.ranges { 1 + self.place().1 } else { 0 };
        Op { number: self.launched as i64, gpu, queue, kind, start, end, range, call }
    }

    /// The number of the current step's range less 1 and that of the current phase's.
    fn place(&self) -> (i64, i64) {
        let phase = (self.launched - 1) / (PHASE * u64::from(self.options.gpus.max(1)));
        let step = phase / PHASES.len() as u64;
        let ranges = PHASES.len() as u64 + 1;
        ((step * ranges) as i64, (step * ranges + 1 + phase % PHASES.len() as u64) as i64)
    }

    /// The ranges that end with the newest launch.
    fn close_ranges(&mut self) {
        let phase = PHASE * u64::from(self.options.gpus.max(1));
        let last = self.launched == self.options.ops;
        if !self.options.ranges || !(self.launched.is_multiple_of(phase) || last) {
            return;
        }
        let (step, inner) = self.place();
        let index = (self.launched - 1) / phase;
        let name = PHASES[index as usize % PHASES.len()].to_owned();
        let end = self.newest;
        self.ready.push_back(Event::Range(Range { number: inner + 1, name, start: self.phase_start, end }));
        self.phase_start = end + 2_000;
        if last || self.launched.is_multiple_of(phase * PHASES.len() as u64) {
            let name = format!("step {}", index / PHASES.len() as u64);
            let range = Range { number: step + 1, name, start: self.step_start, end: end + 1_000 };
            self.ready.push_back(Event::Range(range));
            self.step_start = end + 1_500;
        }
    }
}

impl Iterator for Workload<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.launched == self.options.ops {
                return self.late.pop_front().map(|(_, op)| Event::Op(op));
            }
            let op = self.launch();
            // Ops are written when they complete: one in 16 is overtaken by up to a dozen others.
            if self.random.once_in(16) {
                let due = self.launched + 1 + self.random.below(12);
                let at = self.late.partition_point(|(other, _)| *other <= due);
                self.late.insert(at, (due, op));
            } else {
                self.ready.push_back(Event::Op(op));
            }
            while self.late.front().is_some_and(|(due, _)| *due <= self.launched) {
                self.ready.extend(self.late.pop_front().map(|(_, op)| Event::Op(op)));
            }
            self.close_ranges();
        }
    }
}
