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
Kernel                          Key  Calls  Total (ms)      %  Mean (us)     p50
────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_Generic_4         k1     160      13.566  33.04     84.787  82.824
Cijk_Alik_Bjlk_…H_MT256x256x32  k2     160       5.445  13.26     34.033  33.228
Cijk_Ailk_Bjlk_…H_MT256x256x32  k3     160       4.879  11.88     30.491  29.747
kentry<256, 1, …line<bf16_t>>>  k4     160       4.669  11.37     29.179  28.495
Cijk_Alik_Bljk_…H_MT128x256x64  k5     160       2.842   6.92     17.765  17.336
multi_tensor_ap… (…)0, false>>  k6      40       2.464   6.00     61.590  60.146
Cijk_Ailk_Bljk_…H_MT256x128x64  k7     160       2.343   5.71     14.641  14.297
kentry<256, 2, …lem<bf16_t>>>>  k8     160       1.905   4.64     11.909  11.634
reduce_kernel<1…<BFloat16, …>>  k9     160       1.309   3.19      8.180   7.986
vectorized_laye…loat16, float>  k10    160       0.840   2.05      5.251   5.127
vectorized_elem…UDAKernelImpl>  k11    160       0.630   1.53      3.937   3.845
triton_poi_fuse…ach_add_zero_0  k12     40       0.165   0.40      4.137   4.038
not shown: Cum %, Min, p95, p99, Max, Stddev

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
Kernel                                                                        Key  Calls  Total (ms)      %  Cum %  Mean (us)     Min     p50     p95      p99      Max  Stddev
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)                     k1     160      13.566  33.04  33.04     84.787  81.480  82.824  84.000  125.244  125.244   8.996
Cijk_Alik_Bjlk_BBS_BH_UserArgs_MT256x256x32_MI16x16x1_SN_LDSB1_AFC1_WG32_8_1  k2     160       5.445  13.26  46.30     34.033  32.689  33.228  33.700   50.550   50.550   3.675
Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT256x256x32_MI16x16x1_SN_LDSB1_AFC1_WG32_8_1  k3     160       4.879  11.88  58.19     30.491  29.294  29.747  30.200   45.118   45.254   3.276

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
