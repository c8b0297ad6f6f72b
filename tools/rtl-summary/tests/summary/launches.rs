//! Launch latency and queue depth: as people read them, and against SQL.

use std::path::PathBuf;

use rtl_schema::{Select, Trace};
use rtl_write::NativeWriter;
use snapbox::{assert_data_eq, str};
use support::Layout;
use support::json_schema::JsonSchema;
use support::rusqlite::Connection;

use crate::Folder;
use crate::trial::{Trial, close};

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-summary.schema.json");

/// A launch whose moment is known, one tied by its call, which failed; a graph launch of two kernels; a copy on a queue of
/// its own; and one kernel that starts before it was enqueued.
const STORY: &str = "
INSERT INTO rocpd_string(id, string) VALUES (20, 'hip'), (21, 'hipLaunchKernel'), (22, 'hipGraphLaunch'), (23, 'hipMemcpy');
INSERT INTO rocpd_api(tid, start, duration, apiName_id, domain_id, correlationId, result) VALUES
    (7, 0, 10000, 21, 20, 1, NULL), (7, 20000, 20000, 21, 20, 2, 1), (7, 50000, 10000, 22, 20, 3, NULL),
    (7, 200000, 100000, 23, 20, 4, 719);
INSERT INTO kernels(gpu, queue, start, end, name, correlation) VALUES
    (0, 0, 30000, 50000, 'gemm.kd', 1), (0, 0, 60000, 70000, 'gemm.kd', 2), (0, 0, 100000, 120000, 'node', 3),
    (0, 0, 130000, 150000, 'node', 3), (1, 0, 5000, 6000, 'skewed', NULL);
INSERT INTO copies(gpu, queue, start, end, way, correlation) VALUES (0, 1, 250000, 260000, 'CopyDeviceToHost', 4);
UPDATE rocpd_op SET enqueued = 25000 WHERE start = 30000;
UPDATE rocpd_op SET enqueued = 5001 WHERE start = 5000;
";

fn recorded() -> Folder {
    let folder = Folder::new();
    std::fs::copy(support::database(STORY, Layout::Native).unwrap(), folder.path("trace.db")).unwrap();
    folder
}

