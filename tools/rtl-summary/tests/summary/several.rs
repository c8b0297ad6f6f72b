//! Several traces at once.

use snapbox::{assert_data_eq, str};

use crate::Folder;

#[test]
fn each_trace_gets_its_report_and_all_get_one_together() {
    let folder = Folder::of(&["two-kernels", "overlap-two-queues"]);
    let line = "two-kernels.db overlap-two-queues.db --each --section trace,kernels,gpus";
    assert_data_eq!(
        folder.answer(line),
        str![[r#"
Trace: two-kernels.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      1.000 us
  GPU ops:   2 dispatches
  API calls: 0

Kernels
Kernel   Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────────
softmax  k1       1       0.500  55.56   55.56      0.500  0.500  0.500  0.500  0.500  0.500       -
gemm     k2       1       0.400  44.44  100.00      0.400  0.400  0.400  0.400  0.400  0.400       -

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    2   90.00      1.000      0.900      0.100         0.900             0.000        0.000               0.000
not shown: Overlap (us), Busy over time

Trace: overlap-two-queues.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      1.300 us
  GPU ops:   6 dispatches
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)      %   Cum %  Duration  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm    k1       1       1.000  50.00   50.00  -             1.000  1.000  1.000  1.000  1.000  1.000       -
add     k2       2       0.600  30.00   80.00  █······█      0.300  0.200  0.200  0.400  0.400  0.400   0.141
norm    k3       1       0.200  10.00   90.00  -             0.200  0.200  0.200  0.200  0.200  0.200       -
twin    k4       2       0.200  10.00  100.00  █·······      0.100  0.100  0.100  0.100  0.100  0.100   0.000

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    6   92.31      1.300      1.200      0.100         1.200             0.000        0.000               0.000
not shown: Overlap (us), Busy over time

all 2 traces together
  Recorder:  rtl
  Processes: 2
  GPUs:      GPU 0, 1
  GPU ops:   8 dispatches
  API calls: 0

Kernels
Kernel   Calls  Total (us)      %   Cum %  Duration  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm         2       1.400  48.28   48.28  █······█      0.700  0.400  0.400  1.000  1.000  1.000   0.424
add          2       0.600  20.69   68.97  █······█      0.300  0.200  0.200  0.400  0.400  0.400   0.141
softmax      1       0.500  17.24   86.21  -             0.500  0.500  0.500  0.500  0.500  0.500       -
norm         1       0.200   6.90   93.10  -             0.200  0.200  0.200  0.200  0.200  0.200       -
twin         2       0.200   6.90  100.00  █·······      0.100  0.100  0.100  0.100  0.100  0.100   0.000

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    2   90.00      1.000      0.900      0.100         0.900             0.000        0.000               0.000
GPU 1    6   92.31      1.300      1.200      0.100         1.200             0.000        0.000               0.000
not shown: Overlap (us), Busy over time

"#]]
    );
}

#[test]
fn together_is_the_sum_of_its_parts() {
    let folder = Folder::of(&["two-kernels", "overlap-two-queues"]);
    let json = folder.json("two-kernels.db overlap-two-queues.db --each");
    assert_eq!(json["inputs"].as_array().unwrap().len(), 2);
    assert_eq!(json["reports"][1]["input"], 1);
    let gemm = &json["kernels"][0];
    assert_eq!(
        (&gemm["name"], &gemm["calls"], &gemm["total_ns"]),
        (&"gemm".into(), &2.into(), &1_400.into())
    );
    assert_eq!((&gemm["min_ns"], &gemm["max_ns"]), (&400.into(), &1_000.into()));
    let gpus = json["gpus"].as_array().unwrap();
    let busy: Vec<_> = gpus.iter().map(|gpu| gpu["busy_ns"].as_i64().unwrap()).collect();
    assert_eq!(busy, [900, 1_200], "two files, two GPUs, whatever their numbers");
    for (position, name) in ["two-kernels", "overlap-two-queues"].iter().enumerate() {
        let alone = folder.json(&format!("{name}.db"));
        assert_eq!(json["reports"][position]["kernels"], alone["kernels"], "{name}");
        assert_eq!(json["reports"][position]["gpus"], alone["gpus"], "{name}");
    }
}

#[test]
fn ranks_side_by_side() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    for rank in ["rocprofv3-rank0.db", "rocprofv3-rank1.db"] {
        std::fs::copy(shared.join("traces/made").join(rank), folder.path(rank)).unwrap();
    }
    let json = folder.json("rocprofv3-rank0.db rocprofv3-rank1.db --by rank");
    let names: Vec<_> = json["groups"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert_eq!(names, ["rank 0", "rank 1"]);
    assert_eq!(json["by"], "rank");
}

#[test]
fn a_bad_trace_among_good_ones_is_told_and_the_good_ones_are_answered() {
    let folder = Folder::of(&["two-kernels", "overlap-two-queues"]);
    let run = folder.run("two-kernels.db missing.db overlap-two-queues.db --each --section gpus");
    assert_eq!(run.code, 3);
    assert_eq!(run.messages.lines().count(), 2, "{}", run.messages);
    assert!(
        run.messages.starts_with("rtl-summary: error: no such file: missing.db\nhint: "),
        "{}",
        run.messages
    );
    for heading in ["two-kernels.db\n", "overlap-two-queues.db\n", "all 2 traces together\n"] {
        assert!(run.answer.contains(heading), "{}", run.answer);
    }
}

#[test]
fn one_good_trace_among_bad_ones_has_nothing_to_be_combined_with() {
    let folder = Folder::of(&["two-kernels"]);
    let run = folder.run("missing.db two-kernels.db --section gpus");
    assert_eq!(run.code, 3);
    assert!(
        run.answer.starts_with("Trace: two-kernels.db\n") && !run.answer.contains("together"),
        "{}",
        run.answer
    );
}

#[test]
fn several_bad_traces_are_told_one_by_one() {
    let run = Folder::new().run("one.db two.db");
    assert_eq!((run.code, run.answer.as_str()), (3, ""));
    assert_eq!(run.messages.matches("rtl-summary: error: no such file: ").count(), 2, "{}", run.messages);
}

#[test]
fn the_same_trace_twice_is_named() {
    let folder = Folder::of(&["two-kernels"]);
    std::os::unix::fs::symlink(folder.path("two-kernels.db"), folder.path("link.db")).unwrap();
    std::fs::copy(folder.path("two-kernels.db"), folder.path("copy.db")).unwrap();
    let alone = folder.answer("two-kernels.db");
    for (line, warning) in [
        ("two-kernels.db two-kernels.db", "two-kernels.db is named twice and counted once"),
        ("two-kernels.db link.db", "two-kernels.db and link.db are one file, which is counted once"),
    ] {
        let run = folder.run(line);
        assert_eq!((run.code, run.answer.as_str()), (0, alone.as_str()), "{line}");
        assert_eq!(run.messages, format!("rtl-summary: warning: {warning}\n"));
        assert_eq!(folder.run(&format!("{line} --quiet")).messages, "");
    }
    let run = folder.run("two-kernels.db copy.db");
    let warning = "two-kernels.db and copy.db are the same recording, which is counted twice";
    assert_eq!(run.messages, format!("rtl-summary: warning: {warning}\n"));
    assert!(run.answer.contains("all 2 traces together"), "{}", run.answer);
}
