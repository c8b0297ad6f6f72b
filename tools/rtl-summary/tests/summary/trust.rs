//! The verdict on figures: made traces of torch.profiler with one fault each, and real ones.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use serde_json::{Value, json};
use support::json_schema::JsonSchema;

use crate::Folder;

/// A trace as torch.profiler writes it, event by event; times are in us.
#[derive(Default)]
struct Torch(Vec<Value>);

impl Torch {
    fn host(&mut self, category: &str, name: &str, (ts, dur): (i64, i64), correlation: i64) {
        let args = json!({"correlation": correlation});
        self.0.push(
            json!({"ph": "X", "cat": category, "name": name, "pid": 70, "tid": 71, "ts": ts, "dur": dur,
            "args": args}),
        );
    }

    fn kernel(&mut self, name: &str, (ts, dur): (i64, i64), correlation: i64) {
        let args = json!({"device": 0, "stream": 7, "correlation": correlation});
        self.0
            .push(json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": args}));
    }

    fn step(&mut self, number: i64) {
        self.host("user_annotation", &format!("ProfilerStep#{number}"), (number * 1_000, 900), 0);
    }

    fn launch(&mut self, ts: i64, correlation: i64) {
        self.host("cuda_runtime", "hipLaunchKernel", (ts, 5), correlation);
    }

    /// Steps 1 to 4 of two launches each, with the kernels that `is_seen` of step and launch keeps.
    fn steps(is_seen: impl Fn(i64, i64) -> bool) -> Self {
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
    fn graphs(kernels: &[usize]) -> Self {
        let mut torch = Self::default();
        for (at, &kernels) in (0..).zip(kernels) {
            torch.host("cuda_runtime", "hipGraphLaunch", (at * 1_000, 5), at + 1);
            for (place, name) in (0..).zip(&["gemm", "add", "gemm", "norm"][..kernels]) {
                torch.kernel(name, (at * 1_000 + 100 + place * 100, 50), at + 1);
            }
        }
        torch
    }

    fn text(&self) -> String {
        json!({"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": 0, "traceEvents": self.0})
            .to_string()
    }
}

fn health(torch: &Torch) -> (i32, String) {
    let folder = Folder::new();
    folder.file("run.json", torch.text());
    let run = folder.run("run.json --health");
    assert_eq!(run.messages, "");
    (run.code, run.answer)
}

#[test]
fn a_trace_that_lacks_nothing_is_good() {
    assert_eq!(health(&Torch::steps(|_, _| true)), (0, "trust: good\n".to_owned()));
    assert_eq!(health(&Torch::graphs(&[4, 4])), (0, "trust: good\n".to_owned()));
}

#[test]
fn steps_without_gpu_events_are_counted() {
    let (code, answer) = health(&Torch::steps(|step, _| step == 2));
    let expected = "trust: bad\n  bad: GPU events in 1 of 4 steps (ProfilerStep)\n  \
                    bad: 6 of 8 kernel launches have no kernel on a GPU\n";
    assert_eq!((code, answer.as_str()), (3, expected));
    let (_, answer) = health(&Torch::steps(|step, launch| step != 1 && (step, launch) != (3, 1)));
    assert!(
        answer.contains("GPU events in 3 of 4 steps (ProfilerStep), in 1 of them incomplete\n"),
        "{answer}"
    );
    let (_, answer) = health(&Torch::steps(|step, launch| (step, launch) != (4, 1)));
    assert!(answer.contains("GPU events of 1 of 4 steps (ProfilerStep) are incomplete\n"), "{answer}");
}

#[test]
fn a_step_that_launches_nothing_lacks_nothing() {
    let mut torch = Torch::steps(|_, _| true);
    torch.step(5);
    assert_eq!(health(&torch).0, 0);
}

#[test]
fn a_few_missing_kernels_make_a_trace_limited() {
    let mut torch = Torch::default();
    for launch in 1..=20 {
        torch.launch(launch * 100, launch);
        if launch != 20 {
            torch.kernel("gemm", (launch * 100 + 10, 50), launch);
        }
    }
    let expected = "trust: limited\n  limited: 1 of 20 kernel launches have no kernel on a GPU\n";
    assert_eq!(health(&torch), (1, expected.to_owned()));
}

#[test]
fn launches_of_one_graph_with_fewer_kernels_than_another_lack_some() {
    let (code, answer) = health(&Torch::graphs(&[4, 2, 0, 4]));
    let expected =
        "trust: bad\n  bad: 10 of 16 kernels of graph launches were recorded: 2 of 4 launches lack some\n";
    assert_eq!((code, answer.as_str()), (3, expected));
}

#[test]
fn another_graph_with_other_kernels_lacks_nothing() {
    let mut torch = Torch::graphs(&[4, 4]);
    torch.host("cuda_runtime", "hipGraphLaunch", (5_000, 5), 9);
    torch.kernel("softmax", (5_100, 50), 9);
    assert_eq!(health(&torch), (0, "trust: good\n".to_owned()));
    torch.host("cuda_runtime", "hipGraphLaunch", (6_000, 5), 10);
    let expected = "trust: bad\n  bad: 1 of 4 graph launches have no kernel on a GPU\n";
    assert_eq!(health(&torch), (3, expected.to_owned()));
}

#[test]
fn a_trace_of_a_capture_is_not_the_run() {
    let mut torch = Torch::default();
    torch.launch(0, 1);
    torch.kernel("warm_up", (10, 50), 1);
    torch.host("cuda_runtime", "hipStreamBeginCapture", (100, 5), 2);
    (0..3).for_each(|launch| torch.launch(110 + launch * 10, 3 + launch));
    torch.host("cuda_runtime", "hipStreamEndCapture", (200, 5), 6);
    let expected = "trust: bad\n  bad: 3 of 4 kernel launches only build graphs, and no graph is launched\n";
    assert_eq!(health(&torch), (3, expected.to_owned()));
    // The captured launches of a graph that runs need no kernels of their own.
    torch.host("cuda_runtime", "hipGraphLaunch", (300, 5), 7);
    (0..3).for_each(|kernel| torch.kernel("gemm", (400 + kernel * 100, 50), 7));
    assert_eq!(health(&torch), (0, "trust: good\n".to_owned()));
}

#[test]
fn launches_alone_are_no_trace_of_a_gpu() {
    let expected = "trust: bad\n  bad: no GPU events, though the host made 8 launches\n";
    assert_eq!(health(&Torch::steps(|_, _| false)), (3, expected.to_owned()));
}

#[test]
fn work_of_a_step_before_the_recording_is_a_remark_until_it_is_much() {
    let mut torch = Torch::steps(|_, _| true);
    torch.kernel("gemm", (900, 50), 5);
    let expected = "trust: limited\n  limited: 1 of 9 ops were launched before the recording began: they belong to no \
                    whole step\n";
    assert_eq!(health(&torch), (1, expected.to_owned()));
    for more in 0..4 {
        torch.launch(6_000 + more * 100, 100 + more);
        torch.kernel("gemm", (6_010 + more * 100, 50), 100 + more);
    }
    let (code, answer) = health(&torch);
    assert!(code == 0 && answer.starts_with("trust: good\n  remark: 1 of 13 ops"), "{answer}");
}

#[test]
fn kernels_at_the_same_time_on_one_stream_are_no_good_sign() {
    let mut torch = Torch::steps(|_, _| true);
    torch.launch(9_000, 99);
    torch.kernel("late", (4_120, 10), 99);
    let (code, answer) = health(&torch);
    assert_eq!(code, 1, "{answer}");
    assert!(answer.contains("limited: 1 of 9 dispatches start on a queue before the one before"), "{answer}");
}

#[test]
fn a_file_that_ends_too_early_is_limited() {
    let folder = Folder::new();
    let text = Torch::steps(|_, _| true).text();
    folder.file("cut.json", &text[..text.len() - 40]);
    support::cut_off::native(&folder.path("ours.db")).unwrap();
    for file in ["cut.json", "ours.db"] {
        let run = folder.run(&format!("{file} --health"));
        assert!(run.answer.contains("limited: cut off: "), "{}", run.answer);
        assert_ne!(run.code, 0);
    }
}

#[test]
fn filters_do_not_change_the_verdict() {
    let folder = Folder::new();
    folder.file("run.json", Torch::steps(|_, _| true).text());
    assert_eq!(folder.answer("run.json --health --time ..2500us"), "trust: good\n");
}

#[test]
fn the_report_says_why_not_and_json_has_the_evidence() {
    let folder = Folder::new();
    folder.file("run.json", Torch::steps(|step, _| step == 2).text());
    let answer = folder.answer("run.json");
    assert!(answer.contains("Trust:     bad: GPU events in 1 of 4 steps (ProfilerStep)"), "{answer}");
    let report = folder.json("run.json");
    JsonSchema::read(include_str!("../../../../docs/reference/rtl-summary.schema.json")).describes(&report);
    let reason = &report["trust_reasons"][0];
    assert_eq!((&report["trust"], &reason["id"]), (&json!("bad"), &json!("steps-incomplete")));
    assert_eq!((&reason["count"], &reason["of"], &reason["share"]), (&json!(3), &json!(4), &json!(0.75)));
    let first =
        json!({"name": "ProfilerStep#1", "start_ns": 1_000_000, "end_ns": 1_900_000, "correlation": 0});
    assert_eq!(reason["evidence"][0], first);
    let run = folder.run("run.json --health --to csv");
    assert_eq!((run.code, run.messages.contains("--health has no table")), (2, true));
}

#[test]
fn several_traces_have_the_verdict_of_the_worst() {
    let folder = Folder::new();
    folder.file("a.json", Torch::steps(|_, _| true).text());
    folder.file("b.json", Torch::graphs(&[4, 2]).text());
    let run = folder.run("a.json b.json --health --each");
    let expected = "a.json: trust: good\nb.json: trust: bad\n  bad: 6 of 8 kernels of graph launches were recorded: 1 of \
                    2 launches lack some\nall 2 traces together: trust: bad\n  bad, trace 2: 6 of 8 kernels of graph \
                    launches were recorded: 1 of 2 launches lack some\n";
    assert_eq!((run.code, run.answer.as_str(), run.messages.as_str()), (3, expected, ""));
}

#[test]
fn a_reason_that_traces_share_is_one_line_about_all_of_them() {
    let folder = Folder::new();
    for (name, launches) in [("a.json", 3), ("b.json", 2), ("c.json", 4)] {
        folder.file(name, Torch::graphs(&[4, launches]).text());
    }
    let run = folder.run("a.json b.json c.json --health --each");
    let together = run.answer.split_once("all 3 traces together: ").unwrap().1;
    let expected = "trust: bad\n  bad, trace 1 and another one: 7 of 8 kernels of graph launches were recorded: 1 of 2 \
                    launches lack some\n";
    assert_eq!((run.code, together), (3, expected));
}

/// The content of a trace of torch.profiler, counted without our reader: ops, and those that name a call that is not there;
/// launches, and those without an op.
fn counted(bytes: &[u8]) -> [usize; 4] {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let slices = || document["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let is =
        |event: &Value, categories: &[&str]| categories.contains(&event["cat"].as_str().unwrap_or_default());
    let id = |event: &Value| event["args"]["correlation"].as_i64().unwrap_or_default();
    let ops: Vec<i64> =
        slices().filter(|event| is(event, &["kernel", "gpu_memcpy", "gpu_memset"])).map(id).collect();
    let calls: HashMap<i64, &str> = slices()
        .filter(|event| is(event, &["cuda_runtime", "cuda_driver"]))
        .map(|event| (id(event), event["name"].as_str().unwrap()))
        .collect();
    let with_ops: HashSet<i64> = ops.iter().copied().collect();
    let launches: Vec<i64> =
        calls.iter().filter(|(_, name)| name.contains("Launch")).map(|(&id, _)| id).collect();
    let bare = launches.iter().filter(|id| !with_ops.contains(id)).count();
    let untied = ops.iter().filter(|id| !calls.contains_key(id)).count();
    [ops.len(), untied, launches.len(), bare]
}

#[test]
fn real_traces_are_not_bad_and_what_is_said_of_them_is_true() {
    let Some(shared) = support::shared().map(|shared| shared.join("kineto")).filter(|folder| folder.exists())
    else {
        return support::skip(support::Need::Shared, "no traces of torch.profiler beside the checkout");
    };
    let ranks = ["overlap", "exposed", "slowgpu", "slowhost"].map(|job| format!("h200/gpt-dist_{job}-rank0"));
    let names = ["mi210-gpu-only", "mi300-owlv2", "mi300-qwen", "mi300-resnet", "mi300-sglang-prefilldecode"];
    let others =
        ["vllm-decode-graph", "h200/averages", "h200/gpt-graph", "h200/gpt-healthy", "h200/compiled"];
    let folder = Folder::new();
    for name in names.into_iter().chain(others).map(str::to_owned).chain(ranks) {
        let path = shared.join(format!("{name}.json.gz"));
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_end(&mut bytes).unwrap();
        let [ops, untied, launches, bare] = counted(&bytes);
        assert!(launches > 0 && bare == 0, "{name}");
        let run = crate::Run::of(folder.program("--health").arg(&path));
        let is_limited = untied * 10 >= ops;
        assert_eq!(run.code, i32::from(is_limited), "{name}: {}", run.answer);
        let said = format!("{untied} of {ops} ops were launched before the recording began");
        assert_eq!(run.answer.contains(&said), untied > 0, "{name}: {}", run.answer);
        assert!(!run.answer.contains("launches"), "{name}: {}", run.answer);
    }
}

#[test]
fn the_ranks_that_wait_for_a_slow_one_are_seen_beside_each_other() {
    let Some(shared) = support::shared() else { return };
    let file = |job: &str, rank: u32| shared.join(format!("kineto/h200/gpt-dist_{job}-rank{rank}.json.gz"));
    if !file("slowhost", 0).exists() {
        return support::skip(support::Need::Shared, "no ranks of a torch job beside the checkout");
    }
    let folder = Folder::new();
    let run =
        crate::Run::of(folder.program("--health --each").args((0..4).map(|rank| file("slowhost", rank))));
    let together = run.answer.split_once("all 4 traces together: ").unwrap().1;
    assert_eq!(run.code, 1, "{together}");
    assert!(
        together.starts_with("trust: limited\n  limited: kernels of collectives wait for later ranks"),
        "{together}"
    );
}

/// The real steps are 30, of one graph launch and one kernel launch each; the GPU's events of the last 28 are taken away.
#[test]
fn a_real_trace_that_is_thinned_says_what_it_lacks() {
    let path = support::shared().map(|shared| shared.join("kineto/h200/compiled.json.gz"));
    let Some(path) = path.filter(|path| path.exists()) else {
        return support::skip(support::Need::Shared, "no traces of torch.profiler beside the checkout");
    };
    let mut document: Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())).unwrap();
    let events = document["traceEvents"].as_array_mut().unwrap();
    let id = |event: &Value| event["args"]["correlation"].as_i64().unwrap_or_default();
    let is_kernel = |event: &Value| event["cat"] == "kernel";
    let third =
        events.iter().find(|event| event["name"] == "ProfilerStep#3").unwrap()["ts"].as_f64().unwrap();
    let early: HashSet<i64> = events
        .iter()
        .filter(|event| event["cat"] == "cuda_runtime" && event["ts"].as_f64().unwrap() < third)
        .map(id)
        .collect();
    let graphs: HashSet<i64> =
        events.iter().filter(|event| event["name"] == "cudaGraphLaunch").map(id).collect();
    let of_graphs = |events: &[Value]| {
        events.iter().filter(|event| is_kernel(event) && graphs.contains(&id(event))).count()
    };
    let whole = of_graphs(events);
    events.retain(|event| !is_kernel(event) || early.contains(&id(event)));
    let seen = of_graphs(events);
    let folder = Folder::new();
    folder.file("thin.json", document.to_string());
    let run = folder.run("thin.json --health");
    let expected = format!(
        "trust: bad\n  bad: {seen} of {whole} kernels of graph launches were recorded: 28 of 30 launches lack some\n  \
         bad: GPU events in 2 of 30 steps (ProfilerStep)\n  bad: 28 of 30 kernel launches have no kernel on a GPU\n"
    );
    assert_eq!((run.code, run.answer), (3, expected));
}
