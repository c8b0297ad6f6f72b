//! Every format, on a trace in which one kernel got slower.

use snapbox::{assert_data_eq, str};

use crate::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 40, 100_000), ("void f<int>(a & b)", 40, 20_000)]);
    folder.trace("b.db", 2, &[("gemm", 40, 120_000), ("void f<int>(a & b)", 40, 20_000)]);
    folder
}

#[test]
fn text() {
    assert_data_eq!(
        folder().answer(1, "--gate a.db b.db"),
        str![[r#"
fail: gemm +20.00% (95% interval +19.81% .. +20.18%, allowed +5.00%); wall +16.64%
  baseline   a.db
  candidate  b.db
  next       if it is intended, allow it by an [[allow]] in rtl-diff.toml

Changed
Kernel  Status   Change  95% interval         Time a run   Share      Before       After  Calls
───────────────────────────────────────────────────────────────────────────────────────────────
gemm    slower  +20.00%  +19.81% .. +20.18%  +799.900 us  85.71%  100.000 us  120.000 us     40

FAIL total GPU time (allowed +5.00%): +16.66% (one run per side)
wall +799.880 us = duration +799.880 us
1 kernel unchanged; --all prints all tables
! one run per side: the uncertainty is within-run only, and says nothing of how runs differ; compare several runs, or calibrate

"#]]
    );
}

#[test]
fn markdown() {
    assert_data_eq!(
        folder().answer(1, "--gate a.db b.db --to markdown"),
        str![[r#"
<!-- rtl-diff -->
## :x: GPU time: fail

gemm +20.00% (95% interval +19.81% .. +20.18%, allowed +5.00%); wall +16.64%

if it is intended, allow it by an `[[allow]]` in rtl-diff.toml

### Changed

| Kernel | Status | Change | 95% interval | Time a run | Share | Before | After | Calls |
| :-- | :-- | --: | :-- | --: | --: | --: | --: | --: |
| gemm | slower | +20.00% | +19.81% .. +20.18% | +799.900 us | 85.71% | 100.000 us | 120.000 us | 40 |

- wall +799.880 us = duration +799.880 us
- 1 kernel unchanged
- one run per side: the uncertainty is within-run only, and says nothing of how runs differ; compare several runs, or calibrate

<details><summary>2 kernels with full names</summary>

| Kernel | Status | Change | 95% interval | Would find | Share | Calls | Before | After | Median | p95 | Min | p | q |
| :-- | :-- | --: | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| gemm | slower | +20.00% | +19.81% .. +20.18% | +5.28% | 85.71% | 40 | 100.000 us | 120.000 us | +20.00% | +20.00% | +20.00% | 0.000 | 0.000 |
| `void f<int>(a & b)` | unchanged | 0.00% | -0.16% .. +0.16% | +5.28% | 16.67% | 40 | 20.000 us | 20.000 us | 0.00% | 0.00% | 0.00% | 1.000 | 1.000 |

</details>

<details><summary>Gates, runs, and the change of wall</summary>

### Gates

| Gate | Allowed | Outcome | Measured |
| :-- | --: | :-- | :-- |
| any kernel | +5.00% | FAIL | 1 kernel is slower |
| total GPU time | +5.00% | FAIL | +16.66% (one run per side) |

### Where the change of wall comes from

| GPU | Wall (us) | Count | Duration | Mix | New | Removed | Renamed | Overlap | Idle |
| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| 0 | +799.880 | 0.000 | +799.880 | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 |

### Totals

| Of one run | Before | After | Change |
| :-- | --: | --: | --: |
| GPU time of kernels | 4.800 ms | 5.600 ms | +16.66% |
| wall | 4.808 ms | 5.608 ms | +16.64% |
| idle | 0.16% | 0.14% | -0.02 pp |
| kernel launches | 80 | 80 | 0.00% |

</details>

"#]]
    );
}

#[test]
fn junit() {
    assert_data_eq!(
        folder().answer(1, "--gate a.db b.db --to junit"),
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="rtl-diff" tests="2" failures="2" errors="0" skipped="0">
  <testcase classname="rtl-diff" name="any kernel"><failure message="1 kernel is slower">slower gemm: +20.00%
</failure></testcase>
  <testcase classname="rtl-diff" name="total GPU time"><failure message="+16.66% (one run per side)"></failure></testcase>
</testsuite>

"#]]
    );
}

#[test]
fn github() {
    assert_data_eq!(
        folder().answer(1, "--gate a.db b.db --to github"),
        str![[r#"
::error title=rtl-diff%3A any kernel fail::slower: gemm (+20.00%25, 100.000 us to 120.000 us a call)
::error title=rtl-diff%3A total GPU time fail::+16.66%25 (one run per side)
::notice title=rtl-diff::fail: gemm +20.00%25 (95%25 interval +19.81%25 .. +20.18%25, allowed +5.00%25); wall +16.64%25

"#]]
    );
}

#[test]
fn csv() {
    assert_data_eq!(
        folder().answer(0, "a.db b.db --to csv"),
        str![[r#"
name,status,ratio,interval,detectable,share,calls,baseline_trimmed_mean_ns,candidate_trimmed_mean_ns,median_ratio,p95_ratio,min_ratio,p,q
gemm,slower,1.2000000000000004,1.1981101650286532 1.2018152724517082,0.05275835192569178,0.8571428571428571,40 40,100000.00000000001,120000.00000000006,1.2,1.2,1.2,0.00000006513373135334984,0.00000013026746270669967
void f<int>(a & b),unchanged,1,0.9984262684065475 1.0016402923259766,0.052773509878257796,0.16666666666666666,40 40,19999.99999999998,19999.99999999998,1,1,1,1,1

"#]]
    );
}

#[test]
fn bencher() {
    assert_data_eq!(
        folder().answer(0, "a.db b.db --to bencher"),
        str![[r#"
{
  "gemm": {
    "latency": {
      "value": 120000.00000000006,
      "lower_value": 119811.01650286534,
      "upper_value": 120181.52724517083
    }
  },
  "void f<int>(a & b)": {
    "latency": {
      "value": 19999.99999999998,
      "lower_value": 19968.52536813093,
      "upper_value": 20032.805846519514
    }
  }
}

"#]]
    );
}

#[test]
fn github_action_benchmark() {
    assert_data_eq!(
        folder().answer(0, "a.db b.db --to github-action-benchmark"),
        str![[r#"
[
  {
    "name": "gemm",
    "unit": "ns",
    "value": 120000.00000000006,
    "range": "± 185",
    "extra": "slower, 40 calls in 1 runs"
  },
  {
    "name": "void f<int>(a & b)",
    "unit": "ns",
    "value": 19999.99999999998,
    "range": "± 32",
    "extra": "unchanged, 40 calls in 1 runs"
  }
]

"#]]
    );
}

#[test]
fn several_outputs_are_written_whether_the_gate_holds_or_not() {
    let folder = folder();
    folder.answer(1, "--gate a.db b.db -o comment.md -o diff.json -o gate.xml");
    assert!(folder.read("comment.md").starts_with("<!-- rtl-diff -->\n"));
    let document: serde_json::Value = serde_json::from_str(&folder.read("diff.json")).unwrap();
    assert_eq!(document["schema"], "rtl-diff/1");
    assert!(folder.read("gate.xml").contains("<failure message=\"1 kernel is slower\">"));
}

#[test]
fn the_help_has_two_examples() {
    let folder = Folder::new();
    let help = folder.answer(0, "--help");
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    assert_eq!(examples.lines().filter(|line| line.trim_start().starts_with("rtl-diff ")).count(), 2);
}

/// Two Tensile kernels that differ in the macro tile, far from both ends of their names.
fn tensile() -> Folder {
    let options =
        "SN_LDSB0_AFC0_AFEM1_AFEM1_ASEM1_CLR0_CADS0_DTLA0_DTLB0_EPS0_FDSI0_GRPM1_WS64_WG32_8_1".repeat(3);
    let name =
        |tile: &str| format!("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_{tile}_MI16x16x1_{options}");
    let [wide, narrow] = [name("MT256x224x128"), name("MT128x64x128")];
    let folder = Folder::new();
    folder.trace("a.db", 1, &[(&wide, 40, 100_000), (&narrow, 40, 50_000)]);
    folder.trace("b.db", 2, &[(&wide, 40, 120_000), (&narrow, 40, 50_000)]);
    folder
}

#[test]
fn text_fits_a_narrow_terminal_and_names_the_columns_that_it_hides() {
    let folder = tensile();
    for width in [60, 80, 100] {
        let mut command = folder.program("--all a.db b.db");
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= width, "{width}: {widest}");
        let (_, hidden) = text.split_once("\nnot shown: ").unwrap();
        assert!(hidden.lines().any(|line| line.ends_with("p, q")), "{width}: {hidden}");
    }
}

#[test]
fn long_names_show_the_parts_that_identify_the_kernel() {
    let folder = tensile();
    for (line, tiles) in [("--all a.db b.db", 2), ("a.db b.db", 1), ("--to markdown a.db b.db", 1)] {
        let mut command = folder.program(line);
        let output = command.env("COLUMNS", "200").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for tile in &["MT256x224x128", "MT128x64x128"][..tiles] {
            assert!(text.contains(&format!("Cijk_Alik_Bljk_BBS_BH_{tile}")), "{text}");
        }
    }
}
