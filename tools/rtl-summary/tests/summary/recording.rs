//! Recordings that lack ops or calls, and idle time that is told from such holes.

use crate::torch::{Torch, health, judged};

#[test]
fn kernels_that_nothing_had_room_for_are_not_missing() {
    // The last launch has three of four kernels, and the GPU goes on at once; or it has room for the fourth.
    for (next, is_good) in [(870, true), (950, false)] {
        let mut torch = Torch::default();
        for (launch, kernels) in (0..).zip([4, 4, 3]) {
            torch.host("cuda_runtime", "hipGraphLaunch", (launch * 10, 5), launch + 1);
            for (place, name) in (0..).zip(&["gemm", "add", "gemm", "norm"][..kernels]) {
                torch.kernel(name, (100 + launch * 280 + place * 70, 70), launch + 1);
            }
        }
        torch.launch(40, 9);
        torch.kernel("sample", (next, 50), 9);
        let (code, answer) = health(&torch);
        assert_eq!(code == 0, is_good, "{answer}");
        assert_eq!(answer.contains("11 of 12 kernels"), !is_good, "{answer}");
    }
}

#[test]
fn time_before_an_op_that_waited_for_nothing_recorded_is_a_hole() {
    let hole = |stream| {
        let mut torch = Torch::default();
        torch.launch(0, 1);
        torch.kernel("first", (10, 50), 1);
        torch.launch(100, 2);
        torch.kernel_of_stream(stream, "second", (800_000, 50), 2);
        torch.launch(100_000, 3);
        torch.kernel_of_stream(stream, "third", (800_050, 799_950), 3);
        judged(&torch)
    };
    let (health, findings) = hole(8);
    let said = "no op was recorded for 799.895 ms (50.0 % of the time) before the first op of a queue, which had been launched long \
                before: the GPU probably ran work that is not in the trace";
    assert!(
        health.starts_with(&format!("trust: limited\n  limited: {said}; do not rely on busy")),
        "{health}"
    );
    assert!(
        findings.contains("1. idle-unknown: no op is recorded and the GPU looks idle for 800 ms"),
        "{findings}"
    );
    assert!(!findings.contains("idle-queued"), "{findings}");
    // Another op of its queue ran before: it may have waited for anything.
    let (health, findings) = hole(7);
    assert_eq!(health, "trust: good\n");
    assert!(findings.contains("1. idle-queued"), "{findings}");
}

#[test]
fn time_between_ops_of_one_graph_is_a_hole() {
    let graphs = |apart: i64| {
        let mut torch = Torch::default();
        for launch in 0..4 {
            torch.host("cuda_runtime", "cudaGraphLaunch", (launch * 100, 5), launch + 1);
            for place in 0..4 {
                torch.kernel("gemm", (1_000 + launch * 10_000 + place * (1_000 + apart), 1_000), launch + 1);
            }
        }
        judged(&torch)
    };
    let (health, findings) = graphs(800);
    let said = "before and between ops of graphs that had been launched long before";
    // Four times three gaps of 800 us, and three of 3.6 ms before the next launch.
    assert!(
        health.contains(&format!("limited: no op was recorded for 20.4 ms (56.0 % of the time) {said}")),
        "{health}"
    );
    assert!(findings.contains("1. idle-unknown: no op is recorded"), "{findings}");
    assert!(!findings.contains("idle-queued"), "{findings}");
    let (health, findings) = graphs(20);
    assert!(!health.contains("no op was recorded"), "{health}");
    assert!(findings.contains("1. idle-queued"), "{findings}");
}

#[test]
fn a_first_op_long_after_its_launch_shows_that_the_gpu_was_busy() {
    let mut torch = Torch::default();
    torch.launch(0, 1);
    torch.kernel("gemm", (1_005, 50), 1);
    let said = "the first op starts 1 ms after its launch: the GPU was busy before with work that is not in the trace";
    assert_eq!(health(&torch), (0, format!("trust: good\n  remark: {said}\n")));
    let mut torch = Torch::default();
    torch.launch(0, 1);
    torch.kernel("gemm", (1_004, 50), 1);
    assert_eq!(health(&torch), (0, "trust: good\n".to_owned()));
}

#[test]
fn a_sample_of_calls_tells_no_cause() {
    let sample = |apart: i64| {
        let mut torch = Torch::default();
        for launch in 0..10 {
            torch.launch(launch * 1_000, 1 + launch * apart);
            torch.kernel("gemm", (launch * 1_000 + 10, 50), 1 + launch * apart);
        }
        // The call of this op is not in the file, and is no earlier one.
        torch.kernel("cut", (4, 3), 5);
        judged(&torch)
    };
    let (health, findings) = sample(200);
    assert!(
        health.starts_with("trust: limited\n  limited: most calls are missing from the file: it has 10"),
        "{health}"
    );
    assert!(!health.contains("before the recording began"), "{health}");
    assert!(findings.contains("1. idle-unknown: idle for"), "{findings}");
    assert!(findings.contains("help: read the whole file"), "{findings}");
    assert!(!findings.contains("launch-bound"), "{findings}");
    let (health, findings) = sample(20);
    assert_eq!(health, "trust: good\n");
    assert!(!findings.contains("idle-unknown"), "{findings}");
}

#[test]
fn idle_time_without_a_cause_says_how_to_learn_it() {
    // Launched before the recording; nothing of the host; operators without calls.
    let early = |torch: &mut Torch| {
        (0..4).for_each(|op| torch.kernel("gemm", (op * 1_000 + 5_000 * i64::from(op > 1), 50), 1 + op));
    };
    let mut before = Torch::default();
    early(&mut before);
    before.launch(8_100, 100);
    before.kernel("gemm", (8_200, 50), 100);
    let (_, findings) = judged(&before);
    assert!(findings.contains("the ops after the gaps were launched"), "{findings}");
    assert!(!findings.contains("record the host's calls"), "{findings}");
    let mut alone = Torch::default();
    early(&mut alone);
    let (_, findings) = judged(&alone);
    assert!(findings.contains("the trace has no calls of the host"), "{findings}");
    assert!(findings.contains("torch.profiler with activities CPU and CUDA"), "{findings}");
    assert!(!findings.contains("rtl trace"), "{findings}");
    let mut operators = Torch::default();
    early(&mut operators);
    operators.host("cpu_op", "aten::mm", (10, 5), 0);
    let (_, findings) = judged(&operators);
    assert!(findings.contains("the trace has operators of the host,"), "{findings}");
}
