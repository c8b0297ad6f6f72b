//! Cost of the recording, as the recorder measured it.

use rtl_schema::{RecorderCost, Tables};
use serde::{Deserialize, Serialize};

/// The cost of recording.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TracingCost {
    /// CPU time of the recorder's threads, and of launches and hooks of ranges and calls in the recorder, of all CPU time of
    /// the processes, 0 to 1.
    pub cpu_share: f64,
    /// Mean time that a launch spends in the recorder, in ns, if any was timed.
    pub launch_ns: Option<f64>,
    /// Mean time that a hook of a range or a call takes, in ns, if any was timed.
    #[serde(default)]
    pub hook_ns: Option<f64>,
    /// The most memory that ops on their way to the file occupied in a process, in bytes.
    pub buffer_peak_bytes: u64,
}

/// The cost of all recorded processes, where the recorder has stated it.
pub fn tracing_cost(tables: &Tables) -> Option<TracingCost> {
    let rows: Vec<RecorderCost> = tables.info.recorder_costs().collect();
    let sum = |field: fn(&RecorderCost) -> u64| rows.iter().map(field).fold(0, u64::saturating_add) as f64;
    let mean = |samples: fn(&RecorderCost) -> u64, ns: fn(&RecorderCost) -> Option<f64>| {
        let timed = rows.iter().map(|row| ns(row).unwrap_or(0.0) * samples(row) as f64).sum::<f64>();
        let samples = sum(samples);
        (samples > 0.0).then(|| timed / samples)
    };
    let process = sum(|row| row.process_cpu_ns);
    let launch_ns = mean(|row| row.launch_samples, |row| row.launch_ns);
    let hook_ns = mean(|row| row.hook_samples, |row| row.hook_ns);
    let launches = launch_ns.unwrap_or(0.0) * tables.dispatches.len() as f64;
    let hooks = hook_ns.unwrap_or(0.0) * sum(|row| row.hooks);
    let threads = sum(|row| row.collector_cpu_ns) + sum(|row| row.recorder_cpu_ns);
    (process > 0.0).then(|| TracingCost {
        cpu_share: ((threads + launches + hooks) / process).min(1.0),
        launch_ns,
        hook_ns,
        buffer_peak_bytes: rows.iter().map(|row| row.buffer_peak_bytes).max().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::Dispatch;

    use super::*;

    fn of(rows: &[(&str, &str)], dispatches: usize) -> Option<TracingCost> {
        let mut tables = Tables::default();
        tables.info.metadata = rows.iter().map(|&(tag, row)| (tag.to_owned(), row.to_owned())).collect();
        tables.dispatches = (0..dispatches).map(|_| Dispatch::default()).collect();
        tracing_cost(&tables)
    }

    #[test]
    fn the_cost_is_that_of_threads_and_launches_in_all_processes() {
        let one = r#"{"process_cpu_ns":1000,"collector_cpu_ns":10,"recorder_cpu_ns":20,"launch_ns":4.0,"launch_samples":1,"buffer_peak_bytes":64,"buffer_bytes":128}"#;
        let other = r#"{"process_cpu_ns":3000,"collector_cpu_ns":30,"recorder_cpu_ns":40,"launch_ns":8.0,"launch_samples":3,"buffer_peak_bytes":32,"buffer_bytes":128}"#;
        let cost = of(&[("tracing_cost", one)], 5);
        let expected =
            TracingCost { cpu_share: 0.05, launch_ns: Some(4.0), hook_ns: None, buffer_peak_bytes: 64 };
        assert_eq!(cost, Some(expected));
        let both = of(&[("source:0:tracing_cost", one), ("source:1:tracing_cost", other)], 20);
        let expected =
            TracingCost { cpu_share: 0.06, launch_ns: Some(7.0), hook_ns: None, buffer_peak_bytes: 64 };
        assert_eq!(both, Some(expected));
        let hooks = r#"{"process_cpu_ns":1000,"collector_cpu_ns":10,"recorder_cpu_ns":20,"launch_ns":null,"launch_samples":0,"hook_ns":3.5,"hook_samples":2,"hooks":20,"buffer_peak_bytes":64,"buffer_bytes":128}"#;
        let cost = of(&[("tracing_cost", hooks)], 5).unwrap();
        assert_eq!((cost.cpu_share, cost.hook_ns), (0.1, Some(3.5)));
    }

    #[test]
    fn without_a_statement_no_cost_is_known() {
        assert_eq!(of(&[("mode", "lite"), ("tracing_cost", "no object")], 3), None);
        let untimed = r#"{"process_cpu_ns":100,"collector_cpu_ns":1,"recorder_cpu_ns":1,"launch_ns":null,"launch_samples":0,"buffer_peak_bytes":0}"#;
        let cost = of(&[("tracing_cost", untimed)], 3).unwrap();
        assert_eq!((cost.cpu_share, cost.launch_ns), (0.02, None));
    }
}
