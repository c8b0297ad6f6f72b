//! The bandwidth of collectives: what is printed of a small trace, and real jobs against Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::json_schema::JsonSchema;
use support::{Need, skip};

use crate::{Folder, Run};

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-summary.schema.json");

/// Collectives of one rank of four: a gather of which each rank gives a quarter, two exchanges with one rank, and a kernel
/// that was launched before the profiler began.
fn trace() -> String {
    let kernel = |name: &str, (start, duration): (i64, i64), stated: &str| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_{name}", "pid": 0, "tid": 7, "ts": {start}, "dur": {duration},
            "args": {{"device": 0, "stream": 7{stated}}}}}"#
        )
    };
    let stated = |operation: &str, sent: i64, received: i64| {
        format!(
            r#", "Collective name": "{operation}", "dtype": "Float", "Process Group Name": "0", "Group size": 4,
            "Process Group Ranks": "[0, 1, 2, 3]", "In msg nelems": {sent}, "Out msg nelems": {received}"#
        )
    };
    let events = [
        kernel("AllGather_RING_LL", (100, 2), &stated("_allgather_base", 1_000, 4_000)),
        kernel("SendRecv", (200, 4), &stated("send", 1_000, 1_000)),
        kernel("SendRecv", (300, 6), &stated("send", 500, 500)),
        kernel("AllReduce_Sum_f32_RING_LL", (50, 9), ""),
        kernel("AllReduce_Sum_f32_RING_LL", (400, 0), &stated("allreduce", 1, 1)),
    ];
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": 0, "traceEvents": [{}]}}"#,
        events.join(",\n")
    )
}

#[test]
fn bandwidth_is_by_operation_communicator_and_size() {
    let folder = Folder::new();
    folder.file("rank0.json", trace());
    assert_data_eq!(
        folder.answer("rank0.json --section bandwidth"),
        str![[r#"
Trace: rank0.json

Bandwidth of collectives
Operation        Group  Ranks  Numbers       Size from  Timing  Count      Bytes      Time  Algorithm (GB/s)  Bus (GB/s)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
_allgather_base  0          4  [0, 1, 2, 3]   8.00 KiB  call        1  15.62 KiB  2.000 us              8.00        6.00
allreduce        0          4  [0, 1, 2, 3]        4 B  call        1        4 B      0 ns                 -           -
send             0          4  [0, 1, 2, 3]   1.00 KiB  call        1   1.95 KiB  6.000 us              0.33        0.33
send             0          4  [0, 1, 2, 3]   2.00 KiB  call        1   3.91 KiB  4.000 us              1.00        1.00
call: the whole call, waiting included, because other ranks have no matching call
collective calls whose size the trace does not state: 1

"#]]
    );
    assert_data_eq!(
        folder.answer("rank0.json --section bandwidth --to csv"),
        str![[r#"
operation,communicator,members,ranks,from_bytes,timing,count,bytes,time_ns,algorithm_bytes_per_second,bus_bytes_per_second
_allgather_base,0,4,"[0, 1, 2, 3]",8192,call,1,16000,2000,8000000000,6000000000
allreduce,0,4,"[0, 1, 2, 3]",4,call,1,4,0,,
send,0,4,"[0, 1, 2, 3]",1024,call,1,2000,6000,333333333.3333333,333333333.3333333
send,0,4,"[0, 1, 2, 3]",2048,call,1,4000,4000,1000000000,1000000000

"#]]
    );
    JsonSchema::read(SCHEMA).describes(&folder.json("rank0.json --section bandwidth"));
}

#[test]
fn a_trace_that_states_no_sizes_has_no_bandwidth() {
    let folder = Folder::of(&["late-arriver"]);
    let ranks = &folder.json("late-arriver.db --by rank")["ranks"];
    assert_eq!((&ranks["bandwidth"], &ranks["unsized_calls"]), (&Value::Array(vec![]), &0.into()));
    assert!(!folder.answer("late-arriver.db --by rank").contains("Bandwidth of"));
}

/// The size, collectives, bytes, transfer and shortest calls in ns of each bucket.
fn by_python(files: &[PathBuf]) -> Option<Vec<[i64; 5]>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/summary/bandwidth_oracle.py");
    let Ok(output) = Command::new("python3").arg(script).args(files).output() else {
        skip(Need::Machine, "no python3");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut rows: Vec<[i64; 5]> = (String::from_utf8(output.stdout).unwrap().lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    rows.sort_unstable();
    Some(rows)
}

#[test]
fn python_computes_the_same_bandwidth_of_real_jobs() {
    let Some(shared) = support::shared() else { return };
    let mut is_small = false;
    for job in ["overlap", "exposed", "slowgpu", "slowhost"] {
        let file = |rank| shared.join(format!("kineto/h200/gpt-dist_{job}-rank{rank}.json.gz"));
        let files: Vec<PathBuf> = (0..4).map(file).collect();
        if !files[0].is_file() {
            return skip(Need::Shared, "no ranks of a torch job beside the checkout");
        }
        let Some(expected) = by_python(&files) else { return };
        let run = Run::of(Folder::new().program("--section bandwidth --to json").args(&files));
        assert_eq!((run.code, run.messages.as_str()), (0, ""), "{job}");
        let report: Value = serde_json::from_str(&run.answer).unwrap();
        JsonSchema::read(SCHEMA).describes(&report);
        let mut rows = report["ranks"]["bandwidth"].as_array().unwrap().clone();
        rows.sort_by_key(|row| row["from_bytes"].as_i64());
        assert_eq!(rows.len(), expected.len(), "{job}");
        // The collectives of large groups show that the clocks of small groups are one, too.
        let timing = "transfer";
        for (row, &[from_bytes, count, bytes, time, _]) in rows.iter().zip(&expected) {
            is_small |= count < 10;
            assert_eq!(
                ["from_bytes", "count", "bytes", "time_ns", "members"].map(|name| row[name].as_i64()),
                [from_bytes, count, bytes, time, 4].map(Some),
                "{job}"
            );
            assert_eq!((&row["operation"], &row["timing"]), (&"allreduce".into(), &timing.into()), "{job}");
            let algorithm = bytes as f64 * 1e9 / time as f64;
            for (name, rate) in
                [("algorithm_bytes_per_second", algorithm), ("bus_bytes_per_second", algorithm * 1.5)]
            {
                let stated = row[name].as_f64().unwrap();
                assert!((stated / rate - 1.0).abs() < 1e-12, "{job} {name} {stated} {rate}");
            }
        }
    }
    assert!(is_small, "no group of fewer than ten collectives");
}
