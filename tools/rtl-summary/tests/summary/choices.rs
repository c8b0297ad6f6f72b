//! The choices of a report: rows, order, sections, names, formats.

use snapbox::{assert_data_eq, str};
use support::Layout;

use crate::Folder;

/// The main table by `--by`.
macro_rules! by {
    ($story:literal, $by:literal, $expected:expr) => {
        assert_data_eq!(
            Folder::of(&[$story]).answer(concat!($story, ".db --section kernels --by ", $by)),
            $expected
        )
    };
}

#[test]
fn by_category() {
    by!(
        "steady-training-loop",
        "category",
        str![[r#"
Trace: steady-training-loop.db

Kernel time by category
Category       Calls  Total (ms)      %   Cum %  Mean (us)     Min     p50     p95      p99      Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm             640      15.509  37.77   37.77     24.233  14.065  26.347  33.598   49.336   50.550   8.654
collective       160      13.566  33.04   70.82     84.787  81.480  82.824  84.000  125.244  125.244   8.996
attention        320       6.574  16.01   86.83     20.544  11.446  17.664  28.871   42.743   43.176   8.967
elementwise      200       3.093   7.53   94.36     15.467   3.783   3.861  60.634   61.000   90.676  23.308
reduction        160       1.309   3.19   97.55      8.180   7.857   7.986   8.100   12.113   12.113   0.875
normalisation    160       0.840   2.05   99.60      5.251   5.044   5.127   5.200    7.776    7.776   0.563
triton            40       0.165   0.40  100.00      4.137   3.977   4.038   4.095    6.137    6.137   0.456

"#]]
    );
}

#[test]
fn by_gpu() {
    by!(
        "eight-gpus",
        "gpu",
        str![[r#"
Trace: eight-gpus.db

Kernel time by GPU
GPU    Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────
GPU 0      2       0.400  13.70   13.70      0.200  0.100  0.100  0.300  0.300  0.300   0.141
GPU 1      2       0.390  13.36   27.05      0.195  0.100  0.100  0.290  0.290  0.290   0.134
GPU 2      2       0.380  13.01   40.07      0.190  0.100  0.100  0.280  0.280  0.280   0.127
GPU 3      2       0.370  12.67   52.74      0.185  0.100  0.100  0.270  0.270  0.270   0.120
GPU 4      2       0.360  12.33   65.07      0.180  0.100  0.100  0.260  0.260  0.260   0.113
GPU 5      2       0.350  11.99   77.05      0.175  0.100  0.100  0.250  0.250  0.250   0.106
GPU 6      2       0.340  11.64   88.70      0.170  0.100  0.100  0.240  0.240  0.240   0.099
GPU 7      2       0.330  11.30  100.00      0.165  0.100  0.100  0.230  0.230  0.230   0.092

"#]]
    );
}

#[test]
fn by_queue() {
    by!(
        "overlap-two-queues",
        "queue",
        str![[r#"
Trace: overlap-two-queues.db

Kernel time by queue
Queue          Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0 queue 0      2       1.100  55.00   55.00      0.550  0.100  0.100  1.000  1.000  1.000   0.636
GPU 0 queue 1      4       0.900  45.00  100.00      0.225  0.100  0.200  0.400  0.400  0.400   0.126

"#]]
    );
}

#[test]
fn by_innermost_range() {
    by!(
        "ranges-nested",
        "range",
        str![[r#"
Trace: ranges-nested.db

Kernel time by range
Range       Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────
backward        1       0.400  48.78   48.78      0.400  0.400  0.400  0.400  0.400  0.400       -
forward         2       0.300  36.59   85.37      0.150  0.100  0.100  0.200  0.200  0.200   0.071
(no range)      1       0.070   8.54   93.90      0.070  0.070  0.070  0.070  0.070  0.070       -
step            1       0.050   6.10  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

"#]]
    );
}

#[test]
fn by_launch_shape() {
    by!(
        "two-kernels",
        "shape",
        str![[r#"
Trace: two-kernels.db

Kernel time by shape
Kernel   Shape                                  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    Max
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
softmax  16x1x1 groups of 64x1x1                    1       0.500  55.56   55.56      0.500  0.500  0.500  0.500  0.500
gemm     16x1x1 groups of 256x1x1, 32768 B LDS      1       0.400  44.44  100.00      0.400  0.400  0.400  0.400  0.400
not shown: p99, Stddev

"#]]
    );
}

#[test]
fn by_process() {
    by!(
        "two-kernels",
        "process",
        str![[r#"
Trace: two-kernels.db

Kernel time by process
Process    Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────
process 0      2       0.900  100.00  100.00      0.450  0.400  0.400  0.500  0.500  0.500   0.071

"#]]
    );
}

#[test]
fn by_rank() {
    by!(
        "two-kernels",
        "rank",
        str![[r#"
Trace: two-kernels.db

Kernel time by rank
Rank     Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────
no rank      2       0.900  100.00  100.00      0.450  0.400  0.400  0.500  0.500  0.500   0.071

"#]]
    );
}

#[test]
fn every_order_has_its_own_first_row() {
    // Totals: gemm 1,000 (1 call), add 600 (2), norm 200 (1), twin 200 (2 of 100).
    let folder = Folder::of(&["overlap-two-queues"]);
    let order = |sort: &str| folder.names(&format!("overlap-two-queues.db --sort {sort}"));
    assert_eq!(order("total"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("calls"), ["add", "twin", "gemm", "norm"]);
    assert_eq!(order("mean"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("min"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("p50"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("p95"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("p99"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("max"), ["gemm", "add", "norm", "twin"]);
    assert_eq!(order("name"), ["add", "gemm", "norm", "twin"]);
}

#[test]
fn the_order_applies_to_groups_too() {
    let folder = Folder::of(&["overlap-two-queues"]);
    assert_eq!(
        folder.names("overlap-two-queues.db --by queue --sort calls"),
        ["GPU 0 queue 1", "GPU 0 queue 0"]
    );
    assert_eq!(
        folder.names("overlap-two-queues.db --by queue --sort total"),
        ["GPU 0 queue 0", "GPU 0 queue 1"]
    );
}

#[test]
fn top_cuts_tables_and_says_so_but_not_shares() {
    let folder = Folder::of(&["overlap-two-queues"]);
    let text = folder.answer("overlap-two-queues.db --top 2 --section kernels");
    assert!(text.contains("Kernels (2 of 4)"), "{text}");
    assert!(text.contains("50.00") && !text.contains("norm"), "gemm is half of the whole: {text}");
    assert_eq!(folder.names("overlap-two-queues.db --top 2"), ["gemm", "add"]);
    assert_eq!(folder.names("overlap-two-queues.db -n 2"), ["gemm", "add"], "as rocm-trace-lite has it");
    assert_eq!(folder.json("overlap-two-queues.db --top 1")["kernels"].as_array().unwrap().len(), 1);
    assert_eq!(folder.names("overlap-two-queues.db --top all").len(), 4);
}

#[test]
fn people_get_ten_or_twenty_rows_and_machines_all() {
    let story: String = (0..30)
        .map(|kernel| {
            let start = 1_000 * kernel;
            format!("INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, {start}, {start} + 10, 'k{kernel}');")
        })
        .collect();
    let folder = Folder::new();
    std::fs::copy(support::database(&story, Layout::Native).unwrap(), folder.path("many.db")).unwrap();
    for (flags, heading) in [
        ("", "Kernels (10 of 30)"),
        ("--all", "Kernels (20 of 30)"),
        ("--section kernels", "Kernels (20 of 30)"),
        ("--all --top 25", "Kernels (25 of 30)"),
    ] {
        let answer = folder.answer(&format!("many.db {flags}"));
        assert!(answer.contains(heading), "{flags}: {answer}");
    }
    assert_eq!(folder.names("many.db").len(), 30);
    assert_eq!(folder.json("many.db")["kernels"].as_array().unwrap().len(), 30);
}

#[test]
fn a_section_alone() {
    let folder = Folder::of(&["ranges-nested"]);
    for (section, only) in [
        ("trace", "Recorder:"),
        ("kernels", "Kernels"),
        ("categories", "Categories"),
        ("gpus", "GPUs"),
        ("gaps", "Gaps"),
        ("ranges", "Ranges and markers"),
        ("sanity", "Sanity: nothing to report"),
    ] {
        let text = folder.answer(&format!("ranges-nested.db --section {section}"));
        assert!(text.contains(only), "{section}: {text}");
        let headings =
            ["Recorder:", "Kernels\n", "Categories\n", "\nGPUs\n", "Gaps\n", "Ranges and markers,"];
        let found = headings.iter().filter(|heading| text.contains(**heading)).count();
        assert!(found <= 1, "{section}: {text}");
    }
}

#[test]
fn sections_can_be_combined_by_comma_or_repetition() {
    let folder = Folder::of(&["two-kernels"]);
    let by_comma = folder.answer("two-kernels.db --section gpus,kernels");
    assert_eq!(by_comma, folder.answer("two-kernels.db --section kernels --section gpus"));
    assert!(by_comma.contains("Kernels\n") && by_comma.contains("GPUs\n"));
}

#[test]
fn csv_is_one_table_with_exact_values() {
    let folder = Folder::of(&["copies-both-ways", "two-kernels"]);
    assert_data_eq!(
        folder.answer("two-kernels.db --to csv"),
        str![[r#"
name,key,calls,total_ns,share,cumulative_share,mean_ns,min_ns,p50_ns,p95_ns,p99_ns,max_ns,stddev_ns
softmax,k1,1,500,0.5555555555555556,0.5555555555555556,500,500,500,500,500,500,0
gemm,k2,1,400,0.4444444444444444,1,400,400,400,400,400,400,0

"#]]
    );
    assert_data_eq!(
        folder.answer("two-kernels.db --to csv --section gpus"),
        str![[r#"
gpu,ops,busy_share,wall_ns,busy_ns,idle_ns,kernel_ns,collective_ns,copy_ns,overlap_ns,exposed_collective_ns
0,2,0.9,1000,900,100,900,0,0,0,0

"#]]
    );
    assert_data_eq!(
        folder.answer("copies-both-ways.db --to csv --section copies"),
        str![[r#"
direction,count,bytes,unknown_bytes,total_ns,bytes_per_second
device-to-device,1,8000,0,400,20000000000
host-to-device,3,2000,1,250,10000000000
device-to-host,1,4000,0,200,20000000000
fill,1,256,0,10,25600000000

"#]]
    );
}

#[test]
fn markdown_for_an_issue() {
    let folder = Folder::of(&["ranges-nested"]);
    assert_data_eq!(
        folder.answer("ranges-nested.db --to markdown"),
        str![[r#"
## `ranges-nested.db`

- GPU busy 84.5 % of 970 ns, idle 150 ns (15.5 %); no op for 150 ns before the first op; trust good
- 1. idle-unknown: idle for 150 ns (15.5 % of the wall time) for unknown causes: the trace has no calls of the host
  - help: record the host's calls too: `` `rtl `` trace --mode `` hip` ``
  - look: rtl-summary --section gaps TRACE
- 3 of 5 kernels hold 80 % of the kernel time; `gemm_backward` alone holds 48.8 %: at twice the speed it would save 20.6 % of the wall time
- Recorder: rtl (layout rtl 1)
- GPUs: GPU 0
- Span: 1.120 us
- GPU ops: 5 dispatches
- API calls: 0
- Also: 3 ranges, 1 marker

### Kernels

| Kernel | Key | Calls | Total (us) | % | Cum % | Mean (us) | Min | p50 | p95 | p99 | Max | Stddev |
| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| `gemm_backward` | k1 | 1 | 0.400 | 48.78 | 48.78 | 0.400 | 0.400 | 0.400 | 0.400 | 0.400 | 0.400 | - |
| softmax | k2 | 1 | 0.200 | 24.39 | 73.17 | 0.200 | 0.200 | 0.200 | 0.200 | 0.200 | 0.200 | - |
| gemm | k3 | 1 | 0.100 | 12.20 | 85.37 | 0.100 | 0.100 | 0.100 | 0.100 | 0.100 | 0.100 | - |
| other | k4 | 1 | 0.070 | 8.54 | 93.90 | 0.070 | 0.070 | 0.070 | 0.070 | 0.070 | 0.070 | - |
| `zero_grad` | k5 | 1 | 0.050 | 6.10 | 100.00 | 0.050 | 0.050 | 0.050 | 0.050 | 0.050 | 0.050 | - |

### GPUs

| GPU | Ops | Busy % | Wall (us) | Idle (us) | Busy over time |
| :-- | --: | --: | --: | --: | :-- |
| GPU 0 | 5 | 84.54 | 0.970 | 0.150 | ███████▄·▁█████████▇█▃▆█ |

### Longest gaps (At: after the first call, range or op of the trace)

| GPU | At (us) | Gap | Op before | Op after |
| --: | --: | --: | :-- | :-- |
| 0 | 0.450 | 100 ns | softmax | `gemm_backward` |
| 0 | 1.010 | 40 ns | `zero_grad` | other |
| 0 | 0.950 | 10 ns | `gemm_backward` | `zero_grad` |

"#]]
    );
}

#[test]
fn json_for_a_script() {
    let folder = Folder::of(&["two-kernels"]);
    assert_data_eq!(
        folder.answer("two-kernels.db --to json --section kernels,gpus"),
        str![[r#"
{
  "schema": "rtl-summary/1",
  "tool_version": "0.1.0",
  "inputs": [
    {
      "path": "two-kernels.db",
      "region": {
        "filtered": false,
        "start_ns": null,
        "end_ns": null,
        "ops_before": 2,
        "ops_after": 2,
        "description": []
      },
      "facts": [
        {
          "what": "GPUs",
          "value": "1 x GPU of unknown model"
        }
      ]
    }
  ],
  "approximate": [],
  "kernels": [
    {
      "name": "softmax",
      "key": "k1",
      "category": "reduction",
      "calls": 1,
      "total_ns": 500,
      "mean_ns": 500.0,
      "min_ns": 500,
      "p50_ns": 500,
      "p95_ns": 500,
      "p99_ns": 500,
      "max_ns": 500,
      "stddev_ns": 0.0,
      "trimmed_mean_ns": 500.0,
      "squares_ns2": 250000.0,
      "share": 0.5555555555555556,
      "cumulative_share": 0.5555555555555556,
      "zero_calls": 0
    },
    {
      "name": "gemm",
      "key": "k2",
      "category": "gemm",
      "calls": 1,
      "total_ns": 400,
      "mean_ns": 400.0,
      "min_ns": 400,
      "p50_ns": 400,
      "p95_ns": 400,
      "p99_ns": 400,
      "max_ns": 400,
      "stddev_ns": 0.0,
      "trimmed_mean_ns": 400.0,
      "squares_ns2": 160000.0,
      "share": 0.4444444444444444,
      "cumulative_share": 1.0,
      "zero_calls": 0
    }
  ],
  "gpus": [
    {
      "gpu": 0,
      "label": "GPU 0",
      "product": null,
      "ops": 2,
      "dispatches": 2,
      "collectives": 0,
      "copies": 0,
      "start_ns": 1000,
      "end_ns": 2000,
      "wall_ns": 1000,
      "busy_ns": 900,
      "idle_ns": 100,
      "busy_share": 0.9,
      "kernel_ns": 900,
      "collective_ns": 0,
      "copy_ns": 0,
      "overlap_ns": 0,
      "kernel_collective_ns": 0,
      "kernel_copy_ns": 0,
      "collective_copy_ns": 0,
      "exposed_collective_ns": 0,
      "busy_over_time": [
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        0.6,
        0.0,
        0.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0
      ],
      "ops_ns": 900,
      "work": [
        {
          "kernel": "gemm",
          "calls": 1,
          "total_ns": 400
        },
        {
          "kernel": "softmax",
          "calls": 1,
          "total_ns": 500
        }
      ]
    }
  ]
}

"#]]
    );
}

#[test]
fn info_says_what_the_file_holds() {
    let folder = Folder::of(&["two-kernels"]);
    assert_data_eq!(
        folder.answer("two-kernels.db --info"),
        str![[r#"
Trace: two-kernels.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      1.000 us
  GPU ops:   2 dispatches
  API calls: 0
  Size: [..] KiB
  Unique kernels: 2
  Tables: rocpd_metadata, rocpd_op, rocpd_string
  rocpd_metadata: 2 rows
  rocpd_op: 2 rows
  rocpd_string: 13 rows

Metadata        Value
─────────────────────
rtl_schema      1
schema_version  rtl-1

"#]]
    );
    assert_data_eq!(
        folder.answer("two-kernels.db --info --to csv"),
        str![[r#"
tag,value
rtl_schema,1
schema_version,rtl-1

"#]]
    );
    let json = folder.json("two-kernels.db --info");
    assert_eq!(json["inputs"][0]["metadata"][0]["tag"], "rtl_schema");
    assert!(json.get("kernels").is_none());
}

/// One kernel under the name that the compiler gave it, one under its own.
fn mangled() -> Folder {
    let story = "INSERT INTO kernels(gpu, queue, start, end, name) VALUES
        (0, 0, 1000, 1400, '_ZN3foo3addIfEEvPT_i.kd'),
        (0, 0, 2000, 2300, 'void ns::mul<float, 4>(float*, int)');";
    let folder = Folder::new();
    std::fs::copy(support::database(story, Layout::Native).unwrap(), folder.path("mangled.db")).unwrap();
    folder
}

#[test]
fn names_are_demangled_and_lose_their_suffix() {
    let json = mangled().json("mangled.db --section kernels");
    assert_eq!(json["kernels"][0]["name"], "void foo::add<float>(float*, int)");
    assert_eq!(json["kernels"][1]["name"], "void ns::mul<float, 4>(float*, int)");
}

#[test]
fn short_names_are_those_of_rocprofv3() {
    let json = mangled().json("mangled.db --section kernels --names short");
    assert_eq!(json["kernels"][0]["name"], "add");
    assert_eq!(json["kernels"][1]["name"], "mul");
}

#[test]
fn kernels_with_equal_short_names_show_how_they_differ() {
    let Some(shared) = support::shared() else { return };
    let trace = shared.join("traces/real/rocprofv3-gfx950.json.gz");
    let json = crate::report_on(&trace, "--section kernels --names short");
    let names: Vec<&str> =
        json["kernels"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let distinct: std::collections::HashSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (80, 80));
    assert!(names.contains(&"ncclDevKernel_Generic_1"), "{names:?}");
}

#[test]
fn mangled_names_stay_as_stored() {
    let json = mangled().json("mangled.db --section kernels --names mangled");
    assert_eq!(json["kernels"][0]["name"], "_ZN3foo3addIfEEvPT_i");
    assert_eq!(json["kernels"][1]["name"], "void ns::mul<float, 4>(float*, int)");
}

#[test]
fn own_rules_come_before_the_built_in_ones() {
    let folder = Folder::of(&["two-kernels"]);
    folder.file("rules.toml", "[[rule]]\ncategory = \"mine\"\nmatch = \"^soft\"\n");
    let names = folder.names("two-kernels.db --by category --categories rules.toml");
    assert_eq!(names, ["mine", "gemm"]);
}
