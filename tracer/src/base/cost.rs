//! What tracing costs: CPU time of the tracer's threads, and the time that a launch spends in the tracer.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::clock;

/// The cost so far.
#[derive(Debug, Default)]
pub struct Cost {
    /// CPU time of the collector in ns.
    collector: AtomicU64,
    /// Timed launches, and the sum of their times in ns.
    samples: AtomicU64,
    sampled: AtomicU64,
}

impl Cost {
    /// To be called by the collector now and then.
    pub fn note_collector(&self) {
        self.collector.store(clock::thread_cpu(), Ordering::Relaxed);
    }

    /// Times a launch that returns whether it counts. The clock's own time, measured after it, is left out.
    pub fn sample(&self, launch: impl FnOnce() -> bool) -> bool {
        let start = clock::now();
        let counts = launch();
        let end = clock::now();
        if counts {
            let spent = (end - start) - (clock::now() - end);
            self.samples.fetch_add(1, Ordering::Relaxed);
            self.sampled.fetch_add(u64::try_from(spent).unwrap_or(0), Ordering::Relaxed);
        }
        counts
    }

    /// The metadata row, to be made by the recorder: with its own CPU time, that of the process, and the memory of the
    /// buffer, at most and as allowed.
    #[must_use]
    pub fn row(&self, (peak, bound): (usize, usize)) -> String {
        let samples = self.samples.load(Ordering::Relaxed);
        let launch = (samples > 0).then(|| self.sampled.load(Ordering::Relaxed) as f64 / samples as f64);
        let row = serde_json::json!({
            "process_cpu_ns": clock::process_cpu(),
            "collector_cpu_ns": self.collector.load(Ordering::Relaxed),
            "recorder_cpu_ns": clock::thread_cpu(),
            "launch_ns": launch.map(|mean| (mean * 10.0).round() / 10.0),
            "launch_samples": samples,
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
        let row = read(&cost);
        assert_eq!((&row["launch_samples"], &row["buffer_peak_bytes"]), (&2.into(), &5.into()));
        assert!(row["launch_ns"].as_f64().unwrap() >= 6e6, "{row}");
        let cpu = |field: &str| row[field].as_u64().unwrap();
        assert!(cpu("collector_cpu_ns") > 0 && cpu("process_cpu_ns") >= cpu("recorder_cpu_ns"), "{row}");
    }
}
