//! The verdict on figures: made traces of torch.profiler with one fault each, and real ones.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use serde_json::{Value, json};
use support::json_schema::JsonSchema;

use crate::Folder;
use crate::torch::{Torch, health};

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
    let expected = "trust: limited\n  limited: 1 of 20 kernel launches have no kernel on a GPU; do not rely on \
                    totals, counts, busy and idle time\n";
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
fn work_of_a_step_before_the_recording_is_a_remark_until_it_is_most() {
    let mut torch = Torch::steps(|_, _| true);
    let early = |torch: &mut Torch, ops: i64| {
        (0..ops).for_each(|op| torch.kernel("gemm", (100 + op * 60, 50), 1 + op));
    };
    early(&mut torch, 7);
    let said = "7 of 15 ops were launched before the recording began: they belong to no whole step";
    assert_eq!(health(&torch), (0, format!("trust: good\n  remark: {said}\n")));
    let mut torch = Torch::steps(|_, _| true);
    early(&mut torch, 8);
    let expected = format!(
        "trust: limited\n  limited: {}; do not rely on figures by step, range and launch\n",
        said.replace("7 of 15", "8 of 16")
    );
    assert_eq!(health(&torch), (1, expected));
}

#[test]
fn kernels_of_a_stream_overlap_by_little_on_some_gpus() {
    let mut torch = Torch::steps(|_, _| true);
    torch.launch(3_990, 98);
    torch.kernel("next", (4_058, 50), 98);
    let expected = "trust: good\n  remark: 1 of 9 dispatches start on a queue before the one before them has ended: for 2 us \
                    in all, 0.4 % of the busy time\n";
    assert_eq!(health(&torch), (0, expected.to_owned()));
    torch.launch(4_000, 99);
    torch.kernel("late", (4_120, 40), 99);
    let expected = "trust: limited\n  limited: 2 of 10 dispatches start on a queue before the one before them has ended: for 42 \
                    us in all, 9.4 % of the busy time; do not rely on totals of kernels, which exceed the busy time\n";
    assert_eq!(health(&torch), (1, expected.to_owned()));
}

#[test]
fn the_host_may_be_ahead_when_the_recording_ends() {
    // Ten launches of 1 us each and kernels of 50 us, of which the first three ran.
    let ahead = |ends_at: i64| {
        let mut torch = Torch::default();
        torch.step(0);
        torch.step(1);
        for launch in 0..10 {
            torch.launch(10 + launch, launch + 1);
            if launch < 3 {
                torch.kernel("gemm", (20 + launch * 50, 50), launch + 1);
            }
        }
        torch.launch(ends_at, 99);
        torch
    };
    let expected = "trust: good\n  remark: the work of 8 of 11 launches was queued when the recording ended, and is not in the \
                    trace\n";
    assert_eq!(health(&ahead(200)), (0, expected.to_owned()));
    // A recording that goes on for 40 kernels without any has lost them.
    let (code, answer) = health(&ahead(2_170));
    assert!(code == 3 && answer.contains("bad: 8 of 11 kernel launches have no kernel"), "{answer}");
    // A launch after all work was done would have run at once.
    let mut torch = Torch::steps(|_, _| true);
    torch.launch(4_170, 99);
    assert_eq!(health(&torch).0, 3);
}

#[test]
fn a_graph_that_the_end_of_the_recording_cuts_lacks_nothing() {
    let mut torch = Torch::graphs(&[4, 4, 2]);
    torch.host("cuda_runtime", "hipGraphLaunch", (2_200, 5), 9);
    let expected = "trust: good\n  remark: the work of 1 of 4 launches was queued when the recording ended, and is not in the \
                    trace\n";
    assert_eq!(health(&torch), (0, expected.to_owned()));
}

#[test]
fn graphs_of_several_lengths_come_back_in_a_rhythm() {
    // A sequence that is repeated; and one after other graphs, which comes back at the same distance.
    for kernels in [&[4, 2, 3, 4, 2, 3][..], &[4, 4, 2, 4, 4, 4, 2, 4, 4, 4, 2, 4, 4]] {
        assert_eq!(health(&Torch::graphs(kernels)), (0, "trust: good\n".to_owned()), "{kernels:?}");
    }
    // Loss has no rhythm.
    for kernels in [&[4, 2, 4, 4, 2, 4, 4, 4, 4, 2][..], &[4, 4, 2, 4, 3, 4, 4, 1]] {
        let (code, answer) = health(&Torch::graphs(kernels));
        assert!(code == 3 && answer.contains("launches lack some"), "{kernels:?}: {answer}");
    }
}

