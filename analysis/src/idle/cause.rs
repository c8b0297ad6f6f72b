//! Causes of idle time, and which of them a call stands for.

use serde::{Deserialize, Serialize};

/// Why a GPU was idle for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The launching thread waited for the GPU.
    Synchronise,
    /// The launching thread was in a copy that returns when it is done.
    BlockingCopy,
    /// The launching thread allocated or released memory.
    Allocation,
    /// The launching thread loaded code, instantiated a graph or compiled.
    Loading,
    /// The launching thread was in a launch, or went from one launch to the next.
    Launch,
    /// The launching thread did something else.
    Host,
    /// An op was enqueued and had not started.
    Queued,
    /// Nothing ties the op to the host.
    #[default]
    Unknown,
}

impl Cause {
    /// All causes in their order.
    pub const ALL: [Self; 8] = [
        Self::Synchronise,
        Self::BlockingCopy,
        Self::Allocation,
        Self::Loading,
        Self::Launch,
        Self::Host,
        Self::Queued,
        Self::Unknown,
    ];

    /// The name in JSON and in reports: `blocking-copy`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Synchronise => "synchronise",
            Self::BlockingCopy => "blocking-copy",
            Self::Allocation => "allocation",
            Self::Loading => "loading",
            Self::Launch => "launch",
            Self::Host => "host",
            Self::Queued => "queued",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether a call of this cause keeps its thread from launching.
    pub fn is_blocking(self) -> bool {
        matches!(self, Self::Synchronise | Self::BlockingCopy | Self::Allocation | Self::Loading)
    }
}

/// The cause that a function of HIP, CUDA or HSA stands for; `None` for any other function.
pub(crate) fn of_function(name: &str) -> Option<Cause> {
    if let Some(function) = name.strip_prefix("hsa_") {
        return of_hsa(function);
    }
    // JAX waits for results in it.
    if name == "block_until_ready" {
        return Some(Cause::Synchronise);
    }
    if name.starts_with("hiprtc") || name.starts_with("nvrtc") {
        return (name.contains("Compile") || name.contains("Link")).then_some(Cause::Loading);
    }
    let function = ["hip", "cuda", "cu"].iter().find_map(|prefix| {
        name.strip_prefix(prefix).filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })?;
    let has = |words: &[&str]| words.iter().any(|word| function.contains(word));
    // Nodes of a graph are described, not executed.
    if has(&["GraphAdd", "Node"]) {
        None
    } else if has(&["Synchronize"]) {
        Some(Cause::Synchronise)
    } else if has(&LOADING) {
        Some(Cause::Loading)
    } else if has(&["Launch", "Memset", "MemPrefetch"]) {
        Some(Cause::Launch)
    } else if has(&["Memcpy"]) {
        Some(if has(&["Async"]) { Cause::Launch } else { Cause::BlockingCopy })
    } else if has(&ALLOCATION) || function.starts_with("Free") {
        Some(Cause::Allocation)
    } else {
        None
    }
}

/// Code is loaded, a graph is made, or the device is set up.
const LOADING: [&str; 11] = [
    "ModuleLoad",
    "ModuleUnload",
    "LibraryLoad",
    "LibraryUnload",
    "GraphInstantiate",
    "LinkAdd",
    "LinkComplete",
    "StreamCreate",
    "StreamBeginCapture",
    "CtxCreate",
    "PrimaryCtxRetain",
];

const ALLOCATION: [&str; 14] = [
    "Malloc",
    "MemAlloc",
    "MemFree",
    "HostAlloc",
    "HostFree",
    "HostRegister",
    "HostUnregister",
    "MemCreate",
    "MemRelease",
    "MemMap",
    "MemUnmap",
    "MemSetAccess",
    "MemAddress",
    "MemPool",
];

fn of_hsa(function: &str) -> Option<Cause> {
    let has = |words: &[&str]| words.iter().any(|word| function.contains(word));
    if has(&["signal_wait"]) {
        Some(Cause::Synchronise)
    } else if has(&["async_copy"]) {
        Some(Cause::Launch)
    } else if has(&["memory_copy"]) {
        Some(Cause::BlockingCopy)
    } else if has(&["memory_allocate", "memory_free", "memory_pool_allocate", "memory_pool_free", "vmem_"]) {
        Some(Cause::Allocation)
    } else if has(&["executable_load", "executable_freeze", "code_object_reader_create"]) {
        Some(Cause::Loading)
    } else {
        None
    }
}

/// Returns whether an operator or range of this name compiles. `Compiled` code runs.
pub(super) fn is_compilation(name: &str) -> bool {
    name.contains("dynamo_timed") || name.split("compile").skip(1).any(|rest| !rest.starts_with('d'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_stand_for_causes_by_their_names() {
        for (cause, names) in [
            (
                Cause::Synchronise,
                "hipStreamSynchronize cudaDeviceSynchronize cuCtxSynchronize hsa_signal_wait_scacquire",
            ),
            (
                Cause::BlockingCopy,
                "hipMemcpy hipMemcpyWithStream cudaMemcpy2D cuMemcpyHtoD_v2 hsa_memory_copy",
            ),
            (
                Cause::Allocation,
                "hipMalloc cudaFree hipHostMalloc cudaHostAlloc cuMemAlloc_v2 hipMallocAsync cuMemMap hipHostFree",
            ),
            (
                Cause::Loading,
                "cudaStreamCreateWithFlags hipStreamBeginCapture cuCtxCreate_v2 hipModuleLoadData hipModuleUnload cudaGraphInstantiateWithFlags hiprtcCompileProgram",
            ),
            (
                Cause::Launch,
                "hipLaunchKernel hipExtModuleLaunchKernel cuLaunchKernelEx cudaGraphLaunch hipMemcpyAsync cudaMemsetAsync",
            ),
        ] {
            for name in names.split(' ') {
                assert_eq!(of_function(name), Some(cause), "{name}");
            }
        }
        for name in [
            "hipGetDevice",
            "cudaEventQuery",
            "hipGraphAddMemcpyNode",
            "customLaunch",
            "cudaEventRecord",
            "hipMemGetInfo",
            "INVALID",
            "",
            "hsa_signal_store_screlease",
            "ncclAllReduce",
        ] {
            assert_eq!(of_function(name), None, "{name}");
        }
    }

    #[test]
    fn compilation_is_not_compiled_code() {
        for name in [
            "_compile.compile_inner (dynamo_timed)",
            "backend_compile",
            "async_compile.wait",
            "code_gen (dynamo_timed)",
        ] {
            assert!(is_compilation(name), "{name}");
        }
        for name in ["## Call CompiledFxGraph f", "Torch-Compiled Region: 0/0", "compiled_step", "aten::mm"] {
            assert!(!is_compilation(name), "{name}");
        }
    }

    #[test]
    fn labels_are_those_of_json() {
        for cause in Cause::ALL {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.label());
        }
    }
}
