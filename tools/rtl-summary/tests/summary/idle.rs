//! Causes of idle time as people and scripts read them.

use snapbox::{assert_data_eq, str};
use support::Layout;
use support::json_schema::JsonSchema;

use crate::Folder;

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-summary.schema.json");

/// A thread waits for the GPU and goes on late; it copies; and one kernel was launched by nobody.
const STORY: &str = "
INSERT INTO rocpd_string(id, string) VALUES
    (20, 'hip'), (21, 'hipLaunchKernel'), (22, 'hipStreamSynchronize'), (23, 'hipMemcpy'), (24, '');
INSERT INTO rocpd_api(tid, start, duration, apiName_id, domain_id, correlationId, result) VALUES
    (7, 0, 10000, 21, 20, 1, NULL), (7, 20000, 40000, 22, 20, 2, NULL), (7, 90000, 10000, 21, 20, 3, NULL),
    (7, 200000, 100000, 23, 20, 4, NULL);
INSERT INTO kernels(gpu, queue, start, end, name, correlation) VALUES
    (0, 0, 30000, 50000, 'gemm.kd', 1), (0, 0, 105000, 120000, 'gemm.kd', 3), (0, 0, 310000, 320000, 'other', NULL);
INSERT INTO copies(gpu, queue, start, end, way, correlation) VALUES (0, 1, 250000, 260000, 'CopyDeviceToHost', 4);
";

fn recorded() -> Folder {
    let folder = Folder::new();
    std::fs::copy(support::database(STORY, Layout::Native).unwrap(), folder.path("trace.db")).unwrap();
    folder
}

#[test]
fn idle_time_as_people_read_it() {
    assert_data_eq!(
        recorded().answer("trace.db --section gaps,idle"),
        str![[r#"
Trace: trace.db

Gaps
GPU  Gap              Count       Total
───────────────────────────────────────
  0  50 us to 100 us      2  105.000 us
  0  100 us to 1 ms       1  130.000 us

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)         Gap  Cause  Op before       Op after
───────────────────────────────────────────────────────────────
  0  120.000  130.000 us  host   gemm            device-to-host
  0   50.000   55.000 us  host   gemm            gemm
  0  260.000   50.000 us  -      device-to-host  other

Idle time by cause
GPU  Cause          Idle (us)  Wall %  Gaps    Longest  Mostly in
────────────────────────────────────────────────────────────────────────────────────
  0  host             110.000   37.93     2  80.000 us  (no call, operator or range)
  0  blocking-copy     50.000   17.24     1  50.000 us  hipMemcpy
  0  unknown           50.000   17.24     1  50.000 us  -
  0  synchronise       10.000    3.45     1  10.000 us  hipStreamSynchronize
  0  launch            10.000    3.45     1  10.000 us  hipLaunchKernel
  0  queued             5.000    1.72     1   5.000 us  -

Idle time after blocking calls, part of the above
GPU  Calls          Cost (us)  Wall %  Gaps  Drained  Mostly by
──────────────────────────────────────────────────────────────────────────
  0  blocking-copy     50.000   17.24     1        0  hipMemcpy
  0  synchronise       40.000   13.79     1        1  hipStreamSynchronize
unknown: the trace does not say what launched the op that ended the gap

"#]]
    );
}

#[test]
fn idle_time_as_scripts_read_it() {
    let folder = recorded();
    let document = folder.json("trace.db");
    JsonSchema::read(SCHEMA).describes(&document);
    let gpu = &document["idle"][0];
    assert_eq!((&gpu["idle_ns"], &gpu["gaps"]), (&document["gpus"][0]["idle_ns"], &3.into()));
    let times: Vec<(&str, i64)> = (gpu["causes"].as_array().unwrap().iter())
        .map(|cause| (cause["cause"].as_str().unwrap(), cause["idle_ns"].as_i64().unwrap()))
        .collect();
    let expected = [("host", 110_000), ("blocking-copy", 50_000), ("unknown", 50_000)];
    assert_eq!(times[..3], expected);
    assert_eq!(times[3..], [("synchronise", 10_000), ("launch", 10_000), ("queued", 5_000)]);
    let after = &gpu["after_blocking"];
    // The wait took 40 us: 10 us of them in the gap and 30 us after it. The copy came after the idle time of its gap.
    let costs =
        [0, 1].map(|row| (after[row]["cause"].as_str().unwrap(), after[row]["cost_ns"].as_i64().unwrap()));
    assert_eq!(costs, [("blocking-copy", 50_000), ("synchronise", 40_000)]);
    assert_eq!(document["longest_gaps"][0]["cause"]["cause"], "host");
    assert_data_eq!(
        folder.answer("trace.db --section idle --to csv"),
        str![[r#"
gpu,cause,idle_ns,share,gaps,longest_ns,place
0,host,110000,0.3793103448275862,2,80000,"(no call, operator or range)"
0,blocking-copy,50000,0.1724137931034483,1,50000,hipMemcpy
0,unknown,50000,0.1724137931034483,1,50000,
0,synchronise,10000,0.034482758620689655,1,10000,hipStreamSynchronize
0,launch,10000,0.034482758620689655,1,10000,hipLaunchKernel
0,queued,5000,0.017241379310344827,1,5000,

"#]]
    );
}

#[test]
fn a_trace_without_host_events_says_that_nothing_is_known() {
    let folder = Folder::of(&["gaps"]);
    let text = folder.answer("gaps.db --section gaps,idle");
    assert!(text.contains("unknown") && !text.contains("Cause  Op before"), "{text}");
    assert!(folder.json("gaps.db")["longest_gaps"][0].get("cause").is_none());
}
