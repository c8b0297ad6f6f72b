//! Operators, modules, categories and steps in place of kernels: also where GPUs and kernels have nothing in common.

use serde_json::{Value, json};

use crate::{Folder, status};

/// The GPU, the library and kernel for convolutions, and the length of the kernel in us of a made vendor.
struct Vendor {
    gpu: &'static str,
    library: &'static str,
    kernel: &'static str,
    length: i64,
}

const H200: Vendor =
    Vendor { gpu: "NVIDIA H200", library: "aten::cudnn_convolution", kernel: "nvjet_gemm", length: 300 };
const MI300X: Vendor = Vendor {
    gpu: "AMD Instinct MI300X",
    library: "aten::miopen_convolution",
    kernel: "Cijk_A_MT1x1",
    length: 200,
};

/// A trace of torch.profiler, with a convolution, an addition and `other` in each step. The end of the step before
/// lies in the trace, too.
fn torch(folder: &Folder, file: &str, vendor: &Vendor, steps: i64, other: Option<&str>) {
    let mut events = Vec::new();
    let mut event = |cat: &str, name: &str, ts: i64, dur: i64, args: Value| {
        let (pid, tid) = if cat == "kernel" { (0, 7) } else { (1, 1) };
        events.push(json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}));
    };
    let kernel = |correlation: i64| json!({"device": 0, "stream": 7, "correlation": correlation});
    event("kernel", vendor.kernel, 20, vendor.length, kernel(999_999));
    for step in 0..steps {
        let at = 1_000 * (step + 1);
        event("user_annotation", &format!("ProfilerStep#{step}"), at, 990, json!({}));
        let wobble = step % 3;
        let mut work = vec![
            (
                vec!["aten::conv2d", "aten::_convolution", vendor.library],
                vendor.kernel,
                vendor.length + wobble,
            ),
            (vec!["aten::add"], "vectorized_elementwise_kernel", 50 + wobble),
        ];
        work.extend(other.map(|name| (vec![name], "some_sort", 30)));
        for (number, (operators, name, length)) in (0..).zip(work) {
            let start = at + 100 * number;
            let correlation = 10 * step + number + 1;
            for (depth, operator) in (0..).zip(operators) {
                event("cpu_op", operator, start + depth, 60 - 2 * depth, json!({"Input Dims": [[8, 64]]}));
            }
            event("cuda_runtime", "cudaLaunchKernel", start + 20, 5, json!({"correlation": correlation}));
            event("kernel", name, start + 100 + 250 * number, length, kernel(correlation));
        }
    }
    let document = json!({
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": vendor.gpu, "totalGlobalMem": 1}],
        "traceEvents": events,
    });
    std::fs::write(folder.path(file), document.to_string()).unwrap();
}

/// The terms of a document balance on both sides, and so does their change.
fn terms_balance(document: &Value) {
    let work = &document["work"];
    for side in ["baseline", "candidate"] {
        let item = |item: &Value| item[format!("{side}_ns")].as_i64().unwrap_or(0);
        let items: i64 = work["items"].as_array().unwrap().iter().map(item).sum();
        let term = |name: &str| work[name][side].as_i64().unwrap();
        assert_eq!(items - term("overlap_ns") + term("idle_ns"), term("wall_ns"), "{side}: {work:#}");
    }
    let terms = document["decomposition"]["terms"].as_object().unwrap();
    let sum: i64 = terms.values().map(|term| term.as_i64().unwrap()).sum();
    assert_eq!(document["decomposition"]["wall_delta_ns"].as_i64(), Some(sum));
}

