//! Traces of torch.profiler: operators, steps, and files that were cut off.

use snapbox::{assert_data_eq, str};
use support::json_schema::JsonSchema;

use crate::{Folder, Run};

/// Each of two steps calls `aten::linear`, which calls `aten::mm`, which launches a kernel. No operator launches the copy.
fn trace() -> String {
    let step = |number: i64| {
        let at = |offset: i64| number * 1_000 + offset;
        let event = |category: &str, name: &str, (ts, dur): (i64, i64), args: &str| {
            let (pid, tid) =
                if category.starts_with("gpu") || category == "kernel" { (0, 7) } else { (70, 71) };
            format!(
                r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}, "ts": {ts}.500, "dur": {dur},
                "args": {{{args}}}}}"#
            )
        };
        let shapes = r#""Input Dims": [[8, 4], [4, 2]]"#;
        let place = |correlation: i64| format!(r#""device": 0, "stream": 7, "correlation": {correlation}"#);
        let call = |correlation: i64| format!(r#""correlation": {correlation}"#);
        [
            event("user_annotation", &format!("ProfilerStep#{number}"), (at(0), 900), ""),
            event("python_function", "nn.Module: Linear_0", (at(90), 220), ""),
            event("cpu_op", "aten::linear", (at(100), 200), shapes),
            event("cpu_op", "aten::mm", (at(120), 100), shapes),
            event("cuda_runtime", "hipLaunchKernel", (at(150), 10), &call(number * 10 + 1)),
            event("kernel", "gemm", (at(400), 300), &place(number * 10 + 1)),
            event("cuda_runtime", "hipMemcpyAsync", (at(350), 10), &call(number * 10 + 2)),
            event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", (at(700), 100), &place(number * 10 + 2)),
        ]
        .join(",\n")
    };
    let steps = [step(1), step(2)].join(",\n");
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{steps}], "baseTimeNanoseconds": 0}}"#
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("run.json", trace());
    folder
}

#[test]
fn operators_have_the_gpu_time_of_what_they_launched() {
    assert_data_eq!(
        folder().answer("run.json --section operators"),
        str![[r#"
Trace: run.json

Operators
Operator      Calls  Own GPU (us)      %      GPU  Ops        Host
──────────────────────────────────────────────────────────────────
aten::mm          2       600.000  75.00  600.000    2  200.000 us
aten::linear      2         0.000   0.00  600.000    0  400.000 us
25.0 % of the GPU time was launched outside of operators

"#]]
    );
}

#[test]
fn csv_and_json_have_a_row_for_each_shape() {
    assert_data_eq!(
        folder().answer("run.json --section operators --to csv"),
        str![[r#"
name,calls,own_gpu_ns,share,gpu_ns,ops,host_ns,shapes
aten::mm,2,600000,0.75,600000,2,200000,"[[8, 4], [4, 2]]"
aten::linear,2,0,0,600000,0,400000,"[[8, 4], [4, 2]]"

"#]]
    );
    let report = folder().json("run.json --section operators");
    assert_eq!(report["operators"]["in_operators_ns"], 600_000);
    assert_eq!(report["operators"]["gpu_ns"], 800_000);
}

#[test]
fn the_json_report_is_as_described() {
    let schema = JsonSchema::read(include_str!("../../../../docs/reference/rtl-summary.schema.json"));
    schema.describes(&folder().json("run.json"));
    schema.describes(&folder().json("run.json --by operator"));
}

#[test]
fn kernels_are_grouped_by_the_operator_that_launched_them() {
    assert_eq!(folder().names("run.json --section kernels --by operator"), ["aten::mm"]);
}

#[test]
fn kernels_are_grouped_by_the_module_and_by_the_step_that_launched_them() {
    assert_eq!(folder().names("run.json --section kernels --by module"), ["Linear_0"]);
    assert_eq!(folder().names("run.json --section kernels --by step"), ["ProfilerStep#1", "ProfilerStep#2"]);
}

#[test]
fn the_steps_of_a_run_are_one_range_that_can_be_selected() {
    let report = folder().json("run.json --section ranges");
    let [steps] = report["ranges"]["groups"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(
        (&steps["name"], &steps["count"], &steps["ops"]),
        (&"ProfilerStep".into(), &2.into(), &4.into())
    );
    let region = folder().json("run.json --section kernels,operators --range ProfilerStep");
    assert_eq!(region["operators"]["groups"][0]["calls"], 2);
}

#[test]
fn a_trace_whose_profiler_was_killed_says_so() {
    let folder = Folder::new();
    let whole = trace();
    folder.file("cut.json", &whole[..whole.rfind("gpu_memcpy").unwrap()]);
    let answer = folder.answer("cut.json");
    assert!(answer.contains("cut off: its profiler was killed"), "{answer}");
    assert!(answer.contains("(2 dispatches, 1 cop"), "{answer}");
}

#[test]
fn memory_that_rocprofv3_recorded_has_its_peak_and_its_releases() {
    let Some(shared) = support::shared() else { return };
    let path = shared.join("traces/made/rocprofv3-rank0.db");
    if !path.exists() {
        return support::skip(support::Need::Shared, "no trace of rocprofv3 beside the checkout");
    }
    let folder = Folder::new();
    let run = Run::of(folder.program("--to json --section memory").arg(path));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&run.answer).unwrap();
    let [memory] = report["memory"].as_array().unwrap().as_slice() else { panic!("{report}") };
    let figures =
        ["allocations", "allocated_bytes", "releases", "released_bytes", "peak_bytes", "last_bytes"];
    let figures = figures.map(|name| memory[name].as_u64().unwrap());
    assert_eq!((&memory["device"], &memory["source"]), (&"GPU 0".into(), &"runtime".into()));
    assert_eq!(figures, [1, 67_108_864, 1, 67_108_864, 67_108_864, 0]);
}

#[test]
fn the_rank_with_more_to_compute_is_the_slowest_in_every_step() {
    let Some(shared) = support::shared() else { return };
    let file = |rank: u32| shared.join(format!("kineto/h200/gpt-dist_slowgpu-rank{rank}.json.gz"));
    if !file(0).exists() {
        return support::skip(support::Need::Shared, "no ranks of a torch job beside the checkout");
    }
    let folder = Folder::new();
    let run = Run::of(folder.program("--to json --section ranks --by rank").args((0..4).map(file)));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&run.answer).unwrap();
    let steps = &report["ranks"]["steps"];
    assert_eq!((&steps["name"], &steps["steps"]), (&"ProfilerStep".into(), &8.into()), "{steps}");
    let slowest: Vec<i64> =
        steps["ranks"].as_array().unwrap().iter().map(|rank| rank["slowest"].as_i64().unwrap()).collect();
    assert_eq!(slowest, [0, 8, 0, 0]);
}
