//! Tables and names on terminals of any width.

use snapbox::{assert_data_eq, str};
use support::Layout;

use crate::Folder;

#[test]
fn every_table_fits_60_columns() {
    let folder = Folder::new();
    let calls: String = (0..40)
        .map(|at| {
            let (library, name) = if at % 2 == 0 {
                ("HIP", "hipExtModuleLaunchKernel")
            } else {
                ("HSA", "hsa_amd_memory_async_copy")
            };
            let result = at % 3;
            format!(
                "{library}: pid:7 tid:8 {name}_{at} (n=1) ret={result} @{} +123456789\n",
                1_000_000_000_i64 * at
            )
        })
        .collect();
    folder.file("calls", calls);
    for name in support::fixture_names() {
        folder.story(&name, Layout::Native, &name);
    }
    for name in support::fixture_names().iter().map(String::as_str).chain(["calls"]) {
        let run = crate::Run::of(folder.program(&format!("{name} --all")).env("COLUMNS", "60"));
        let rules: Vec<usize> =
            run.answer.lines().filter(|line| line.contains('─')).map(|line| line.chars().count()).collect();
        assert!(
            (!rules.is_empty() || name == "empty") && rules.iter().all(|&length| length <= 60),
            "{name}\n{}",
            run.answer
        );
        assert!(name != "calls" || run.answer.contains("Errors"), "{}", run.answer);
    }
}

#[test]
fn a_narrow_terminal_gets_fewer_columns_and_short_names_that_stay_different() {
    let folder = Folder::of(&["steady-training-loop"]);
    let line = "steady-training-loop.db --section kernels";
    let run = crate::Run::of(folder.program(line).env("COLUMNS", "80"));
    assert!(run.answer.lines().all(|line| line.chars().count() <= 80), "{}", run.answer);
    assert_data_eq!(
        run.answer,
        str![[r#"
Trace: steady-training-loop.db

Kernels
Kernel                        Key  Calls  Total (ms)      %  Duration  Mean (us)
────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_Generic_4       k1     160      13.566  33.04  █······▁     84.787
Cijk_Alik_Bjlk…_MT256x256x32  k2     160       5.445  13.26  █······▁     34.033
Cijk_Ailk_Bjlk…_MT256x256x32  k3     160       4.879  11.88  █······▁     30.491
kentry<256, 1,…ine<bf16_t>>>  k4     160       4.669  11.37  █······▁     29.179
Cijk_Alik_Bljk…_MT128x256x64  k5     160       2.842   6.92  █······▁     17.765
multi_tensor_a…(…)0, false>>  k6      40       2.464   6.00  █······▁     61.590
Cijk_Ailk_Bljk…_MT256x128x64  k7     160       2.343   5.71  █······▁     14.641
kentry<256, 2,…em<bf16_t>>>>  k8     160       1.905   4.64  █······▁     11.909
reduce_kernel<…BFloat16, …>>  k9     160       1.309   3.19  █······▁      8.180
vectorized_lay…oat16, float>  k10    160       0.840   2.05  █······▁      5.251
vectorized_ele…DAKernelImpl>  k11    160       0.630   1.53  █······▁      3.937
triton_poi_fus…ch_add_zero_0  k12     40       0.165   0.40  █······▁      4.137
not shown: Cum %, Min, p50, p95, p99, Max, Stddev

"#]]
    );
}

#[test]
fn full_names_are_not_cut() {
    let folder = Folder::of(&["steady-training-loop"]);
    let line = "steady-training-loop.db --section kernels --full-names --top 3";
    assert_data_eq!(
        folder.answer(line),
        str![[r#"
Trace: steady-training-loop.db

Kernels (3 of 12)
Kernel                                                                        Key  Calls  Total (ms)      %  Cum %  Duration  Mean (us)     Min     p50     p95      p99      Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)                     k1     160      13.566  33.04  33.04  █······▁     84.787  81.480  82.824  84.000  125.244  125.244   8.996
Cijk_Alik_Bjlk_BBS_BH_UserArgs_MT256x256x32_MI16x16x1_SN_LDSB1_AFC1_WG32_8_1  k2     160       5.445  13.26  46.30  █······▁     34.033  32.689  33.228  33.700   50.550   50.550   3.675
Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT256x256x32_MI16x16x1_SN_LDSB1_AFC1_WG32_8_1  k3     160       4.879  11.88  58.19  █······▁     30.491  29.294  29.747  30.200   45.118   45.254   3.276

"#]]
    );
}

#[test]
fn the_ops_around_a_gap_are_the_same_in_text_and_json() {
    // gemm ends 100 ns before softmax starts.
    let folder = Folder::of(&["two-kernels"]);
    let gap = folder.json("two-kernels.db")["longest_gaps"][0].clone();
    assert_eq!((&gap["before"], &gap["after"]), (&"gemm".into(), &"softmax".into()));
    let text = folder.answer("two-kernels.db --section gaps");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let header = text.lines().position(|line| words(line).ends_with(&words("Op before Op after"))).unwrap();
    assert!(words(text.lines().nth(header + 2).unwrap()).ends_with(&words("gemm softmax")), "{text}");
}

/// A trace of one kernel with 90 calls of 1 us, 9 of 12 us and one of 100 us, and of another with one call.
fn sizes() -> String {
    let lengths = (0..100).map(|at| match at {
        0..90 => 1,
        90..99 => 12,
        _ => 100,
    });
    let event = |(at, (name, length)): (usize, (&str, u64))| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {}, "dur": {length},
            "args": {{"device": 0, "stream": 7}}}}"#,
            at * 200
        )
    };
    let all = lengths.map(|length| ("gemm", length)).chain([("once", 50)]);
    let events: Vec<String> = all.enumerate().map(event).collect();
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": 0, "traceEvents": [{}]}}"#,
        events.join(",\n")
    )
}

#[test]
fn the_durations_of_a_kernel_are_drawn_from_the_shortest_to_the_longest() {
    let folder = Folder::new();
    folder.file("trace.json", sizes());
    let cells = |line: &str, name: &str| -> Vec<String> {
        let text = folder.answer(line);
        let header = text.lines().find(|line| line.starts_with("Kernel ")).unwrap().to_owned();
        assert!(header.contains("Duration"), "{header}");
        let row = text.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace().map(str::to_owned).collect()
    };
    // Steps of 100^(1/8) = 1.78: 1 us is in the first, 12 us in the fifth, 100 us in the last.
    for line in ["trace.json", "trace.json --all"] {
        assert!(cells(line, "gemm").contains(&"█···▁··▁".to_owned()), "{:?}", cells(line, "gemm"));
        assert!(cells(line, "once").contains(&"-".to_owned()), "one call has no distribution");
    }
    let run = crate::Run::of(folder.program("trace.json").env("COLUMNS", "80"));
    let table: Vec<&str> = run.answer.lines().skip_while(|line| !line.starts_with("Kernels")).collect();
    assert!(table.iter().all(|line| line.chars().count() <= 80), "{}", run.answer);
    assert!(table[1].contains("Duration") && run.answer.contains("not shown: "), "{}", run.answer);
    assert!(!folder.answer("trace.json --section kernels --to csv").contains('█'));
    assert!(folder.json("trace.json")["kernels"][0].get("bars").is_none());
    assert!(!folder.answer("trace.json --by gpu --section kernels").contains('█'));
}