#[test]
fn launches_as_people_read_them() {
    assert_data_eq!(
        recorded().answer("trace.db --section api,launches,queues"),
        str![[r#"
Trace: trace.db

API calls
Call             Domain  Calls  Total (us)      %  Errors  Mean (us)      Min      p50      p95      p99      Max
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────
hipMemcpy        hip         1     100.000  71.43       1    100.000  100.000  100.000  100.000  100.000  100.000
hipLaunchKernel  hip         2      30.000  21.43       1     15.000   10.000   10.000   20.000   20.000   20.000
hipGraphLaunch   hip         1      10.000   7.14       0     10.000   10.000   10.000   10.000   10.000   10.000
not shown: Stddev

Launch latency, from enqueueing, or else the start of the launching call, to the start on the GPU
Launches of    Count  Mean (us)     Min     p50     p95     p99     Max  Stddev
───────────────────────────────────────────────────────────────────────────────
(all kernels)      3     31.667   5.000  40.000  50.000  50.000  50.000  23.629
(copies)           1     50.000  50.000  50.000  50.000  50.000  50.000       -
node               1     50.000  50.000  50.000  50.000  50.000  50.000       -
gemm               2     22.500   5.000   5.000  40.000  40.000  40.000  24.749
excluded: 1 op that is not the first of its call (a graph launch)
excluded: 1 op that starts before its launch (clocks disagree)

Queue depth: ops enqueued and not ended
Place          Ops  Mean depth  Max  Empty %  2 or more %  10 or more %  100 or more %
──────────────────────────────────────────────────────────────────────────────────────
GPU 0            5        0.91    3    43.48        30.43          0.00           0.00
GPU 0 queue 0    4        1.67    3     0.00        58.33          0.00           0.00
GPU 0 queue 1    1        1.00    1     0.00         0.00          0.00           0.00
GPU 1            1        1.00    1     0.00         0.00          0.00           0.00
ops count as enqueued when their call returns

"#]]
    );
}

#[test]
fn launches_as_scripts_read_them() {
    let folder = recorded();
    assert_data_eq!(
        folder.answer("trace.db --section launches --to csv"),
        str![[r#"
name,calls,mean_ns,min_ns,p50_ns,p95_ns,p99_ns,max_ns,stddev_ns
(all kernels),3,31666.666666666668,5000,40000,50000,50000,50000,23629.078131263042
(copies),1,50000,50000,50000,50000,50000,50000,0
node,1,50000,50000,50000,50000,50000,50000,0
gemm,2,22500,5000,5000,40000,40000,40000,24748.737341529162

"#]]
    );
    assert_data_eq!(
        folder.answer("trace.db --section queues --to csv"),
        str![[r#"
place,ops,mean,max,empty_share,at_least_2_share,at_least_10_share,at_least_100_share
GPU 0,5,0.9130434782608695,3,0.4347826086956522,0.30434782608695654,0,0
GPU 0 queue 0,4,1.6666666666666667,3,0,0.5833333333333334,0,0
GPU 0 queue 1,1,1,1,0,0,0,0
GPU 1,1,1,1,0,0,0,0

"#]]
    );
    let document = folder.json("trace.db");
    JsonSchema::read(SCHEMA).describes(&document);
    let idle = &document["queues"]["idle"][0];
    assert_eq!(
        (&idle["idle_ns"], &idle["host_ns"], &idle["waiting_ns"]),
        (&150_000.into(), &100_000.into(), &50_000.into())
    );
    let launches = &document["launches"];
    assert_eq!(
        ["enqueued", "called", "unknown", "later", "negative"].map(|field| launches[field].as_i64().unwrap()),
        [2, 4, 0, 1, 1]
    );
    let markdown = folder.answer("trace.db --section queues --to markdown");
    assert!(markdown.contains("\n- ops count as enqueued when their call returns"), "{markdown}");
}

#[test]
fn a_trace_that_ties_nothing_to_the_host_has_no_such_sections() {
    let folder = Folder::of(&["two-kernels"]);
    let document = folder.json("two-kernels.db");
    assert!(document.get("launches").is_none() && document.get("queues").is_none());
    assert!(!folder.answer("two-kernels.db").contains("Launch latency"));
    assert_eq!(folder.answer("two-kernels.db --section launches"), "Trace: two-kernels.db\n");
}

#[test]
fn only_so_many_kernels_are_shown_as_are_asked_for() {
    let folder = recorded();
    let document = folder.json("trace.db --top 1");
    assert_eq!(document["launches"]["kernels"].as_array().unwrap().len(), 1);
    let text = folder.answer("trace.db --top 1 --section launches");
    assert!(text.contains("on the GPU (1 of 2)") && !text.contains("gemm"), "{text}");
}

/// A foreign trace in our tables.
fn native(folder: &Folder, name: &str) -> Option<PathBuf> {
    let path = support::shared()?.join("traces").join(name);
    let native = folder.path("native.db");
    let mut writer = NativeWriter::create(&native).unwrap();
    writer.push_tables(&Trace::open(&path).unwrap().read(&Select::everything()).unwrap()).unwrap();
    writer.finish().unwrap();
    Some(native)
}

#[test]
fn launches_of_other_tools_traces_are_what_sql_says() {
    let folder = Folder::new();
    for name in [
        "real/rpd2-vllm-fp8.rpd.gz",
        "real/rpd2-matmul-mi200.rpd",
        "made/rpd3.rpd",
        "made/rocprofv3-rank0.db",
        "made/rocprofv3-rank1.db",
    ] {
        let Some(path) = native(&folder, name) else { return };
        // Kernels are stored mangled by RPD and demangled by rocprofv3.
        let names = if name.contains("rpd") { "--names mangled" } else { "" };
        let trial = Trial::with(Connection::open(&path).unwrap(), &path, names);
        trial.launches();
        trial.calls();
        let original = crate::report_on(&support::shared().unwrap().join("traces").join(name), "");
        let converted = crate::report_on(&path, "");
        for section in ["launches", "queues"] {
            assert_eq!(original[section], converted[section], "{section} of {name}");
        }
        assert!(original["launches"]["called"].as_u64().unwrap() > 0, "{name}");
    }
}

#[test]
fn shares_of_calls_add_up() {
    let document = recorded().json("trace.db --section api");
    let shares = document["api"].as_array().unwrap().iter().map(|row| row["share"].as_f64().unwrap());
    close(shares.sum(), 1.0);
}

/// A copy that returned, and two threads in calls that did not; the recording ended at 900 us.
const HANGS: &str = "
INSERT INTO rocpd_metadata(tag, value) VALUES ('pid', '7'), ('end_ns', '900000');
INSERT INTO rocpd_string(id, string) VALUES (20, 'HIP'), (21, 'hipMemcpy'), (22, 'hipStreamSynchronize');
INSERT INTO rocpd_api(tid, start, duration, apiName_id, domain_id, correlationId) VALUES
    (7, 0, 100000, 21, 20, 1), (7, 400000, NULL, 22, 20, 2), (8, 300000, NULL, 21, 20, 3);
";

#[test]
fn calls_that_did_not_return_are_named_with_their_threads() {
    let folder = Folder::new();
    std::fs::copy(support::database(HANGS, Layout::Native).unwrap(), folder.path("trace.db")).unwrap();
    assert_data_eq!(
        folder.answer("trace.db --section api"),
        str![[r#"
Trace: trace.db

API calls
Call                  Domain  Calls  Total (us)       %  Unfinished  Mean (us)      Min      p50      p95      Max
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
hipMemcpy             HIP         1     100.000  100.00           1    100.000  100.000  100.000  100.000  100.000
hipStreamSynchronize  HIP         0       0.000    0.00           1      0.000    0.000    0.000    0.000    0.000
not shown: p99, Stddev
did not return: hipMemcpy, called by thread 8 600.000 us before the end
did not return: hipStreamSynchronize, called by thread 7 500.000 us before the end

"#]]
    );
    let document = folder.json("trace.db");
    JsonSchema::read(SCHEMA).describes(&document);
    let [first, second] = [0, 1].map(|at| &document["unfinished_calls"][at]);
    assert_eq!((&first["tid"], &first["waited_ns"]), (&8.into(), &600_000.into()));
    assert_eq!((&second["name"], &second["pid"]), (&"hipStreamSynchronize".into(), &7.into()));
}

#[test]
fn kernels_that_did_not_end_are_named_with_their_queues() {
    let rows = format!(
        "{HANGS}
        INSERT INTO rocpd_string(id, string) VALUES (23, 'KernelExecution'), (24, '_Z4spinv.kd');
        INSERT INTO rocpd_metadata(tag, value) VALUES ('open_dispatch',
            '{{\"gpuId\":0,\"queueId\":2,\"description_id\":24,\"since\":300000,\"enqueued\":250000,\"tid\":7}}');
        INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id) VALUES (0, 2, 100000, 200000, 24, 23);"
    );
    let folder = Folder::new();
    std::fs::copy(support::database(&rows, Layout::Native).unwrap(), folder.path("trace.db")).unwrap();
    assert_data_eq!(
        folder.answer("trace.db --section kernels"),
        str![[r#"
Trace: trace.db

Kernels
Kernel  Key  Calls  Total (us)       %   Cum %  Mean (us)      Min      p50      p95      p99      Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
spin()  k1       1     100.000  100.00  100.00    100.000  100.000  100.000  100.000  100.000  100.000       -
did not end: spin() on GPU 0 queue 2, in flight since 600.000 us before the end

"#]]
    );
    let document = folder.json("trace.db");
    JsonSchema::read(SCHEMA).describes(&document);
    let unfinished = &document["unfinished_dispatches"][0];
    assert_eq!((&unfinished["waited_ns"], &unfinished["enqueued_ns"]), (&600_000.into(), &250_000.into()));
    assert_eq!(document["sanity"]["dispatches"]["missing"], 1);
}
