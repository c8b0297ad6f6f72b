//! Remarks on traces that are incomplete, damaged or empty.

use snapbox::str;

#[test]
fn a_collective_that_waited_is_pointed_out() {
    report!(
        "collective-waits",
        str![[r#"
Trace: collective-waits.db
GPU busy 100.0 % of 17.001 s, collectives alone 17.000 s (100.0 %); trust good
1. exposed-comm: collectives run for 17.0 s, all of it with no other kernel beside them (hiding that wins at most
   100.0 % of the wall time); only the traces of all ranks tell how much of it is waiting for late ranks; most in
   ncclDevKernel_AllReduce_Sum_bf16_RING_LL
   help: start collectives while kernels that do not need them still run: buckets of gradients during the backward
         pass, the batch in two parts where layers are split among ranks
   look: rtl-summary --by rank TRACE
1 of 2 kernels holds 80 % of the kernel time; collectives hold 100.0 %
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      17.001 s
  GPU ops:   19 dispatches
  API calls: 0

Kernels
Kernel                                  Key  Calls  Total (s)       %   Cum %  Duration    Mean (us)   p50           Max
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_AllRe…e_Sum_bf16_RING_LL  k1      10     17.000  100.00  100.00  █······▁  1,700,036.0  40.0  17,000,000.0
gemm                                    k2       9      0.000    0.00  100.00  █·······         50.0  50.0          50.0
not shown: Min, p95, p99, Stddev

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
not shown: Overlap (s), Busy over time

Gaps
GPU  Gap             Count      Total
─────────────────────────────────────
  0  10 us to 20 us      9  90.000 us
  0  20 us to 50 us      1  40.000 us

Longest gaps (At: after the first call, range or op of the trace)
GPU     At (ms)        Gap  Op before                                 Op after
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
  0  17,000.000  40.000 us  ncclDevKernel_AllReduce_Sum_bf16_RING_LL  gemm
  0  17,000.090  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.190  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.290  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.390  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.490  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.590  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.690  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.790  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  0  17,000.890  10.000 us  gemm                                      ncclDevKernel_AllReduce_Sum_bf16_RING_LL

Sanity
! one of 10 calls takes 17.000 s of the 17.000 s of ncclDevKernel_AllReduce_Sum_bf16_RING_LL (at 0 ns on GPU 0; median
  40.000 us): a wait for late ranks?

"#]]
    );
}

#[test]
fn every_kind_of_bad_row_is_told() {
    report!(
        "bad-rows",
        str![[r#"
Trace: bad-rows.db
GPU busy 24.1 % of 725 ns, idle 550 ns (75.9 %); trust bad
1. untrustworthy: the figures do not describe the run: 1 of 8 dispatches repeat another one
   help: record again, or read the file before it was merged: it holds the same work twice
   look: rtl-summary --health TRACE
2. idle-unknown: idle for 550 ns (75.9 % of the wall time) for unknown causes: the trace has no calls of the host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      725 ns
  GPU ops:   8 dispatches
  API calls: 0
  Trust:     bad: 1 of 8 dispatches repeat another one

Kernels
Kernel                 Key  Calls  Total (us)      %   Cum %  Duration  Mean (us)    Min    p50    p95    p99    Max
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
good                   k1       2       0.200  65.57   65.57  █·······      0.100  0.100  0.100  0.100  0.100  0.100
(no name)              k2       1       0.050  16.39   81.97  -             0.050  0.050  0.050  0.050  0.050  0.050
overlaps on its queue  k3       1       0.030   9.84   91.80  -             0.030  0.030  0.030  0.030  0.030  0.030
(dangling name)        k4       1       0.025   8.20  100.00  -             0.025  0.025  0.025  0.025  0.025  0.025
took no time           k5       1       0.000   0.00  100.00  -             0.000  0.000  0.000  0.000  0.000  0.000
not shown: Stddev
did not end: never ended on GPU 0 queue 0, in flight since 200 ns

Categories
Category  Calls  Total (us)       %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────
other         6       0.305  100.00  100.00      0.051  0.000  0.030  0.100  0.100  0.100   0.041

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    6   24.14      0.725      0.175      0.550         0.175             0.000        0.000               0.000
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  550 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Op before     Op after
───────────────────────────────────────────────────
  0    0.100  400 ns  good          took no time
  0    0.500  100 ns  took no time  (no name)
  0    0.650   50 ns  (no name)     (dangling name)

Sanity
! 1 dispatch with no end, left out of all times
! 1 dispatch with an end before the start, left out of all times
! 1 dispatch with length zero
! dangling name: 1 row of rocpd_op.description_id, id 8
! missing start: 1 row of rocpd_op.start, id 9
! without a kernel name: 2 dispatches
! 1 dispatch repeats another one: good at 0 ns on GPU 0 queue 0
  2 dispatches start on a queue before the one before has ended, for 130 ns in all: kernels may start early, or beside
  each other

"#]]
    );
}

#[test]
fn the_traced_program_used_no_gpu() {
    report!(
        "only-markers",
        str![[r#"
Trace: only-markers.db
No work of a GPU is recorded, and no operator of the CPU
   help: record the GPU too (torch.profiler: ProfilerActivity.CUDA, on AMD GPUs as well), with work of it between
         start and end; a program without a call of the GPU's runtime ran on the CPU
  Recorder:  rtl (layout rtl 1)
  Span:      600 ns
  GPU ops:   0
  API calls: 0
  Also:      1 range, 1 marker
  Trust:     limited: no GPU events; do not rely on any figure of GPUs

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
No work of a GPU is recorded, and no operator of the CPU
   help: record the GPU too (torch.profiler: ProfilerActivity.CUDA, on AMD GPUs as well), with work of it between
         start and end; a program without a call of the GPU's runtime ran on the CPU
  Recorder:  rtl (layout rtl 1)
  Span:      0 ns
  GPU ops:   0
  API calls: 0
  Trust:     limited: no GPU events; do not rely on any figure of GPUs

"#]]
    );
}
