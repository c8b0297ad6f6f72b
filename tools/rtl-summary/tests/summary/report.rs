//! The report that people read.

use snapbox::{assert_data_eq, str};
use support::Layout;

use crate::Folder;

macro_rules! report {
    ($story:literal, $expected:expr) => {
        assert_data_eq!(Folder::of(&[$story]).answer(concat!($story, ".db")), $expected)
    };
}

#[test]
fn two_kernels_and_the_pause_between_them() {
    report!(
        "two-kernels",
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

Categories
Category   Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
reduction      1       0.500  55.56   55.56      0.500  0.500  0.500  0.500  0.500  0.500       -
gemm           1       0.400  44.44  100.00      0.400  0.400  0.400  0.400  0.400  0.400       -

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    2   90.00      1.000      0.900      0.100         0.900             0.000        0.000               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      1  100 ns

Longest gaps
GPU      At     Gap  Op before  Op after
────────────────────────────────────────
  0  400 ns  100 ns  gemm       softmax

"#]]
    );
}

#[test]
fn overlapping_queues_are_busy_once() {
    report!(
        "overlap-two-queues",
        str![[r#"
Trace: overlap-two-queues.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      1.300 us
  GPU ops:   6 dispatches
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
───────────────────────────────────────────────────────────────────────────────────────────────────
gemm    k1       1       1.000  50.00   50.00      1.000  1.000  1.000  1.000  1.000  1.000       -
add     k2       2       0.600  30.00   80.00      0.300  0.200  0.200  0.400  0.400  0.400   0.141
norm    k3       1       0.200  10.00   90.00      0.200  0.200  0.200  0.200  0.200  0.200       -
twin    k4       2       0.200  10.00  100.00      0.100  0.100  0.100  0.100  0.100  0.100   0.000

Categories
Category  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────
gemm          1       1.000  50.00   50.00      1.000  1.000  1.000  1.000  1.000  1.000       -
other         5       1.000  50.00  100.00      0.200  0.100  0.200  0.400  0.400  0.400   0.122

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    6   92.31      1.300      1.200      0.100         1.200             0.000        0.000               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      1  100 ns

Longest gaps
GPU        At     Gap  Op before  Op after
──────────────────────────────────────────
  0  1.100 us  100 ns  add        twin

Sanity
! 1 dispatch overlaps another on its queue: add at 900 ns on GPU 0 queue 1

"#]]
    );
}

#[test]
fn one_gap_of_each_bucket() {
    report!(
        "gaps",
        str![[r#"
Trace: gaps.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      111.194 ms
  GPU ops:   9 dispatches
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────────
k       k1       9       9.000  100.00  100.00      1.000  1.000  1.000  1.000  1.000  1.000   0.000

Categories
Category  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
other         9       9.000  100.00  100.00      1.000  1.000  1.000  1.000  1.000  1.000   0.000

GPUs
GPU    Ops  Busy %  Wall (ms)  Busy (ms)  Idle (ms)  Kernels (ms)  Collectives (ms)  Copies (ms)  Exposed coll. (ms)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    9    0.01    111.194      0.009    111.185         0.009             0.000        0.000               0.000
not shown: Overlap (ms)

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

Longest gaps
GPU          At         Gap  Op before  Op after
────────────────────────────────────────────────
  0   11.193 ms  100.000 ms  k          k
  0    1.192 ms   10.000 ms  k          k
  0  191.000 us    1.000 ms  k          k
  0   90.000 us  100.000 us  k          k
  0   39.000 us   50.000 us  k          k
  0   18.000 us   20.000 us  k          k
  0    7.000 us   10.000 us  k          k
  0    1.000 us    5.000 us  k          k

"#]]
    );
}

#[test]
fn copies_of_known_and_unknown_size() {
    report!(
        "copies-both-ways",
        str![[r#"
Trace: copies-both-ways.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0, 1
  Span:      1.650 us
  GPU ops:   7 (1 dispatch, 6 copies)
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
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      5  740 ns

Longest gaps
GPU        At     Gap  Op before         Op after
─────────────────────────────────────────────────────────
  0    600 ns  400 ns  device-to-host    device-to-device
  0    300 ns  100 ns  host-to-device    device-to-host
  0  1.400 us  100 ns  device-to-device  fill
  0  1.510 us   90 ns  fill              host-to-device
  0    150 ns   50 ns  gemm              host-to-device

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
fn nested_ranges_with_the_gpu_time_they_enclose() {
    report!(
        "ranges-nested",
        str![[r#"
Trace: ranges-nested.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      1.120 us
  GPU ops:   5 dispatches
  API calls: 0
  Also:      3 ranges, 1 marker

Kernels
Kernel         Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm_backward  k1       1       0.400  48.78   48.78      0.400  0.400  0.400  0.400  0.400  0.400       -
softmax        k2       1       0.200  24.39   73.17      0.200  0.200  0.200  0.200  0.200  0.200       -
gemm           k3       1       0.100  12.20   85.37      0.100  0.100  0.100  0.100  0.100  0.100       -
other          k4       1       0.070   8.54   93.90      0.070  0.070  0.070  0.070  0.070  0.070       -
zero_grad      k5       1       0.050   6.10  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

Categories
Category   Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
gemm           2       0.500  60.98   60.98      0.250  0.100  0.100  0.400  0.400  0.400   0.212
reduction      1       0.200  24.39   85.37      0.200  0.200  0.200  0.200  0.200  0.200       -
other          2       0.120  14.63  100.00      0.060  0.050  0.050  0.070  0.070  0.070   0.014

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    5   84.54      0.970      0.820      0.150         0.820             0.000        0.000               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  150 ns

Longest gaps
GPU        At     Gap  Op before      Op after
───────────────────────────────────────────────────
  0    450 ns  100 ns  softmax        gemm_backward
  0  1.010 us   40 ns  zero_grad      other
  0    950 ns   10 ns  gemm_backward  zero_grad

Ranges and markers, GPU work by stored range id
Range       Kind    Count  Host total  Host mean  Ops  GPU time  GPU busy
─────────────────────────────────────────────────────────────────────────
step        range       1    1.000 us   1.000 us    4    750 ns    750 ns
backward    range       1      450 ns     450 ns    1    400 ns    400 ns
forward     range       1      400 ns     400 ns    2    300 ns    300 ns
checkpoint  marker      1           -          -    -         -         -

"#]]
    );
}

#[test]
fn a_collective_that_waited_is_pointed_out() {
    report!(
        "collective-waits",
        str![[r#"
Trace: collective-waits.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      17.001 s
  GPU ops:   19 dispatches
  API calls: 0

Kernels
Kernel                                    Key  Calls  Total (s)       %   Cum %    Mean (us)   Min   p50           Max
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_AllReduce_Sum_bf16_RING_LL  k1      10     17.000  100.00  100.00  1,700,036.0  40.0  40.0  17,000,000.0
gemm                                      k2       9      0.000    0.00  100.00         50.0  50.0  50.0          50.0
not shown: p95, p99, Stddev

Categories
Category    Calls  Total (s)       %   Cum %    Mean (us)   Min   p50           p95           p99           Max
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
collective     10     17.000  100.00  100.00  1,700,036.0  40.0  40.0  17,000,000.0  17,000,000.0  17,000,000.0
gemm            9      0.000    0.00  100.00         50.0  50.0  50.0          50.0          50.0          50.0
not shown: Stddev

GPUs
GPU    Ops  Busy %  Wall (s)  Busy (s)  Idle (s)  Kernels (s)  Collectives (s)  Copies (s)  Exposed coll. (s)
─────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0   19  100.00    17.001    17.001     0.000        0.000           17.000       0.000             17.000
not shown: Overlap (s)

Gaps
GPU  Gap             Count      Total
─────────────────────────────────────
  0  10 us to 20 us      9  90.000 us
  0  20 us to 50 us      1  40.000 us

Longest gaps
GPU        At        Gap  Op before                                 Op after
────────────────────────────────────────────────────────────────────────────────────────────────────────────
  0  17.000 s  40.000 us  ncclDevKernel_AllReduce_Sum_bf16_RING_LL  gemm
  0  17.000 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.000 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.000 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.000 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.000 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.001 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.001 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.001 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17.001 s  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL

Sanity
! one of 10 calls takes 17.000 s of the 17.000 s of ncclDevKernel_AllReduce_Sum_bf16_RING_LL (at 0 ns on GPU 0; median
  40.000 us): a wait for late ranks or a first call?

"#]]
    );
}

#[test]
fn every_kind_of_bad_row_is_told() {
    report!(
        "bad-rows",
        str![[r#"
Trace: bad-rows.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      725 ns
  GPU ops:   8 dispatches
  API calls: 0

Kernels
Kernel                 Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
good                   k1       2       0.200  65.57   65.57      0.100  0.100  0.100  0.100  0.100  0.100   0.000
(no name)              k2       1       0.050  16.39   81.97      0.050  0.050  0.050  0.050  0.050  0.050       -
overlaps on its queue  k3       1       0.030   9.84   91.80      0.030  0.030  0.030  0.030  0.030  0.030       -
(dangling name)        k4       1       0.025   8.20  100.00      0.025  0.025  0.025  0.025  0.025  0.025       -
took no time           k5       1       0.000   0.00  100.00      0.000  0.000  0.000  0.000  0.000  0.000       -
did not end: never ended on GPU 0 queue 0, in flight since 200 ns

Categories
Category  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
other         6       0.305  100.00  100.00      0.051  0.000  0.030  0.100  0.100  0.100   0.041

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    6   24.14      0.725      0.175      0.550         0.175             0.000        0.000               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  550 ns

Longest gaps
GPU      At     Gap  Op before     Op after
──────────────────────────────────────────────────
  0  100 ns  400 ns  good          took no time
  0  500 ns  100 ns  took no time  (no name)
  0  650 ns   50 ns  (no name)     (dangling name)

Sanity
! 1 dispatch with no end, left out of all times
! 1 dispatch with an end before the start, left out of all times
! 1 dispatch with length zero
! dangling name: 1 row of rocpd_op.description_id, id 8
! missing start: 1 row of rocpd_op.start, id 9
! without a kernel name: 2 dispatches
! 2 dispatches overlap on one queue, the first: good at 0 ns on GPU 0 queue 0
! 1 dispatch repeats another one: good at 0 ns on GPU 0 queue 0

"#]]
    );
}

#[test]
fn a_graph_launch_has_kernels_and_copies_without_size() {
    report!(
        "graph-launch",
        str![[r#"
Trace: graph-launch.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      400 ns
  GPU ops:   4 (3 dispatches, 1 copy)
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
───────────────────────────────────────────────────────────────────────────────────────────────────
gemm    k1       2       0.200  80.00   80.00      0.100  0.100  0.100  0.100  0.100  0.100   0.000
add     k2       1       0.050  20.00  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

Categories
Category  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────
gemm          2       0.200  80.00   80.00      0.100  0.100  0.100  0.100  0.100  0.100   0.000
other         1       0.050  20.00  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    4   75.00      0.400      0.300      0.100         0.250             0.000        0.050               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      1  100 ns

Longest gaps
GPU      At     Gap  Op before         Op after
───────────────────────────────────────────────
  0  200 ns  100 ns  device-to-device  gemm

Copies
Direction         Count  Bytes  Unknown size   Time  Bandwidth
──────────────────────────────────────────────────────────────
device-to-device      1      -             1  50 ns          -

"#]]
    );
}

#[test]
fn eight_gpus_line_up() {
    report!(
        "eight-gpus",
        str![[r#"
Trace: eight-gpus.db
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0 to 7
  Span:      400 ns
  GPU ops:   16 dispatches
  API calls: 0

Kernels
Kernel                                   Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    Max
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_AllReduce_Sum_f32_RING_LL  k1       8       2.120  72.60   72.60      0.265  0.230  0.260  0.300  0.300
gemm                                     k2       8       0.800  27.40  100.00      0.100  0.100  0.100  0.100  0.100
not shown: p99, Stddev

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
not shown: Overlap (us)

"#]]
    );
}

#[test]
fn the_traced_program_used_no_gpu() {
    report!(
        "only-markers",
        str![[r#"
Trace: only-markers.db
  Recorder:  rtl (layout rtl 1)
  Span:      600 ns
  GPU ops:   0
  API calls: 0
  Also:      1 range, 1 marker

Ranges and markers, GPU work by time
Range  Kind    Count  Host total  Host mean  Ops  GPU time  GPU busy
────────────────────────────────────────────────────────────────────
load   range       1      500 ns     500 ns    0      0 ns      0 ns
ready  marker      1           -          -    -         -         -

"#]]
    );
}

#[test]
fn nothing_was_recorded() {
    report!(
        "empty",
        str![[r#"
Trace: empty.db
  Recorder:  rtl (layout rtl 1)
  Span:      0 ns
  GPU ops:   0
  API calls: 0

"#]]
    );
}

#[test]
fn the_training_loop_of_the_readme() {
    report!(
        "steady-training-loop",
        str![[r#"
Trace: steady-training-loop.db
  Recorder:  rtl, mode standard (layout rtl 1)
  Processes: pid 4242, on node0, `python train.py`
  GPUs:      GPU 0, 1: AMD Instinct MI300X (gfx942)
  Span:      20.632 ms
  GPU ops:   1728 (1680 dispatches, 48 copies)
  API calls: 0
  Also:      160 ranges

Kernels
Kernel                                 Key  Calls  Total (ms)      %   Cum %  Mean (us)     Min     p50     p95      Max
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_Generic_4                k1     160      13.566  33.04   33.04     84.787  81.480  82.824  84.000  125.244
Cijk_Alik_Bjlk_BBS_BH_MT256x256x32     k2     160       5.445  13.26   46.30     34.033  32.689  33.228  33.700   50.550
Cijk_Ailk_Bjlk_BBS_BH_MT256x256x32     k3     160       4.879  11.88   58.19     30.491  29.294  29.747  30.200   45.254
kentry<256, 1, Fmh…Pipeline<bf16_t>>>  k4     160       4.669  11.37   69.56     29.179  28.033  28.495  28.900   43.176
Cijk_Alik_Bljk_BBS_BH_MT128x256x64     k5     160       2.842   6.92   76.48     17.765  17.072  17.336  17.600   26.347
multi_tensor_apply…, 4, (…)0, false>>  k6      40       2.464   6.00   82.48     61.590  59.170  60.146  61.000   90.676
Cijk_Ailk_Bljk_BBS_BH_MT256x128x64     k7     160       2.343   5.71   88.19     14.641  14.065  14.297  14.500   21.619
kentry<256, 2, Fmh…Problem<bf16_t>>>>  k8     160       1.905   4.64   92.83     11.909  11.446  11.634  11.800   17.664
reduce_kernel<128,…ceOp<BFloat16, …>>  k9     160       1.309   3.19   96.02      8.180   7.857   7.986   8.100   12.113
vectorized_layer_n…l<BFloat16, float>  k10    160       0.840   2.05   98.06      5.251   5.044   5.127   5.200    7.776
vectorized_element…eluCUDAKernelImpl>  k11    160       0.630   1.53   99.60      3.937   3.783   3.845   3.900    5.844
triton_poi_fused__foreach_add_zero_0   k12     40       0.165   0.40  100.00      4.137   3.977   4.038   4.095    6.137
not shown: p99, Stddev

Categories
Category       Calls  Total (ms)      %   Cum %  Mean (us)     Min     p50     p95      p99      Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm             640      15.509  37.77   37.77     24.233  14.065  26.347  33.598   49.336   50.550   8.654
collective       160      13.566  33.04   70.82     84.787  81.480  82.824  84.000  125.244  125.244   8.996
attention        320       6.574  16.01   86.83     20.544  11.446  17.664  28.871   42.743   43.176   8.967
elementwise      200       3.093   7.53   94.36     15.467   3.783   3.861  60.634   61.000   90.676  23.308
reduction        160       1.309   3.19   97.55      8.180   7.857   7.986   8.100   12.113   12.113   0.875
normalisation    160       0.840   2.05   99.60      5.251   5.044   5.127   5.200    7.776    7.776   0.563
triton            40       0.165   0.40  100.00      4.137   3.977   4.038   4.095    6.137    6.137   0.456

GPUs
GPU    Ops  Busy %  Wall (ms)  Busy (ms)  Idle (ms)  Kernels (ms)  Collectives (ms)  Copies (ms)  Exposed coll. (ms)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0  864   79.18     20.599     16.310      4.289        13.745             6.784        0.429               2.136
GPU 1  864   79.18     20.599     16.311      4.288        13.746             6.782        0.429               2.136
not shown: Overlap (ms)

Gaps
GPU  Gap             Count       Total
──────────────────────────────────────
  0  below 10 us       604  992.147 us
  0  10 us to 20 us     38  460.010 us
  0  20 us to 50 us     22  531.615 us
  0  100 us to 1 ms     19    2.305 ms
  1  below 10 us       604  992.267 us
  1  10 us to 20 us     38  461.093 us
  1  20 us to 50 us     22  529.809 us
  1  100 us to 1 ms     19    2.305 ms

Longest gaps
GPU         At         Gap  Op before                             Op after
────────────────────────────────────────────────────────────────────────────────
  0   1.348 ms  360.199 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1   1.350 ms  360.113 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0   2.598 ms  109.523 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1   3.600 ms  109.523 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0  13.598 ms  109.519 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1  14.600 ms  109.519 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0   4.598 ms  109.511 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1  16.600 ms  109.507 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0   6.599 ms  109.499 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1   7.600 ms  109.499 us  triton_poi_fused__foreach_add_zero_0  host-to-device

Copies
Direction       Count      Bytes  Unknown size        Time   Bandwidth
──────────────────────────────────────────────────────────────────────
host-to-device     40  40.00 MiB             0  841.880 us  49.82 GB/s
device-to-host      8       32 B             0   16.800 us   1.90 MB/s

Ranges and markers, GPU work by stored range id (20 of 23)
Range      Kind   Count  Host total   Host mean  Ops   GPU time   GPU busy
──────────────────────────────────────────────────────────────────────────
backward   range     40   22.214 ms  555.350 us  800  29.867 ms  20.573 ms
forward    range     40   10.890 ms  272.250 us  800   8.561 ms   8.561 ms
step 0     range      2    3.000 ms    1.500 ms   86   3.044 ms   2.364 ms
optimizer  range     40    4.146 ms  103.650 us   80   2.629 ms   2.629 ms
step 4     range      2    1.860 ms  930.000 us   88   2.052 ms   1.597 ms
step 9     range      2    1.860 ms  930.000 us   88   2.050 ms   1.596 ms
step 19    range      2    1.860 ms  930.000 us   88   2.050 ms   1.596 ms
step 14    range      2    1.860 ms  930.000 us   88   2.049 ms   1.596 ms
step 5     range      2    1.860 ms  930.000 us   86   2.047 ms   1.594 ms
step 13    range      2    1.860 ms  930.000 us   86   2.046 ms   1.591 ms
step 3     range      2    1.860 ms  930.000 us   86   2.046 ms   1.591 ms
step 2     range      2    1.860 ms  930.000 us   86   2.045 ms   1.591 ms
step 12    range      2    1.860 ms  930.000 us   86   2.045 ms   1.590 ms
step 8     range      2    1.860 ms  930.000 us   86   2.045 ms   1.591 ms
step 6     range      2    1.860 ms  930.000 us   86   2.045 ms   1.593 ms
step 18    range      2    1.860 ms  930.000 us   86   2.045 ms   1.592 ms
step 1     range      2    1.860 ms  930.000 us   86   2.045 ms   1.590 ms
step 10    range      2    1.860 ms  930.000 us   86   2.044 ms   1.592 ms
step 17    range      2    1.860 ms  930.000 us   86   2.044 ms   1.592 ms
step 15    range      2    1.860 ms  930.000 us   86   2.044 ms   1.593 ms

"#]]
    );
}

#[test]
fn a_trace_of_rocm_trace_lite_says_what_it_may_lack() {
    let folder = Folder::new();
    folder.story("ranges-nested", Layout::Lite, "lite.db");
    assert_data_eq!(
        folder.answer("lite.db"),
        str![[r#"
Trace: lite.db
  Recorder:  rocm-trace-lite (layout rocm-trace-lite)
  GPUs:      GPU 0
  Span:      1.120 us
  GPU ops:   5 dispatches
  API calls: 0
  Also:      3 ranges, 1 marker
  Note:      the trace does not say in which mode it was recorded; in lite mode, the default of rocm-trace-lite, kernels
             with a completion signal of their own, collectives above all, are missing
  Note:      rocm-trace-lite records no copies made by copy engines

Kernels
Kernel         Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm_backward  k1       1       0.400  48.78   48.78      0.400  0.400  0.400  0.400  0.400  0.400       -
softmax        k2       1       0.200  24.39   73.17      0.200  0.200  0.200  0.200  0.200  0.200       -
gemm           k3       1       0.100  12.20   85.37      0.100  0.100  0.100  0.100  0.100  0.100       -
other          k4       1       0.070   8.54   93.90      0.070  0.070  0.070  0.070  0.070  0.070       -
zero_grad      k5       1       0.050   6.10  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

Categories
Category   Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
gemm           2       0.500  60.98   60.98      0.250  0.100  0.100  0.400  0.400  0.400   0.212
reduction      1       0.200  24.39   85.37      0.200  0.200  0.200  0.200  0.200  0.200       -
other          2       0.120  14.63  100.00      0.060  0.050  0.050  0.070  0.070  0.070   0.014

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    5   84.54      0.970      0.820      0.150         0.820             0.000        0.000               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  150 ns

Longest gaps
GPU        At     Gap  Op before      Op after
───────────────────────────────────────────────────
  0    450 ns  100 ns  softmax        gemm_backward
  0  1.010 us   40 ns  zero_grad      other
  0    950 ns   10 ns  gemm_backward  zero_grad

Ranges and markers, GPU work by stored range id
Range       Kind    Count  Host total  Host mean  Ops  GPU time  GPU busy
─────────────────────────────────────────────────────────────────────────
step        range       1    1.000 us   1.000 us    4    750 ns    750 ns
backward    range       1      450 ns     450 ns    1    400 ns    400 ns
forward     range       1      400 ns     400 ns    2    300 ns    300 ns
checkpoint  marker      1           -          -    -         -         -

"#]]
    );
}

#[test]
fn a_trace_of_rpd_has_api_calls_too() {
    let folder = Folder::new();
    folder.story("ranges-nested", Layout::Rpd3, "trace.rpd");
    assert_data_eq!(
        folder.answer("trace.rpd"),
        str![[r#"
Trace: trace.rpd
  Recorder:  rocmProfileData (layout rpd-3)
  Processes: pid 4242
  GPUs:      GPU 0
  Span:      1.120 us
  GPU ops:   5 dispatches
  API calls: 5
  Also:      3 ranges, 1 marker

Kernels
Kernel         Key  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm_backward  k1       1       0.400  48.78   48.78      0.400  0.400  0.400  0.400  0.400  0.400       -
softmax        k2       1       0.200  24.39   73.17      0.200  0.200  0.200  0.200  0.200  0.200       -
gemm           k3       1       0.100  12.20   85.37      0.100  0.100  0.100  0.100  0.100  0.100       -
other          k4       1       0.070   8.54   93.90      0.070  0.070  0.070  0.070  0.070  0.070       -
zero_grad      k5       1       0.050   6.10  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

Categories
Category   Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
gemm           2       0.500  60.98   60.98      0.250  0.100  0.100  0.400  0.400  0.400   0.212
reduction      1       0.200  24.39   85.37      0.200  0.200  0.200  0.200  0.200  0.200       -
other          2       0.120  14.63  100.00      0.060  0.050  0.050  0.070  0.070  0.070   0.014

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    5   84.54      0.970      0.820      0.150         0.820             0.000        0.000               0.000
not shown: Overlap (us)

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  150 ns

Longest gaps
GPU        At     Gap  Op before      Op after
───────────────────────────────────────────────────
  0    450 ns  100 ns  softmax        gemm_backward
  0  1.010 us   40 ns  zero_grad      other
  0    950 ns   10 ns  gemm_backward  zero_grad

API calls
Call                   Domain  Calls  Total (us)       %  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
hipModuleLaunchKernel  hip         5       0.250  100.00      0.050  0.050  0.050  0.050  0.050  0.050   0.000

Launch latency, from the start of the launching call to the start on the GPU
Launches of    Count  Mean (us)    Min    p50    p95    p99    Max  Stddev
──────────────────────────────────────────────────────────────────────────
(all kernels)      5      0.100  0.100  0.100  0.100  0.100  0.100   0.000
gemm               1      0.100  0.100  0.100  0.100  0.100  0.100       -
gemm_backward      1      0.100  0.100  0.100  0.100  0.100  0.100       -
other              1      0.100  0.100  0.100  0.100  0.100  0.100       -
softmax            1      0.100  0.100  0.100  0.100  0.100  0.100       -
zero_grad          1      0.100  0.100  0.100  0.100  0.100  0.100       -

Queue depth: ops enqueued and not ended
Place  Ops  Mean depth  Max  Empty %  2 or more %  10 or more %  100 or more %
──────────────────────────────────────────────────────────────────────────────
GPU 0    5        1.05    2     5.15        10.31          0.00           0.00
GPU 0: idle 150 ns: 33 % host-bound (no work enqueued), 67 % waiting (enqueued, not started)
ops count as enqueued when their call returns: host-bound idle time may be overestimated

Ranges and markers, GPU work by launch link
Range       Kind    Count  Host total  Host mean  Ops  GPU time  GPU busy
─────────────────────────────────────────────────────────────────────────
step        range       1    1.000 us   1.000 us    5    820 ns    820 ns
forward     range       1      400 ns     400 ns    2    300 ns    300 ns
backward    range       1      450 ns     450 ns    1     50 ns     50 ns
checkpoint  marker      1           -          -    -         -         -

"#]]
    );
}

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
        let run = crate::Run::of(folder.program(name).env("COLUMNS", "60"));
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
