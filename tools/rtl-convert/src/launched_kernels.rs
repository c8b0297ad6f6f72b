//! The kernel of each launching call, for timelines that name the call after it (RTG's `-k`).

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
pub struct LaunchedKernels {
    /// True for strings that name a function that launches one kernel.
    functions: Vec<bool>,
    /// The kernel of each flow by its number; `None` are several kernels: a launch on several GPUs.
    kernels: FxHashMap<u32, Option<NameId>>,
}

impl LaunchedKernels {
    pub fn new(tables: &Tables) -> Self {
        let is_launch = |(_, text)| launches_a_kernel(text);
        Self { functions: tables.strings.iter().map(is_launch).collect(), kernels: FxHashMap::default() }
    }

    #[inline]
    pub fn add(&mut self, flow: u32, kernel: NameId) {
        if flow != 0 {
            let known = self.kernels.entry(flow).or_insert(Some(kernel));
            *known = known.filter(|known| *known == kernel);
        }
    }

    pub fn is_launch(&self, function: NameId) -> bool {
        self.functions.get(function.index()).copied().unwrap_or(false)
    }

    /// The kernel after which a call of `function` is named; `flow` leads to its ops.
    #[inline]
    pub fn kernel(&self, function: NameId, flow: u32) -> Option<NameId> {
        self.kernels.get(&flow).copied().flatten().filter(|_| self.is_launch(function))
    }
}

/// HIP's functions that launch one kernel each: hipLaunchKernel, hipExtLaunchKernel, hipModuleLaunchKernel,
/// hipLaunchCooperativeKernel, ..., with their variants for the stream of a thread.
fn launches_a_kernel(function: &str) -> bool {
    let launch = function.contains("LaunchKernel") || function.contains("LaunchCooperativeKernel");
    launch || function == "hipLaunchByPtr"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Tables {
        let mut tables = Tables::default();
        for text in texts {
            tables.strings.intern(text);
        }
        tables
    }

    #[test]
    fn functions_that_launch_one_kernel_are_known_by_their_names() {
        let functions = [
            "hipLaunchKernel",
            "hipLaunchKernel_spt",
            "hipLaunchKernelExC",
            "hipExtLaunchKernel",
            "hipModuleLaunchKernel",
            "hipExtModuleLaunchKernel",
            "hipLaunchCooperativeKernel",
            "hipModuleLaunchCooperativeKernel",
            "hipLaunchByPtr",
        ];
        let others = ["hipGraphLaunch", "hipLaunchHostFunc", "hipMemcpyAsync", "__hipPushCallConfiguration"];
        assert!(functions.into_iter().all(launches_a_kernel));
        assert!(!others.into_iter().any(launches_a_kernel));
    }

    #[test]
    fn a_call_has_the_name_of_its_kernel_unless_it_launched_several() {
        let tables = strings(&["hipLaunchKernel", "hipGraphLaunch", "gemm", "softmax"]);
        let [launch, graph, gemm, softmax] = [0, 1, 2, 3].map(NameId);
        let mut launched = LaunchedKernels::new(&tables);
        for (flow, kernel) in [(1, gemm), (1, gemm), (3, gemm), (3, softmax), (3, gemm), (0, gemm)] {
            launched.add(flow, kernel);
        }
        let names = [0, 1, 2, 3, 4].map(|flow| launched.kernel(launch, flow));
        assert_eq!(names, [None, Some(gemm), None, None, None]);
        assert_eq!(launched.kernel(graph, 1), None);
    }
}
