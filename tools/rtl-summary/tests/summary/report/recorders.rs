//! Reports on traces of other recorders.

use snapbox::{assert_data_eq, str};
use support::Layout;

use crate::Folder;

#[test]
fn a_trace_of_rocm_trace_lite_says_what_it_may_lack() {
    let folder = Folder::new();
    folder.story("ranges-nested", Layout::Lite, "lite.db");
    assert_data_eq!(
        folder.answer("lite.db --all"),
        str![[r#"
Trace: lite.db
GPU busy 84.5 % of 970 ns, idle 150 ns (15.5 %); no op for 150 ns before the first op; trust good
1. idle-unknown: idle for 150 ns (15.5 % of the wall time) for unknown causes: the trace has no calls of the host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
3 of 5 kernels hold 80 % of the kernel time; gemm_backward alone holds 48.8 %: at twice the speed it would save 20.6
   % of the wall time
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
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  150 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Op before      Op after
──────────────────────────────────────────────────
  0    0.450  100 ns  softmax        gemm_backward
  0    1.010   40 ns  zero_grad      other
  0    0.950   10 ns  gemm_backward  zero_grad

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
        folder.answer("trace.rpd --all"),
        str![[r#"
Trace: trace.rpd
GPU busy 84.5 % of 970 ns, idle 150 ns (15.5 %); no op for 150 ns before the first op; trust good
1. idle-host: the GPU waits for the host, which is busy with something else: idle for 150 ns in 1 gap (15.5 % of the
   wall time), most at step, one of them after softmax and before gemm_backward
   help: move what the host does there out of the loop, into another thread or process, or ahead of time
   look: rtl-summary --section idle,gaps TRACE
3 of 5 kernels hold 80 % of the kernel time; gemm_backward alone holds 48.8 %: at twice the speed it would save 20.6
   % of the wall time
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
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      3  150 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Cause                                  Op before      Op after
─────────────────────────────────────────────────────────────────────────────────────────
  0    0.450  100 ns  launch: step -> hipModuleLaunchKernel  softmax        gemm_backward
  0    1.010   40 ns  queued                                 zero_grad      other
  0    0.950   10 ns  queued                                 gemm_backward  zero_grad

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
ops count as enqueued when their call returns

Ranges and markers, GPU work by launch in their thread (steps: in any)
Range       Kind    Count  Host total  Host mean  Ops  GPU time  GPU busy
─────────────────────────────────────────────────────────────────────────
step        range       1    1.000 us   1.000 us    5    820 ns    820 ns
forward     range       1      400 ns     400 ns    2    300 ns    300 ns
backward    range       1      450 ns     450 ns    1     50 ns     50 ns
checkpoint  marker      1           -          -    -         -         -

"#]]
    );
}
