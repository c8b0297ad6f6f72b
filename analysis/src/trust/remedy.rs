//! How to record again, in words for the recorder of the trace.

use rtl_schema::Dialect;

/// How to get a trace without a reason.
pub(crate) fn remedy(rule: &str, dialect: Dialect) -> &'static str {
    let is_torch = dialect == Dialect::Kineto;
    match rule {
        "no-gpu-events" if is_torch => {
            "record again with ProfilerActivity.CUDA (on AMD GPUs, too), and call torch.cuda.synchronize() before the profiler stops"
        }
        "no-gpu-events" => {
            "record again with the GPU's work (rtl trace, rocprofv3 --kernel-trace, nsys profile --trace=cuda), and let it end \
             before the recording stops"
        }
        "capture-only" => {
            "record again when the captured graph is launched: a capture runs nothing on the GPU"
        }
        "graphs-incomplete" | "steps-incomplete" | "kernels-missing" if is_torch => {
            "record again: fewer steps, so that the profiler's buffers hold them, and torch.cuda.synchronize() before it stops"
        }
        "graphs-incomplete" | "steps-incomplete" | "kernels-missing" | "lost-records" => {
            "record again: a shorter part of the run, so that the recorder's buffers hold it, and let the GPU's work end before the \
             recording stops"
        }
        "holes" if is_torch => {
            "record again: torch.cuda.synchronize() before the profiler starts; where kernels of graphs are missing, fewer steps, or \
             the model without graphs"
        }
        "holes" => {
            "record again: let the GPU's earlier work end before the recording starts; where kernels of graphs are missing, a \
             shorter part of the run"
        }
        "duplicates" => "record again, or read the file before it was merged: it holds the same work twice",
        "far-apart" => "record again with one recorder and one clock; or name one part with --time",
        _ => "record again without what the reason states",
    }
}

/// How to record the calls of the host with the work of the GPU.
pub(crate) fn with_calls(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Native | Dialect::Lite => "record the host's calls too: `rtl trace --mode hip`",
        Dialect::Kineto => {
            "record the host's calls too: torch.profiler with activities CPU and CUDA (on AMD GPUs, too), and keep its events of calls"
        }
        Dialect::Rocprofiler | Dialect::RocprofilerJson | Dialect::RocprofilerCsv => {
            "record the host's calls too: rocprofv3 --hip-trace --kernel-trace, or --sys-trace"
        }
        Dialect::Rpd2 | Dialect::Rpd3 => {
            "record the host's calls too: runTracer.sh, without leaving out HIP's calls"
        }
        Dialect::Nsys => "record the host's calls too: nsys profile --trace=cuda,nvtx",
        Dialect::RocprofDatabase | Dialect::RocprofJson | Dialect::RocprofCsv | Dialect::Roctracer => {
            "record the host's calls too: rocprof --hip-trace"
        }
        Dialect::JaxJson | Dialect::Xplane => {
            "record the host's calls too: jax.profiler with host_tracer_level=2 or more"
        }
        Dialect::Rtg => "record the host's calls too: RTG records kernels alone, `rtl trace --mode hip` both",
    }
}
