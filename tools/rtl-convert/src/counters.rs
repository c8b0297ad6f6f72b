//! How busy each GPU was, in equal steps of the trace.

use std::collections::BTreeMap;

use schema::AgentId;

/// Steps of a trace; more than a screen has columns.
const STEPS: u64 = 1000;

/// The counters of all GPUs.
#[derive(Debug)]
pub struct Counters {
    start: i64,
    /// Length of a step in ns.
    step: u64,
    gpus: BTreeMap<AgentId, Gpu>,
}

/// What one GPU did in each step.
#[derive(Debug, Default)]
struct Gpu {
    /// The end of what was seen, so that what overlaps counts once.
    until: i64,
    busy: Amounts,
    work: Amounts,
}

/// A time in each step. What covers whole steps is kept as where that begins and ends: an op costs the same
/// however long it is.
#[derive(Debug, Default)]
struct Amounts {
    parts: Vec<u64>,
    whole: Vec<i64>,
}

/// One GPU in one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When the step begins, in ns.
    pub start: i64,
    /// The part of it in which anything ran, 0 to 1.
    pub busy: f64,
    /// How many ops ran at once, on average.
    pub depth: f64,
}

impl Counters {
    /// For a trace of that first start and last end.
    pub fn new((start, end): (i64, i64)) -> Self {
        Self { start, step: end.abs_diff(start).div_ceil(STEPS).max(1), gpus: BTreeMap::new() }
    }

    /// Adds an op; starts must ascend.
    pub fn add(&mut self, agent: AgentId, start: i64, duration: i64) {
        let end = start + duration;
        let gpu = self.gpus.entry(agent).or_insert_with(|| Gpu { until: i64::MIN, ..Gpu::default() });
        gpu.work.add(start.abs_diff(self.start), end.abs_diff(self.start), self.step);
        let fresh = start.max(gpu.until);
        if fresh < end {
            gpu.busy.add(fresh.abs_diff(self.start), end.abs_diff(self.start), self.step);
            gpu.until = end;
        }
    }

    /// The samples of each GPU.
    pub fn samples(&self) -> impl Iterator<Item = (AgentId, Vec<Sample>)> + '_ {
        self.gpus.iter().map(|(agent, gpu)| {
            let (busy, work) = (gpu.busy.totals(self.step), gpu.work.totals(self.step));
            let share = |time: u64| time as f64 / self.step as f64;
            let sample = |(number, (&busy, &work)): (usize, (&u64, &u64))| Sample {
                start: self.start.saturating_add_unsigned(number as u64 * self.step),
                busy: share(busy),
                depth: share(work),
            };
            (
                *agent,
                work.iter().zip(&busy).map(|(work, busy)| (busy, work)).enumerate().map(sample).collect(),
            )
        })
    }
}

impl Amounts {
    /// Adds the time between two moments from the start of the trace.
    fn add(&mut self, from: u64, to: u64, step: u64) {
        if to <= from {
            return;
        }
        let (first, last) = ((from / step) as usize, ((to - 1) / step) as usize);
        if self.parts.len() <= last {
            self.parts.resize(last + 1, 0);
            self.whole.resize(last + 2, 0);
        }
        if first == last {
            self.parts[first] += to - from;
            return;
        }
        self.parts[first] += (first as u64 + 1) * step - from;
        self.parts[last] += to - last as u64 * step;
        self.whole[first + 1] += 1;
        self.whole[last] -= 1;
    }

    /// The time in each step, and a zero behind the last one.
    fn totals(&self, step: u64) -> Vec<u64> {
        let mut open = 0;
        let total = |(at, whole): (usize, &i64)| {
            open += whole;
            self.parts.get(at).unwrap_or(&0) + open.unsigned_abs() * step
        };
        self.whole.iter().enumerate().map(total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: AgentId = AgentId(0);

    fn samples(end: i64, ops: &[(i64, i64)]) -> Vec<(f64, f64)> {
        let mut counters = Counters::new((0, end));
        ops.iter().for_each(|&(start, end)| counters.add(GPU, start, end - start));
        let all: Vec<_> = counters.samples().collect();
        all[0].1.iter().map(|sample| (sample.busy, sample.depth)).collect()
    }

    #[test]
    fn what_overlaps_counts_once_for_busy_and_twice_for_depth() {
        // Steps of 10 ns.
        let steps = samples(10_000, &[(0, 10), (5, 10), (12, 15)]);
        assert_eq!(steps, [(1.0, 1.5), (0.3, 0.3), (0.0, 0.0)]);
    }

    #[test]
    fn a_long_op_fills_every_step_that_it_covers() {
        let steps = samples(10_000, &[(5, 38)]);
        assert_eq!(steps, [(0.5, 0.5), (1.0, 1.0), (1.0, 1.0), (0.8, 0.8), (0.0, 0.0)]);
    }
}