#[test]
fn different_gpus_are_compared_operator_by_operator() {
    let folder = Folder::new();
    torch(&folder, "h200.json", &H200, 12, None);
    torch(&folder, "mi300x.json", &MI300X, 10, Some("aten::topk"));
    let document = folder.json(0, "--by operator h200.json mi300x.json");
    terms_balance(&document);
    assert_eq!(document["baseline"]["steps"][0]["count"], 12);
    assert_eq!(document["baseline"]["steps"][0]["left_out"]["ops"], 1);
    let conv = "aten::_convolution [[8,64]]";
    assert_eq!(status(&document, conv), "faster");
    assert_eq!(status(&document, "aten::topk [[8,64]]"), "new");
    let items = document["work"]["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["name"] == conv).unwrap();
    // Twelve steps of 300, 301 and 302 us; ten of 200 to 202, one more of which is the shortest.
    assert_eq!((item["baseline_ns"].as_i64(), item["candidate_ns"].as_i64()), (Some(301_000), Some(200_900)));
    let text = folder.answer(0, "--by operator h200.json mi300x.json");
    assert!(text.starts_with("faster: GPU time a step 352.000 us to 281.800 us, -19.9"), "{text}");
    assert!(text.contains("\nthe candidate wins in aten::_convolution [[8,64]] -100.100 us"), "{text}");
    assert!(
        text.contains("12 complete steps (ProfilerStep) are compared, without 1 ops (300.000 us)"),
        "{text}"
    );
    assert!(text.lines().any(|line| line.starts_with("wall of a step ")), "{text}");
}

#[test]
fn categories_and_steps_balance_too() {
    let folder = Folder::new();
    torch(&folder, "a.json", &H200, 12, None);
    torch(&folder, "b.json", &MI300X, 10, Some("aten::topk"));
    for by in ["category", "step"] {
        terms_balance(&folder.json(0, &format!("--by {by} a.json b.json")));
    }
    let document = folder.json(0, "--by category a.json b.json");
    assert_eq!(status(&document, "gemm"), "faster");
    let document = folder.json(0, "--by step a.json b.json");
    assert_eq!((status(&document, "step 10"), status(&document, "step 11")), ("undecided", "removed"));
}

#[test]
fn several_runs_of_a_side_stand_before_and_behind_two_hyphens() {
    let folder = Folder::new();
    for run in 0..3 {
        torch(&folder, &format!("a{run}.json"), &Vendor { length: 300 + run, ..H200 }, 10, None);
        torch(&folder, &format!("b{run}.json"), &Vendor { length: 200 + run, ..MI300X }, 10, None);
    }
    let line = "--by step --as runs a0.json a1.json a2.json -- b0.json b1.json b2.json --to json";
    let run = folder.run(line);
    assert_eq!(run.code, 3, "behind `--` are files only: {}", run.messages);
    let line = "--by step --as runs --to json a0.json a1.json a2.json -- b0.json b1.json b2.json";
    let document: Value = serde_json::from_str(&folder.answer(0, line)).unwrap();
    assert_eq!(status(&document, "step 10"), "faster", "three runs show how steps differ");
    terms_balance(&document);
    let run = folder.run("a0.json a1.json a2.json");
    assert!(run.code == 2 && run.messages.contains("write `--` between"), "{}", run.messages);
}

#[test]
fn what_is_not_comparable_is_refused_with_every_reason() {
    let folder = Folder::new();
    torch(&folder, "h200.json", &H200, 12, None);
    torch(&folder, "mi300x.json", &Vendor { kernel: H200.kernel, ..MI300X }, 10, None);
    let run = folder.run("h200.json mi300x.json");
    assert_eq!(run.code, 3);
    for reason in [
        "the GPUs differ: NVIDIA H200 and AMD Instinct MI300X",
        "runs have 12 and 10 complete steps",
        "hint: `--allow incomparable` compares all the same",
    ] {
        assert!(run.messages.contains(reason), "{}", run.messages);
    }
    assert!(run.answer.starts_with("not comparable: the GPUs differ: "), "{}", run.answer);
    let allowed = folder.answer(0, "--allow incomparable h200.json mi300x.json");
    assert!(allowed.contains("! compared all the same: the GPUs differ: "), "{allowed}");
}

#[test]
fn a_trace_that_cannot_be_trusted_is_refused() {
    let folder = Folder::new();
    torch(&folder, "a.json", &H200, 12, None);
    let mut document: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    let events = document["traceEvents"].as_array_mut().unwrap();
    events.retain(|event| event["cat"] != "kernel" || event["ts"].as_i64() < Some(6_000));
    std::fs::write(folder.path("b.json"), document.to_string()).unwrap();
    let run = folder.run("--by operator a.json b.json");
    assert_eq!(run.code, 3);
    assert!(
        run.messages.contains("a trace cannot be trusted: b.json: GPU events in 5 of 12 steps"),
        "{}",
        run.messages
    );
}

#[test]
fn recordings_of_different_modes_are_refused() {
    let folder = Folder::new();
    for (file, mode) in [("a.db", "standard"), ("b.db", "lite")] {
        folder.trace(file, 1, &crate::STEADY);
        folder.tag(file, "mode", mode);
    }
    let run = folder.run("a.db b.db");
    assert_eq!(run.code, 3, "{}", run.answer);
    assert!(run.messages.contains("the modes of recording differ: standard and lite"), "{}", run.messages);
}

#[test]
fn a_side_whose_figures_are_off_is_noted() {
    let folder = Folder::new();
    for file in ["a.db", "b.db"] {
        folder.trace(file, 1, &crate::STEADY);
        folder.tag(file, "mode", "lite");
    }
    let run = folder.run("a.db b.db");
    assert_eq!(run.code, 0, "{}", run.messages);
    for note in ["baseline: trust is limited: a.db: ", "candidate: trust is limited: b.db: "] {
        assert!(run.answer.contains(note), "{}", run.answer);
    }
}
