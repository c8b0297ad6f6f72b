//! The GPUs of this process.

use crate::api::Api;

/// A GPU that the runtime shows to this process.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Its place among the GPUs that the runtime lists, from 0: `gpuId` in the file.
    pub number: u16,
    /// The handle of its `hsa_agent_t`.
    pub agent: u64,
}

/// Every GPU, in the runtime's order.
#[must_use]
pub fn list(api: &Api) -> Vec<Gpu> {
    (0..).zip(api.gpus()).map(|(number, agent)| Gpu { number, agent }).collect()
}