#[test]
fn ops_before_their_launch_show_that_clocks_do_not_agree() {
    let early = |of: i64, early: i64, by: i64| {
        let mut torch = Torch::default();
        for launch in 0..of {
            torch.launch(1_000 + launch * 100, launch + 1);
            let delay = if launch < early { -by } else { 10 };
            torch.kernel("gemm", (1_000 + launch * 100 + delay, 50), launch + 1);
        }
        health(&torch)
    };
    let expected = "trust: limited\n  limited: 100 of 100 ops (100.0 %) start before the call that launched them, by up to 20 us: \
                    the clocks of GPU and host do not agree; do not rely on launch latency, queue depth and causes of idle time\n";
    assert_eq!(early(100, 100, 20), (1, expected.to_owned()));
    let (code, answer) = early(200, 1, 20);
    assert!(code == 0 && answer.contains("remark: 1 of 200 ops (0.5 %) start before"), "{answer}");
    assert_eq!(early(100, 0, 20), (0, "trust: good\n".to_owned()));
}

#[test]
fn clocks_that_are_days_apart_are_named() {
    let day = 86_400_000_000;
    let apart = |by: i64| {
        let mut torch = Torch::default();
        for launch in 0..5 {
            torch.launch(day + launch * 100, launch + 1);
            torch.kernel("gemm", (day + by + launch * 100, 50), launch + 1);
        }
        health(&torch)
    };
    for by in [3 * day, -day / 2] {
        let (code, answer) = apart(by);
        assert!(code == 1 && answer.contains("limited: the times of GPU and host are "), "{answer}");
        assert!(answer.contains("do not rely on the time of the whole trace, launch latency"), "{answer}");
    }
    // A queue may be long.
    let (code, answer) = apart(5_000_000);
    assert!(code == 0 && !answer.contains("clocks"), "{answer}");
}

#[test]
fn a_trace_of_two_times_is_not_one_run() {
    let mut torch = Torch::default();
    for launch in 0..10 {
        let at = launch * 100 + if launch < 5 { 0 } else { 86_400_000_000 };
        torch.launch(at, launch + 1);
        torch.kernel("gemm", (at + 10, 50), launch + 1);
    }
    let (code, answer) = health(&torch);
    assert!(code == 3 && answer.contains("bad: GPU 0 has no op for 86400 s of its 86400.001 s"), "{answer}");
}

#[test]
fn copies_that_were_not_recorded_are_named() {
    let mut torch = Torch::steps(|_, _| true);
    torch.host("cuda_runtime", "hipMemcpyWithStream", (1_500, 20), 77);
    torch.host("cuda_runtime", "hipMemcpyAsync", (1_600, 20), 78);
    let expected = "trust: limited\n  limited: 2 calls copy memory (hipMemcpyWithStream first), and no copy was recorded; do not \
                    rely on copies, busy and idle time\n";
    assert_eq!(health(&torch), (1, expected.to_owned()));
    // The runtime copies little by a kernel of its own.
    let mut by_kernel = Torch(torch.0.clone());
    by_kernel.kernel("__amd_rocclr_copyBuffer", (1_640, 5), 78);
    assert_eq!(health(&by_kernel).0, 0);
    let args = json!({"device": 0, "stream": 7, "correlation": 78});
    torch.0.push(json!({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 1_640, "dur": 5,
        "args": args}));
    assert_eq!(health(&torch), (0, "trust: good\n".to_owned()));
}

#[test]
fn counters_make_kernels_run_one_at_a_time() {
    let folder = Folder::new();
    let columns = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\
                   \"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\
                   \"End_Timestamp\"";
    let row = "1,1,1,1,500,500,64,7,\"gemm\",64,\"SQ_WAVES\",12,1000,1800";
    folder.file("1_counter_collection.csv", format!("{columns}\n{row}\n"));
    let run = folder.run("1_counter_collection.csv --health");
    let expected = "trust: limited\n  limited: hardware counters were collected, so kernels ran one at a time; do not rely on \
                    busy and idle time, overlap and launch latency\n";
    assert_eq!((run.code, run.answer.as_str(), run.messages.as_str()), (1, expected, ""));
}

