//! Flags that change drawn files, and counters that a trace has samples of: in both formats.

use crate::drawing::{Folder, Slice, packets};
use rtl_schema::table::{
    Agent, Allocation, AllocationKind, AllocationLevel, Counter, Dispatch, Process, Track,
};
use rtl_schema::{AgentId, ProcessId, Tables};
use rtl_write::{NativeWriter, Op};
use serde_json::{Value, json};

/// The slices of the pftrace that `rtl-convert in.db` and more words write.
fn drawn(folder: &Folder, line: &str) -> Vec<Slice> {
    assert_eq!(folder.run(&format!("in.db -o out.pftrace --force {line}")).0, 0);
    packets::slices(&std::fs::read(folder.path("out.pftrace")).unwrap()).0
}

/// The events of the JSON.
fn events(folder: &Folder, line: &str) -> Vec<Value> {
    assert_eq!(folder.run(&format!("in.db -o out.json --force {line}")).0, 0);
    let text = std::fs::read_to_string(folder.path("out.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["traceEvents"].as_array().unwrap().clone()
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

#[test]
fn ops_are_drawn_by_stream_where_they_have_one() {
    let folder = Folder::new();
    let mut writer = NativeWriter::create(folder.path("in.db")).unwrap();
    writer.push_metadata("schema_version", "rtl-1").unwrap();
    let name = writer.intern("k").unwrap();
    for (queue, stream, start) in [(0, Some(7), 10), (1, Some(7), 20), (1, None, 30)] {
        let (gpu, queue, end) = (Some(0), Some(queue), Some(start + 5));
        writer
            .push_op(&Op { gpu, queue, stream, start, end, description: Some(name), ..Op::default() })
            .unwrap();
    }
    writer.finish().unwrap();
    let tracks = |line: &str| drawn(&folder, line).into_iter().map(|slice| slice.0).collect::<Vec<_>>();
    assert_eq!(
        tracks("--group-by stream"),
        texts(&["GPU 0 / Queue 1", "GPU 0 / Stream 7", "GPU 0 / Stream 7"])
    );
    assert_eq!(tracks(""), texts(&["GPU 0 / Queue 0", "GPU 0 / Queue 1", "GPU 0 / Queue 1"]));
    let named = events(&folder, "--group-by stream");
    assert!(named.iter().any(|event| event["args"]["name"] == "Stream 7"));
}

#[test]
fn a_file_that_is_not_named_lies_beside_the_trace_and_replaces_nothing_unasked() {
    let folder = Folder::new();
    std::fs::copy(support::database("", support::Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    for (line, written) in
        [("", "in.json.gz"), ("--to rocprofv3", "in_results.json"), ("--to pftrace", "in.pftrace")]
    {
        assert_eq!(folder.run(&format!("in.db {line}")).0, 0, "{line}");
        assert!(folder.path(written).exists(), "{written}");
        assert_eq!(folder.run(&format!("in.db {line}")).0, 2, "{line}");
    }
}

#[test]
fn launching_calls_go_by_their_kernels_where_that_is_asked_for() {
    let folder = Folder::new();
    std::fs::copy(support::database(support::CALLS, support::Layout::Native).unwrap(), folder.path("in.db"))
        .unwrap();
    let calls = |line: &str| -> Vec<String> {
        let slices = drawn(&folder, line).into_iter().filter(|slice| slice.0.ends_with("Thread 7"));
        let mut slices: Vec<Slice> = slices.collect();
        slices.sort_by_key(|slice| slice.2);
        slices.into_iter().map(|slice| slice.1).collect()
    };
    let apis = ["hipLaunchKernel", "hipGraphLaunch", "hipLaunchKernel", "hipMemcpyAsync"];
    assert_eq!(calls(""), apis);
    // One kernel is told by the op, the other by the call alone.
    let kernels = ["void gemm(float*)", "hipGraphLaunch", "void add<float>(float*)", "hipMemcpyAsync"];
    assert_eq!(calls("--kernel-names"), kernels);
    assert_eq!(calls("--kernel-names --names short"), ["gemm", "hipGraphLaunch", "add", "hipMemcpyAsync"]);
    let functions: Vec<Value> = events(&folder, "--kernel-names")
        .into_iter()
        .filter_map(|event| event["args"].get("function").cloned())
        .collect();
    assert_eq!(functions, ["hipLaunchKernel", "hipLaunchKernel"]);
    let bare = events(&folder, "--kernel-names --no-args");
    assert!(bare.iter().all(|event| event["args"].get("function").is_none()));
}

#[test]
fn calls_show_what_they_asked_for_and_what_they_returned() {
    let folder = Folder::new();
    std::fs::copy(support::database(support::CALLS, support::Layout::Native).unwrap(), folder.path("in.db"))
        .unwrap();
    let events = events(&folder, "");
    let arguments: Vec<&Value> =
        events.iter().filter(|event| event["cat"] == "cuda_runtime").map(|event| &event["args"]).collect();
    assert_eq!(arguments[2]["work-items"], json!([128, 1, 1]));
    assert_eq!((&arguments[2]["grid"], &arguments[2]["block"]), (&json!([2, 1, 1]), &json!([64, 1, 1])));
    assert_eq!(arguments[2]["result"], 719);
    assert_eq!(arguments[3]["bytes"], 4096);
    assert!(arguments[0].get("result").is_none());
    let gemm = events.iter().find(|event| event["name"] == "void gemm(float*)").unwrap();
    assert_eq!(gemm["args"]["launch_latency_ns"], 92);
    assert_eq!(gemm["args"]["category"], "gemm");
}

#[test]
fn names_are_full_mangled_or_short_and_short_ones_stay_apart() {
    let folder = Folder::new();
    let story = "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 1, 2, '_Z3addIfEvPT_.kd'),
        (0, 0, 3, 4, 'void mul<float>(float*)'), (0, 0, 5, 6, 'void mul<int>(int*)');";
    std::fs::copy(support::database(story, support::Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    for (line, expected) in [
        ("", ["void add<float>(float*)", "void mul<float>(float*)", "void mul<int>(int*)"]),
        ("--names mangled", ["_Z3addIfEvPT_", "void mul<float>(float*)", "void mul<int>(int*)"]),
        ("--names short", ["add", "mul [float]", "mul [int]"]),
    ] {
        let mut slices = drawn(&folder, line);
        slices.sort_by_key(|slice| slice.2);
        assert_eq!(slices.into_iter().map(|slice| slice.1).collect::<Vec<_>>(), expected, "{line}");
        let events = events(&folder, line);
        let names: Vec<&str> = events
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| event["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{line}");
    }
}

/// Two dispatches with a counter each (the first with two instances), memory that is taken and given back, and scratch.
fn counted() -> Tables {
    let mut tables =
        Tables { processes: vec![Process::default()], agents: vec![Agent::default()], ..Tables::default() };
    let track = tables.tracks.intern(Track::default());
    let (kernel, waves) = (tables.strings.intern("kernel"), tables.strings.intern("SQ_WAVES"));
    for (id, start) in [(1, 1_000), (2, 1_200)] {
        tables.dispatches.push(Dispatch {
            id,
            name: kernel,
            track,
            start,
            duration: Some(100),
            ..Dispatch::default()
        });
    }
    for (dispatch, value) in [(1, 3.0), (1, 4.5), (2, 8.0), (99, 1.0)] {
        let (process, agent) = (ProcessId(0), Some(AgentId(0)));
        tables.counters.push(Counter { dispatch, process, agent, name: waves, value });
    }
    let (free, real, scratch) = (AllocationKind::Free, AllocationLevel::Real, AllocationLevel::Scratch);
    let taken = Allocation { agent: Some(AgentId(0)), duration: Some(10), ..Allocation::default() };
    tables.allocations = vec![
        Allocation { start: 1_010, address: Some(64), bytes: 4_096, level: real, ..taken },
        Allocation { start: 1_050, address: Some(128), bytes: 1_024, level: real, ..taken },
        Allocation { start: 1_070, address: Some(64), kind: free, agent: None, level: real, ..taken },
        Allocation { start: 1_100, queue: Some(0), bytes: 512, level: scratch, ..taken },
        Allocation { start: 1_150, queue: Some(0), kind: AllocationKind::Reclaim, level: scratch, ..taken },
    ];
    tables
}

#[test]
fn memory_and_hardware_counters_are_drawn_where_the_trace_has_them() {
    let folder = Folder::new();
    let mut writer = NativeWriter::create(folder.path("in.db")).unwrap();
    writer.push_tables(&counted()).unwrap();
    writer.finish().unwrap();
    let events = events(&folder, "");
    let samples = |name: &str, unit: &str| -> Vec<(f64, f64)> {
        let of = |event: &&Value| event["ph"] == "C" && event["name"] == name;
        let sample = |event: &Value| (event["ts"].as_f64().unwrap(), event["args"][unit].as_f64().unwrap());
        events.iter().filter(of).map(sample).collect()
    };
    assert_eq!(samples("SQ_WAVES", "value"), [(0.0, 7.5), (0.1, 0.0), (0.2, 8.0), (0.3, 0.0)]);
    assert_eq!(samples("allocated", "bytes"), [(0.02, 4_096.0), (0.06, 5_120.0), (0.08, 1_024.0)]);
    assert_eq!(samples("scratch", "bytes"), [(0.11, 512.0), (0.16, 0.0)]);
    drawn(&folder, "");
    let (_, counted) = packets::slices(&std::fs::read(folder.path("out.pftrace")).unwrap());
    let counters = || events.iter().filter(|event| event["ph"] == "C");
    // The row of a GPU repeats how busy it is.
    let own = counters().filter(|event| event["name"] == "busy").count();
    assert_eq!((counted, own > 0), (counters().count() + own, true));
}

#[test]
fn operators_of_a_framework_are_said_to_be_left_out_where_a_format_has_none() {
    let folder = Folder::new();
    let events = [
        r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1.0,"dur":5.0,"args":{}}"#,
        r#"{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":2.0,"dur":1.5,"args":{"device":0,"stream":7,"Collective name":"allreduce","In msg nelems":4,"dtype":"Float"}}"#,
    ];
    let text = format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(","));
    std::fs::write(folder.path("torch.json"), text).unwrap();
    for (output, format) in
        [("out.rpd", "rpd"), ("out_results.json", "rocprofv3-json"), ("out_results.db", "rocpd")]
    {
        let (exit, _, messages) = folder.run(&format!("torch.json -o {output}"));
        let left_out = format!(
            "1 operators, Python frames, memory events and profiler spans are left out: {format} has no place for them"
        );
        assert!(exit == 0 && messages.contains(&left_out), "{messages}");
        let left_out = format!("1 descriptions of collectives are left out: {format} has no place for them");
        assert!(messages.contains(&left_out), "{messages}");
    }
    for output in ["out.db", "out.json", "out.pftrace", "out.csv"] {
        assert_eq!(folder.run(&format!("torch.json -o {output}")).2, "", "{output}");
    }
}
