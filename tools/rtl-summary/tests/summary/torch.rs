//! Made traces of torch.profiler, and what the report says of them.

use serde_json::{Value, json};

use crate::Folder;

/// A trace as torch.profiler writes it, event by event; times are in us.
#[derive(Default)]
pub(crate) struct Torch(pub(crate) Vec<Value>);

impl Torch {
    pub(crate) fn host(&mut self, category: &str, name: &str, (ts, dur): (i64, i64), correlation: i64) {
        let args = json!({"correlation": correlation});
        self.0.push(
            json!({"ph": "X", "cat": category, "name": name, "pid": 70, "tid": 71, "ts": ts, "dur": dur,
            "args": args}),
        );
    }

    pub(crate) fn kernel(&mut self, name: &str, time: (i64, i64), correlation: i64) {
        self.kernel_of_stream(7, name, time, correlation);
    }

    pub(crate) fn kernel_of_stream(
        &mut self,
        stream: i64,
        name: &str,
        (ts, dur): (i64, i64),
        correlation: i64,
    ) {
        let args = json!({"device": 0, "stream": stream, "correlation": correlation});
        self.0
            .push(json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": args}));
    }

    pub(crate) fn step(&mut self, number: i64) {
        self.host("user_annotation", &format!("ProfilerStep#{number}"), (number * 1_000, 900), 0);
    }

    pub(crate) fn launch(&mut self, ts: i64, correlation: i64) {
        self.host("cuda_runtime", "hipLaunchKernel", (ts, 5), correlation);
    }

    /// Steps 1 to 4 of two launches each, with the kernels that `is_seen` of step and launch keeps.
    pub(crate) fn steps(is_seen: impl Fn(i64, i64) -> bool) -> Self {
        let mut torch = Self::default();
        for step in 1..=4 {
            torch.step(step);
            for launch in 0..2 {
                let (at, id) = (step * 1_000 + launch * 100, step * 10 + launch + 1);
                torch.launch(at, id);
                if is_seen(step, launch) {
                    torch.kernel("gemm", (at + 10, 50), id);
                }
            }
        }
        torch
    }

    /// Launches of a graph of four kernels, with as many of them as are stated for each.
    pub(crate) fn graphs(kernels: &[usize]) -> Self {
        let mut torch = Self::default();
        for (at, &kernels) in (0..).zip(kernels) {
            torch.host("cuda_runtime", "hipGraphLaunch", (at * 1_000, 5), at + 1);
            for (place, name) in (0..).zip(&["gemm", "add", "gemm", "norm"][..kernels]) {
                torch.kernel(name, (at * 1_000 + 100 + place * 100, 50), at + 1);
            }
        }
        torch
    }

    pub(crate) fn text(&self) -> String {
        json!({"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": 0, "traceEvents": self.0})
            .to_string()
    }
}

pub(crate) fn health(torch: &Torch) -> (i32, String) {
    let folder = Folder::new();
    folder.file("run.json", torch.text());
    let run = folder.run("run.json --health");
    assert_eq!(run.messages, "");
    (run.code, run.answer)
}

/// The health, and the findings.
pub(crate) fn judged(torch: &Torch) -> (String, String) {
    let folder = Folder::new();
    folder.file("run.json", torch.text());
    (folder.run("run.json --health").answer, folder.run("run.json --all").answer)
}