/// Two kernels at the ends of a time in us, in which the host runs operators, so many in each ms of a part of it.
fn profiled(wall: i64, part: i64, operators: i64) -> Torch {
    let mut torch = Torch::default();
    for ms in 0..part / 1_000 {
        for operator in 0..operators {
            torch.host("cpu_op", "aten::add", (100 + ms * 1_000 + operator * 1_000 / operators, 1), 0);
        }
    }
    for (launch, at) in [0, wall - 60].into_iter().enumerate() {
        torch.launch(at, launch as i64 + 1);
        torch.kernel("gemm", (at + 10, 50), launch as i64 + 1);
    }
    torch
}

#[test]
fn a_profiler_that_takes_half_of_the_time_is_named() {
    let (code, answer) = health(&profiled(10_000, 10_000, 140));
    let said = "limited: about 42 % of the wall time is torch.profiler itself (1,387 calls and operators); do not rely on";
    assert!(code == 1 && answer.contains(said), "{answer}");
    assert!(answer.contains("do not rely on idle time, steps and times of the host\n"), "{answer}");
    let remark = |torch: &Torch, said: &str| {
        let (code, answer) = health(torch);
        assert!(code == 0 && answer.starts_with("trust: good\n") && answer.contains(said), "{answer}");
    };
    remark(&profiled(10_000, 10_000, 120), "  remark: about 36 % of the wall time is torch.profiler itself");
    // It takes nothing of the time in which the program waits.
    remark(&profiled(40_000, 10_000, 140), "  remark: about 11 % of the wall time is torch.profiler itself");
    assert_eq!(health(&profiled(50_000, 10_000, 140)), (0, "trust: good\n".to_owned()));
    // A GPU with enough work waits for no profiler.
    let mut busy = profiled(10_000, 10_000, 140);
    busy.launch(20, 9);
    busy.kernel("gemm", (60, 9_000), 9);
    assert_eq!(health(&busy), (0, "trust: good\n".to_owned()));
}

#[test]
fn an_operator_that_does_next_to_nothing_shows_how_dear_the_profiler_is() {
    let with_scale = |length| {
        let mut torch = profiled(10_000, 10_000, 60);
        (0..20).for_each(|at| torch.host("cpu_op", "aten::as_strided", (105 + at * 400, length), 0));
        health(&torch).0
    };
    assert_eq!([with_scale(1), with_scale(2)], [0, 1]);
}

#[test]
fn the_profilers_own_rows_count_as_its_cost() {
    // The runtime's own work is not the profiler's.
    for (name, length, code) in
        [("Buffer Flush", 8_000, 1), ("Buffer Flush", 6_000, 0), ("Lazy Function Loading", 8_000, 0)]
    {
        let mut torch = profiled(20_000, 10_000, 20);
        torch.host("overhead", name, (100, length), 0);
        assert_eq!(health(&torch).0, code, "{}", health(&torch).1);
    }
}

/// The output of a command on an input of `../shared/cases`, and its exit code.
fn case(name: &str, flags: &str) -> Option<(i32, String)> {
    let path = support::shared()?.join("cases").join(name);
    if !path.exists() {
        support::skip(support::Need::Shared, "no cases beside the checkout");
        return None;
    }
    let run = crate::Run::of(Folder::new().program(flags).arg(&path));
    assert_eq!(run.messages, "", "{name}");
    Some((run.code, run.answer))
}

#[test]
fn cases_have_the_verdict_that_their_readme_states() {
    for (name, code, said) in [
        ("two-graphs-a-step/trace.json", 0, "trust: good\n"),
        (
            "window-end/trace.json",
            0,
            "remark: the work of 20 of 40 launches was queued when the recording ended",
        ),
        (
            "stray-first-op/zero_start_kernel_trace.csv",
            1,
            "limited: 1 op starts 7000 s before all others, at time 0",
        ),
        (
            "stray-first-op/early_kernel_trace.csv",
            1,
            "limited: 1 op starts 5000 s before all others, and is left out",
        ),
        ("copies-alone/trace.json", 0, "trust: good\n"),
    ] {
        let Some((found, answer)) = case(name, "--health") else { return };
        assert!(found == code && answer.contains(said), "{name}: {answer}");
    }
}

