//! Measures the cost of tracing: CPU time of the tracer's threads, and the time that a launch, a call and a range spend in the
//! tracer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::clock;

#[derive(Debug, Default)]
pub struct Cost {
    /// CPU time of the collector in ns.
    collector: AtomicU64,
    launches: Samples,
}

#[derive(Debug)]
struct Samples {
    count: AtomicU64,
    /// Sum in ns.
    sum: AtomicU64,
}

impl Default for Samples {
    fn default() -> Self {
        Self::new()
    }
}

impl Samples {
    const fn new() -> Self {
        Self { count: AtomicU64::new(0), sum: AtomicU64::new(0) }
    }

    /// Adds the time from `start` until now, less the time of reading the clock, which is measured afterwards.
    fn add(&self, start: i64) {
        let end = clock::now();
        let spent = (end - start) - (clock::now() - end);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(u64::try_from(spent).unwrap_or(0), Ordering::Relaxed);
    }

    /// Number of samples, and their mean in ns to one decimal; `None` without any.
    fn mean(&self) -> (u64, Option<f64>) {
        let count = self.count.load(Ordering::Relaxed);
        let mean = || self.sum.load(Ordering::Relaxed) as f64 / count as f64;
        (count, (count > 0).then(|| (mean() * 10.0).round() / 10.0))
    }
}

/// Hooks of ranges and calls in the threads of the application. A call has two, a range two, a marker one.
pub struct Hooks {
    /// True if the next hook is timed.
    is_due: AtomicBool,
    samples: Samples,
    /// Hooks that led to a record.
    count: AtomicU64,
}

pub static HOOKS: Hooks =
    Hooks { is_due: AtomicBool::new(false), samples: Samples::new(), count: AtomicU64::new(0) };

impl Hooks {
    /// Requests that the next hook is timed.
    pub fn request_sample(&self) {
        self.is_due.store(true, Ordering::Relaxed);
    }

    /// Called when a hook begins; returns the time in ns if the hook is timed.
    #[inline(always)]
    pub fn begin(&self) -> Option<i64> {
        if self.is_due.load(Ordering::Relaxed) { self.start() } else { None }
    }

    #[cold]
    fn start(&self) -> Option<i64> {
        self.is_due.swap(false, Ordering::Relaxed).then(clock::now)
    }

    /// Called when a hook ends, with the result of [`Self::begin`].
    #[inline(always)]
    pub fn end(&self, start: Option<i64>) {
        if let Some(start) = start {
            self.samples.add(start);
        }
    }

    /// Counts hooks that led to a record.
    pub fn count(&self, hooks: usize) {
        self.count.fetch_add(hooks as u64, Ordering::Relaxed);
    }

    /// Called in the child of a fork, which did not run the hooks of its parent.
    pub fn forget(&self) {
        for count in [&self.samples.count, &self.samples.sum, &self.count] {
            count.store(0, Ordering::Relaxed);
        }
    }
}

impl Cost {
    /// Notes the CPU time of the calling thread, which is the collector.
    pub fn note_collector(&self) {
        self.collector.store(clock::thread_cpu(), Ordering::Relaxed);
    }

    /// Times a launch, whose result says whether it counts.
    pub fn sample(&self, launch: impl FnOnce() -> bool) -> bool {
        let start = clock::now();
        let counts = launch();
        if counts {
            self.launches.add(start);
        }
        counts
    }

    /// The text of the metadata row, with the CPU time of the calling thread, which is the recorder's, that of the process, and
    /// peak and bound of the buffer.
    #[must_use]
    pub fn row(&self, (peak, bound): (usize, usize)) -> String {
        let (launches, launch) = self.launches.mean();
        let (hooks, hook) = HOOKS.samples.mean();
        let row = serde_json::json!({
            "process_cpu_ns": clock::process_cpu(),
            "collector_cpu_ns": self.collector.load(Ordering::Relaxed),
            "recorder_cpu_ns": clock::thread_cpu(),
            "launch_ns": launch,
            "launch_samples": launches,
            "hook_ns": hook,
            "hook_samples": hooks,
            "hooks": HOOKS.count.load(Ordering::Relaxed),
            "buffer_peak_bytes": peak,
            "buffer_bytes": bound,
        });
        row.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_costs_what_its_samples_took() {
        let cost = Cost::default();
        let read = |cost: &Cost| serde_json::from_str::<serde_json::Value>(&cost.row((5, 7))).unwrap();
        assert_eq!((&read(&cost)["launch_ns"], &read(&cost)["launch_samples"]), (&().into(), &0.into()));
        for (millis, counts) in [(4, true), (50, false), (8, true)] {
            let launch = || {
                std::thread::sleep(std::time::Duration::from_millis(millis));
                counts
            };
            assert_eq!(cost.sample(launch), counts);
        }
        cost.note_collector();
        assert_eq!(HOOKS.begin(), None, "no sample was requested");
        HOOKS.request_sample();
        let start = HOOKS.begin();
        std::thread::sleep(std::time::Duration::from_millis(4));
        assert_eq!(HOOKS.begin(), None, "one sample was requested");
        HOOKS.end(start);
        HOOKS.count(3);
        let row = read(&cost);
        assert_eq!((&row["hook_samples"], &row["hooks"]), (&1.into(), &3.into()));
        assert!(row["hook_ns"].as_f64().unwrap() >= 4e6, "{row}");
        assert_eq!((&row["launch_samples"], &row["buffer_peak_bytes"]), (&2.into(), &5.into()));
        assert!(row["launch_ns"].as_f64().unwrap() >= 6e6, "{row}");
        let cpu = |field: &str| row[field].as_u64().unwrap();
        assert!(cpu("collector_cpu_ns") > 0 && cpu("process_cpu_ns") >= cpu("recorder_cpu_ns"), "{row}");
    }
}
