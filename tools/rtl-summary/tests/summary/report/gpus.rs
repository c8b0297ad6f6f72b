//! The time of GPUs: busy, idle, in gaps and in copies.

use snapbox::str;

#[test]
fn two_kernels_and_the_pause_between_them() {
    report!(
        "two-kernels",
        str![[r#"
Trace: two-kernels.db
GPU busy 90.0 % of 1.000 us, idle 100 ns (10.0 %); trust good
1. idle-unknown: idle for 100 ns (10.0 % of the wall time) for unknown causes: the trace has no calls of the host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
2 kernels hold all of the kernel time; softmax alone holds 55.6 %: at twice the speed it would save 25.0 % of the
   wall time
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

Categories
Category   Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
reduction      1       0.500  55.56   55.56      0.500  0.500  0.500  0.500  0.500  0.500       -
gemm           1       0.400  44.44  100.00      0.400  0.400  0.400  0.400  0.400  0.400       -

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    2   90.00      1.000      0.900      0.100         0.900             0.000        0.000               0.000
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      1  100 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Op before  Op after
─────────────────────────────────────────
  0    0.400  100 ns  gemm       softmax

"#]]
    );
}

#[test]
fn overlapping_queues_are_busy_once() {
    report!(
        "overlap-two-queues",
        str![[r#"
Trace: overlap-two-queues.db
GPU busy 92.3 % of 1.300 us, idle 100 ns (7.7 %); trust good
1. idle-unknown: idle for 100 ns (7.7 % of the wall time) for unknown causes: the trace has no calls of the host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
2 of 4 kernels hold 80 % of the kernel time; gemm alone holds 50.0 %: at twice the speed it would save 38.5 % of the
   wall time
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

Categories
Category  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────
gemm          1       1.000  50.00   50.00      1.000  1.000  1.000  1.000  1.000  1.000       -
other         5       1.000  50.00  100.00      0.200  0.100  0.200  0.400  0.400  0.400   0.122

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    6   92.31      1.300      1.200      0.100         1.200             0.000        0.000               0.000
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      1  100 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Op before  Op after
─────────────────────────────────────────
  0    1.100  100 ns  add        twin

Sanity
  1 dispatch starts on a queue before the one before has ended, for 200 ns in all: kernels may start early, or beside
  each other

"#]]
    );
}

#[test]
fn one_gap_of_each_bucket() {
    report!(
        "gaps",
        str![[r#"
Trace: gaps.db
GPU busy 0.0 % of 111.194 ms, idle 111.185 ms (100.0 %); trust good
1. idle-unknown: idle for 111 ms (100.0 % of the wall time) for unknown causes: the trace has no calls of the host; 1
   of 8 gaps holds 100 ms of it, the longest before k
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
k holds all of the kernel time
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      111.194 ms
  GPU ops:   9 dispatches
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)       %   Cum %  Duration  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
k       k1       9       9.000  100.00  100.00  █·······      1.000  1.000  1.000  1.000  1.000  1.000   0.000

Categories
Category  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
other         9       9.000  100.00  100.00      1.000  1.000  1.000  1.000  1.000  1.000   0.000

GPUs
GPU    Ops  Busy %  Wall (ms)  Busy (ms)  Idle (ms)  Kernels (ms)  Collectives (ms)  Copies (ms)  Exposed coll. (ms)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    9    0.01    111.194      0.009    111.185         0.009             0.000        0.000               0.000
not shown: Overlap (ms), Busy over time

Gaps
GPU  Gap              Count       Total
───────────────────────────────────────
  0  below 10 us          1    5.000 us
  0  10 us to 20 us       1   10.000 us
  0  20 us to 50 us       1   20.000 us
  0  50 us to 100 us      1   50.000 us
  0  100 us to 1 ms       1  100.000 us
  0  1 ms to 10 ms        1    1.000 ms
  0  10 ms to 100 ms      1   10.000 ms
  0  100 ms or more       1  100.000 ms

Longest gaps (At: after the first call, range or op of the trace)
GPU     At (us)         Gap  Op before  Op after
────────────────────────────────────────────────
  0  11,193.000  100.000 ms  k          k
  0   1,192.000   10.000 ms  k          k
  0     191.000    1.000 ms  k          k
  0      90.000  100.000 us  k          k
  0      39.000   50.000 us  k          k
  0      18.000   20.000 us  k          k
  0       7.000   10.000 us  k          k
  0       1.000    5.000 us  k          k

"#]]
    );
}

#[test]
fn copies_of_known_and_unknown_size() {
    report!(
        "copies-both-ways",
        str![[r#"
Trace: copies-both-ways.db
GPU busy 55.2 % of 1.650 us: kernels 6.1 %, copies alone 49.1 %, idle 740 ns (44.8 %); trust good
1. copies-alone: nothing but copies runs for 810 ns (49.1 % of the wall time), most of it device-to-device (1 copy),
   host-to-device (3 copies) and device-to-host (1 copy)
   help: write results where they are needed (in place, `out=`, static inputs of graphs), keep layouts contiguous,
         or let a kernel copy what it reads anyway; copy from and to the host while kernels run (pinned memory, a stream
         of its own, the next batch ahead of time), copy less, or keep the data on the GPU
   look: rtl-summary --section copies,gpus TRACE
2. idle-unknown: idle for 740 ns (44.8 % of the wall time) for unknown causes: the trace has no calls of the host; 1
   of 5 gaps holds 400 ns of it and lies before +1.00 us, the longest before device-to-device
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
gemm holds all of the kernel time: at twice the speed it would save 3.0 % of the wall time
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      1.650 us
  GPU ops:   7 (1 dispatch, 5 copies, 1 memset)
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────────
gemm    k1       1       0.100  100.00  100.00      0.100  0.100  0.100  0.100  0.100  0.100       -

Categories
Category  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
gemm          1       0.100  100.00  100.00      0.100  0.100  0.100  0.100  0.100  0.100       -

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    7   55.15      1.650      0.910      0.740         0.100             0.000        0.860               0.000
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      5  740 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Op before         Op after
────────────────────────────────────────────────────────
  0    0.600  400 ns  device-to-host    device-to-device
  0    0.300  100 ns  host-to-device    device-to-host
  0    1.400  100 ns  device-to-device  fill
  0    1.510   90 ns  fill              host-to-device
  0    0.150   50 ns  gemm              host-to-device

Copies
Direction         Count     Bytes  Unknown size    Time   Bandwidth
───────────────────────────────────────────────────────────────────
device-to-device      1  7.81 KiB             0  400 ns  20.00 GB/s
host-to-device        3  1.95 KiB             1  250 ns  10.00 GB/s
device-to-host        1  3.91 KiB             0  200 ns  20.00 GB/s
fill                  1     256 B             0   10 ns  25.60 GB/s

"#]]
    );
}

#[test]
fn eight_gpus_line_up() {
    report!(
        "eight-gpus",
        str![[r#"
Trace: eight-gpus.db
GPU busy 100.0 % of 365 ns (100.0 % to 100.0 % on 8 GPUs), collectives alone 265 ns (72.6 %); trust good
1. exposed-comm: collectives run for 265 ns a GPU, all of it with no other kernel beside them (hiding that wins at
   most 72.6 % of the wall time); some of it may be waiting for late ranks, whose calls do not match; most in
   ncclDevKernel_AllReduce_Sum_f32_RING_LL
   help: start collectives while kernels that do not need them still run: buckets of gradients during the backward
         pass, the batch in two parts where layers are split among ranks
   look: rtl-summary --by rank TRACE
2 kernels hold all of the kernel time; collectives hold 72.6 %, and of the others gemm most, 27.4 %: at twice the
   speed it would save 13.7 % of the wall time
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0 to 7
  Span:      400 ns
  GPU ops:   16 dispatches
  API calls: 0

Kernels
Kernel                                   Key  Calls  Total (us)      %   Cum %  Duration  Mean (us)    Min    p50    Max
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_AllReduce_Sum_f32_RING_LL  k1       8       2.120  72.60   72.60  ████████      0.265  0.230  0.260  0.300
gemm                                     k2       8       0.800  27.40  100.00  █·······      0.100  0.100  0.100  0.100
not shown: p95, p99, Stddev

Categories
Category    Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────
collective      8       2.120  72.60   72.60      0.265  0.230  0.260  0.300  0.300  0.300   0.024
gemm            8       0.800  27.40  100.00      0.100  0.100  0.100  0.100  0.100  0.100   0.000

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    2  100.00      0.400      0.400      0.000         0.100             0.300        0.000               0.300
GPU 1    2  100.00      0.390      0.390      0.000         0.100             0.290        0.000               0.290
GPU 2    2  100.00      0.380      0.380      0.000         0.100             0.280        0.000               0.280
GPU 3    2  100.00      0.370      0.370      0.000         0.100             0.270        0.000               0.270
GPU 4    2  100.00      0.360      0.360      0.000         0.100             0.260        0.000               0.260
GPU 5    2  100.00      0.350      0.350      0.000         0.100             0.250        0.000               0.250
GPU 6    2  100.00      0.340      0.340      0.000         0.100             0.240        0.000               0.240
GPU 7    2  100.00      0.330      0.330      0.000         0.100             0.230        0.000               0.230
not shown: Overlap (us), Busy over time

"#]]
    );
}

#[test]
fn the_short_report_has_the_least_busy_of_many_gpus() {
    let folder = crate::Folder::new();
    let options = support::Options { ops: 4_800, gpus: 12, ..support::Options::default() };
    support::generate(&options, &folder.path("job.db")).unwrap();
    let json = folder.json("job.db --all");
    let mut gpus: Vec<(f64, String)> = (json["gpus"].as_array().unwrap().iter())
        .map(|gpu| (gpu["busy_share"].as_f64().unwrap(), gpu["label"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(gpus.len(), 12);
    gpus.sort_by(|one, other| one.0.total_cmp(&other.0));
    let rows = |text: &str, heading: &str| -> Vec<String> {
        let rows = text.split_once(heading).unwrap().1.lines().skip(3);
        rows.take_while(|line| line.starts_with("GPU"))
            .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .collect()
    };
    let least: Vec<String> = gpus[..8].iter().map(|(_, label)| label.clone()).collect();
    assert_eq!(rows(&folder.answer("job.db"), "\nGPUs (8 of 12, the least busy)"), least);
    let all = folder.answer("job.db --all");
    assert!(!all.contains("the least busy"), "{all}");
    assert_eq!(rows(&all, "\nGPUs").len(), 12);
}