#[test]
fn the_figures_of_cases_are_those_without_the_stray_op() {
    for name in ["zero_start", "early"] {
        let Some((_, answer)) = case(&format!("stray-first-op/{name}_kernel_trace.csv"), "") else { return };
        assert!(answer.contains("GPU busy 80.0 % of 49.980 ms"), "{answer}");
        assert!(
            answer.contains("before all others") && answer.contains("left out of all figures"),
            "{answer}"
        );
        assert!(answer.contains("500 dispatches"), "{answer}");
    }
    let Some((_, answer)) = case("copies-alone/trace.json", "") else { return };
    assert!(
        answer.contains("GPU busy 99.9 % of 99.990 ms: kernels 5.9 %, copies alone 94.0 %, idle"),
        "{answer}"
    );
}

#[test]
fn an_op_at_time_zero_is_left_out_and_named_everywhere() {
    let folder = Folder::new();
    let columns = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\
                   \"End_Timestamp\"";
    let mut text = format!("{columns}\n");
    for row in 0..10_i64 {
        let start = if row == 0 { 0 } else { 7_000_000_000_000 + row * 100_000 };
        text += &format!("\"KERNEL_DISPATCH\",1,1,7,\"k{}\",{row},{start},{}\n", row % 3, start + 80_000);
    }
    folder.file("1_kernel_trace.csv", &text);
    let report = folder.json("1_kernel_trace.csv");
    JsonSchema::read(include_str!("../../../../docs/reference/rtl-summary.schema.json")).describes(&report);
    assert_eq!(report["headline"]["wall_ns"], json!(880_000));
    assert_eq!(report["gpus"][0]["ops"], json!(9));
    let stray = "1 op starts 7000 s before all others, at time 0";
    assert_eq!(report["sanity"]["stray"], json!(stray));
    assert_eq!(report["trust_reasons"][0]["id"], json!("stray-ops"));
    assert_eq!(report["trust_reasons"][0]["affects"], json!("totals and counts to the last op"));
    let run = folder.run("1_kernel_trace.csv --strict");
    assert!(run.code != 0 && run.messages.contains(stray), "{}", run.messages);
    // Filters are of the rows that are left.
    let answer = folder.answer("1_kernel_trace.csv --kernel k0");
    assert!(answer.contains("limited: 1 op starts 7000 s before"), "{answer}");
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
    let expected = "trust: bad\n  bad, traces 1 and 2: 7 of 8 kernels of graph launches were recorded: 1 of 2 \
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
    let names = ["mi210-gpu-only", "mi300-owlv2", "mi300-qwen", "mi300-resnet"];
    let others = ["vllm-decode-graph", "h200/gpt-graph", "h200/gpt-healthy", "h200/compiled"];
    let folder = Folder::new();
    for name in names.into_iter().chain(others).map(str::to_owned).chain(ranks) {
        let path = shared.join(format!("{name}.json.gz"));
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_end(&mut bytes).unwrap();
        let [ops, untied, launches, bare] = counted(&bytes);
        assert!(launches > 0 && bare == 0, "{name}");
        let run = crate::Run::of(folder.program("--health").arg(&path));
        assert_eq!(run.code, 0, "{name}: {}", run.answer);
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
    assert_eq!(run.code, 0, "{together}");
    assert!(
        together.starts_with("trust: good\n  remark: kernels of collectives wait for later ranks"),
        "{together}"
    );
}

#[test]
fn healthy_real_captures_are_good_and_a_profiler_that_doubles_the_step_is_named() {
    let Some(shared) = support::shared().filter(|folder| folder.join("kineto/h100").exists()) else {
        return support::skip(support::Need::Shared, "no traces of torch.profiler beside the checkout");
    };
    let folder = Folder::new();
    let mut traces: Vec<_> = ["kineto/h100", "kineto", "aa-h200"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(shared.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    traces.sort();
    assert!(traces.len() > 40);
    for trace in traces {
        let name = trace.file_name().unwrap().to_string_lossy().into_owned();
        let run = crate::Run::of(folder.program("--health").arg(&trace));
        // Its step is 50 % shorter without the profiler, those of the others by at most 42 %.
        let is_slowed = name == "adam_loop.json.gz";
        let has_hole = name.contains("sglang");
        assert_eq!(run.code, i32::from(is_slowed || has_hole), "{name}: {}", run.answer);
        assert_eq!(
            run.answer.contains("do not rely on idle time, steps"),
            is_slowed,
            "{name}: {}",
            run.answer
        );
    }
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
