//! The work of the host: ranges, graph launches and the calls of a training loop.

use snapbox::str;

#[test]
fn nested_ranges_with_the_gpu_time_they_enclose() {
    report!(
        "ranges-nested",
        str![[r#"
Trace: ranges-nested.db
GPU busy 84.5 % of 970 ns, idle 150 ns (15.5 %); no op for 150 ns before the first op; trust good
1. idle-unknown: idle for 150 ns (15.5 % of the wall time) for unknown causes: the trace has no calls of the host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
3 of 5 kernels hold 80 % of the kernel time; gemm_backward alone holds 48.8 %: at twice the speed it would save 20.6
   % of the wall time
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
fn a_graph_launch_has_kernels_and_copies_without_size() {
    report!(
        "graph-launch",
        str![[r#"
Trace: graph-launch.db
GPU busy 75.0 % of 400 ns: kernels 62.5 %, copies alone 12.5 %, idle 100 ns (25.0 %); trust good
1. idle-unknown: idle for 100 ns (25.0 % of the wall time) for unknown causes: the trace has no calls of the host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
2. copies-alone: nothing but copies runs for 50 ns (12.5 % of the wall time), most of it device-to-device (1 copy)
   help: write results where they are needed (in place, `out=`, static inputs of graphs), keep layouts contiguous,
         or let a kernel copy what it reads anyway
   look: rtl-summary --section copies,gpus TRACE
1 of 2 kernels holds 80 % of the kernel time; gemm alone holds 80.0 %: at twice the speed it would save 25.0 % of the
   wall time
  Recorder:  rtl (layout rtl 1)
  GPUs:      GPU 0
  Span:      400 ns
  GPU ops:   4 (3 dispatches, 1 copy)
  API calls: 0

Kernels
Kernel  Key  Calls  Total (us)      %   Cum %  Duration  Mean (us)    Min    p50    p95    p99    Max  Stddev
─────────────────────────────────────────────────────────────────────────────────────────────────────────────
gemm    k1       2       0.200  80.00   80.00  █·······      0.100  0.100  0.100  0.100  0.100  0.100   0.000
add     k2       1       0.050  20.00  100.00  -             0.050  0.050  0.050  0.050  0.050  0.050       -

Categories
Category  Calls  Total (us)      %   Cum %  Mean (us)    Min    p50    p95    p99    Max  Stddev
────────────────────────────────────────────────────────────────────────────────────────────────
gemm          2       0.200  80.00   80.00      0.100  0.100  0.100  0.100  0.100  0.100   0.000
other         1       0.050  20.00  100.00      0.050  0.050  0.050  0.050  0.050  0.050       -

GPUs
GPU    Ops  Busy %  Wall (us)  Busy (us)  Idle (us)  Kernels (us)  Collectives (us)  Copies (us)  Exposed coll. (us)
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    4   75.00      0.400      0.300      0.100         0.250             0.000        0.050               0.000
not shown: Overlap (us), Busy over time

Gaps
GPU  Gap          Count   Total
───────────────────────────────
  0  below 10 us      1  100 ns

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (us)     Gap  Op before         Op after
────────────────────────────────────────────────
  0    0.200  100 ns  device-to-device  gemm

Copies
Direction         Count  Bytes  Unknown size   Time  Bandwidth
──────────────────────────────────────────────────────────────
device-to-device      1      -             1  50 ns          -

"#]]
    );
}

#[test]
fn the_training_loop_of_the_readme() {
    report!(
        "steady-training-loop",
        str![[r#"
Trace: steady-training-loop.db
GPU busy 79.2 % of 20.599 ms (79.2 % to 79.2 % on 2 GPUs): kernels 77.1 %, copies alone 2.1 %, idle 4.288 ms (20.8
   %), collectives alone 2.136 ms (10.4 %); trust good
1. idle-unknown: idle for 4.29 ms a GPU (20.8 % of the wall time) for unknown causes: the trace has no calls of the
   host
   help: record the host's calls too: `rtl trace --mode hip`
   look: rtl-summary --section gaps TRACE
2. exposed-comm: collectives run for 6.78 ms a GPU, 2.14 ms of it with no other kernel beside them: 53.0 us of that
   is waiting for late ranks, and 2.08 ms is transfer (hiding it wins at most 10.1 % of the wall time); most in
   ncclDevKernel_Generic_4
   help: most of it is hidden already: look at the collectives that are not (the last bucket, the first after a
         step), and send less
   look: rtl-summary --by rank TRACE
3. copies-alone: nothing but copies runs for 429 us a GPU (2.1 % of the wall time), most of it host-to-device (40
   copies)
   help: copy from and to the host while kernels run (pinned memory, a stream of its own, the next batch ahead of
         time), copy less, or keep the data on the GPU
   look: rtl-summary --section copies,gpus TRACE
6 of 12 kernels hold 80 % of the kernel time; collectives hold 33.0 %, and of the others
   Cijk_Alik_Bjlk_BBS_BH_MT256x256x32 most, 13.3 %: at twice the speed it would save 6.6 % of the wall time
  Recorder:  rtl, mode standard (layout rtl 1)
  Processes: pid 4242, on node0, `python train.py`
  GPUs:      GPU 0, 1: AMD Instinct MI300X (gfx942)
  Span:      20.632 ms
  GPU ops:   1728 (1680 dispatches, 48 copies)
  API calls: 0
  Also:      160 ranges

Kernels
Kernel                                       Key  Calls  Total (ms)      %   Cum %  Duration  Mean (us)     p50      Max
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_Generic_4                      k1     160      13.566  33.04   33.04  █······▁     84.787  82.824  125.244
Cijk_Alik_Bjlk_BBS_BH_MT256x256x32           k2     160       5.445  13.26   46.30  █······▁     34.033  33.228   50.550
Cijk_Ailk_Bjlk_BBS_BH_MT256x256x32           k3     160       4.879  11.88   58.19  █······▁     30.491  29.747   45.254
kentry<256, 1, FmhaBw…KDVPipeline<bf16_t>>>  k4     160       4.669  11.37   69.56  █······▁     29.179  28.495   43.176
Cijk_Alik_Bljk_BBS_BH_MT128x256x64           k5     160       2.842   6.92   76.48  █······▁     17.765  17.336   26.347
multi_tensor_apply_ke…oat, 4, (…)0, false>>  k6      40       2.464   6.00   82.48  █······▁     61.590  60.146   90.676
Cijk_Ailk_Bljk_BBS_BH_MT256x128x64           k7     160       2.343   5.71   88.19  █······▁     14.641  14.297   21.619
kentry<256, 2, FmhaFw…ineProblem<bf16_t>>>>  k8     160       1.905   4.64   92.83  █······▁     11.909  11.634   17.664
reduce_kernel<128, 4,…educeOp<BFloat16, …>>  k9     160       1.309   3.19   96.02  █······▁      8.180   7.986   12.113
vectorized_layer_norm…rnel<BFloat16, float>  k10    160       0.840   2.05   98.06  █······▁      5.251   5.127    7.776
vectorized_elementwis…, GeluCUDAKernelImpl>  k11    160       0.630   1.53   99.60  █······▁      3.937   3.845    5.844
triton_poi_fused__foreach_add_zero_0         k12     40       0.165   0.40  100.00  █······▁      4.137   4.038    6.137
not shown: Min, p95, p99, Stddev

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
not shown: Overlap (ms), Busy over time

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

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (ms)         Gap  Op before                             Op after
──────────────────────────────────────────────────────────────────────────────
  0    1.348  360.199 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1    1.350  360.113 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0    2.598  109.523 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1    3.600  109.523 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0   13.598  109.519 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1   14.600  109.519 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0    4.598  109.511 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1   16.600  109.507 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  0    6.599  109.499 us  triton_poi_fused__foreach_add_zero_0  host-to-device
  1    7.600  109.499 us  triton_poi_fused__foreach_add_zero_0  host-to-device

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
