//! Findings on small inputs that once had a wrong answer, and on real traces whose causes are known: each states the id of the first
//! finding of the short report and words of its sentence.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/findings/judge.rs"]
#[allow(dead_code, reason = "shared with the long version")]
mod judge;
#[path = "../src/findings/machine.rs"]
#[allow(dead_code, reason = "shared with the long version")]
mod machine;
#[path = "../src/findings/program.rs"]
#[allow(dead_code, reason = "shared with the long version")]
mod program;

use std::path::Path;

use rtl_analysis::findings::Finding;
use rtl_schema::{Select, Tables, Trace};

/// The findings of the short report on one trace; none where there is no such file.
fn findings(path: &str) -> Option<Vec<Finding>> {
    let path = support::shared()?.join(path);
    if !path.exists() {
        return support::skipped(support::Need::Shared, "no cases beside the checkout");
    }
    let files = |folder: &Path| {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect::<Vec<_>>()
    };
    let traces = match path.is_dir() {
        true if !files(&path).is_empty() => files(&path),
        _ => vec![path],
    };
    let select = Select { python: true, ..Select::summary() };
    let read = |path| -> Tables { Trace::open(path).unwrap().read(&select).unwrap() };
    Some(judge::reported(traces.into_iter().map(read).collect()))
}

#[test]
fn the_first_finding_states_the_cause_its_place_and_its_rhythm() {
    let answers: [(&str, &str, &[&str]); 30] = [
        ("cases/alloc-before", "first-call", &["hipLaunchKernel"]),
        (
            "cases/queue-full-before-recording.json.gz",
            "idle-unknown",
            &["400 ms in 1 gap", "not in the trace"],
        ),
        ("cases/queued-called-launch-bound", "idle-queued", &["idle for 400 ms in 1 gap"]),
        ("cases/gc.json.gz", "idle-host", &["garbage", "in every fifth step"]),
        ("cases/dataloader-first-call", "idle-host", &["data", "in every fourth step"]),
        ("cases/decode-graph.json.gz", "idle-host", &["sampler.py(88): top_k_top_p", "420 us"]),
        ("cases/eager-99us.json.gz", "launch-bound", &[]),
        ("cases/eager-108us.json.gz", "launch-bound", &[]),
        ("cases/serving-idle.json.gz", "idle-waiting", &["queue.py(154): get"]),
        ("cases/one-of-eight.json.gz", "idle-host", &["on GPU 5", "read_config"]),
        ("cases/one-of-four.json.gz", "blocking-copy", &["on GPU 2"]),
        ("cases/copies-alone", "copies-alone", &["94"]),
        (
            "kineto/h100/adam_loop.json.gz",
            "launch-bound",
            &[
                "45 % of it in the backward pass (10 % in MmBackward0), 19 % in Optimizer.step#AdamW.step, 15 % between operators",
            ],
        ),
        (
            "kineto/h100/late_cause.json.gz",
            "idle-host",
            &["the trace shows nothing meanwhile", "in ProfilerStep#5 only"],
        ),
        ("kineto/h100/loader_workers.json.gz", "idle-host", &["data", "DataLoader"]),
        ("kineto/h100/requests.json.gz", "idle-waiting", &["wait_for_request", "in every step"]),
        (
            "kineto/h100/serial_streams.json.gz",
            "launch-bound",
            &["60 % of it in aten::matmul, 40 % between operators"],
        ),
        ("kineto/h100/serial_streams-without.json.gz", "launch-bound", &["90 % of it in aten::matmul"]),
        ("kineto/h200/compiled.json.gz", "launch-bound", &["36 % in cudaGraphLaunch"]),
        (
            "kineto/h200/stack.json.gz",
            "launch-bound",
            &["64 % of it in the backward pass (17 % in AddmmBackward0)"],
        ),
        ("kineto/h200/gpt-tiny.json.gz", "launch-bound", &["aten::mul_", "aten::add_", "aten::sub_"]),
        ("kineto/h100/loader_workers-without.json.gz", "launch-bound", &["in ProfilerStep#1 only"]),
        ("kineto/h200/gpt-sync.json.gz", "idle-sync", &["72 a step", "aten::_local_scalar_dense"]),
        // All idle time is the ramp after one call: 3.99 ms.
        ("kineto/mi300-qwen.json.gz", "idle-sync", &["idle for 3.9", "after 1 wait"]),
        // After each token: 32.0 ms.
        ("traces/real/rpd2-vllm-fp8.rpd.gz", "idle-sync", &["idle for 28.6 ms", "22 waits"]),
        ("kineto/mi250-minitoy.json.gz", "first-call", &["aten::add_ -> hipLaunchKernel"]),
        ("kineto/h200/nostep.json.gz", "first-call", &["238 ms", "aten::addmm"]),
        ("kineto/jax/vm.xplane.pb", "first-call", &["custom-call.0"]),
        (
            "kineto/mi300-owlv2.json.gz",
            "idle-host",
            &["zoom_shift", "from moca/library/model_hub", "and for 135 ms before the first op"],
        ),
        (
            "kineto/mi300-sglang-prefilldecode.json.gz",
            "idle-unknown",
            &["493 ms in 1 gap", "not in the trace"],
        ),
    ];
    for (path, id, words) in answers {
        let Some(findings) = findings(path) else { return };
        let Some(first) = findings.first() else { panic!("{path}: no finding, not {id}") };
        assert_eq!(first.id, id, "{path}: {}", first.sentence);
        for word in words {
            assert!(first.sentence.contains(word), "{path}: no `{word}` in {}", first.sentence);
        }
    }
}

#[test]
fn what_is_well_has_no_finding() {
    for path in [
        "cases/gemm-of-two-k",
        "kineto/h100/fp32_math-without.json.gz",
        "kineto/h100/healthy_resnet.json.gz",
        "kineto/vllm-decode-graph.json.gz",
    ] {
        let Some(findings) = findings(path) else { return };
        assert!(findings.is_empty(), "{path}: {findings:?}");
    }
}

#[test]
fn a_loop_that_is_a_little_slower_gets_the_same_advice() {
    let (Some(fast), Some(slow)) =
        (findings("cases/eager-99us.json.gz"), findings("cases/eager-108us.json.gz"))
    else {
        return;
    };
    let advice = |findings: &[Finding]| -> Vec<(String, String)> {
        findings.iter().map(|finding| (finding.id.clone(), finding.help.clone())).collect()
    };
    assert_eq!(advice(&fast), advice(&slow));
}
