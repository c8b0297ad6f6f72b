use serde::{Deserialize, Serialize};

use super::row;
use crate::ProcessId;

/// HSA agents are devices of these kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AgentKind {
    /// A GPU or a partition of one.
    #[default]
    Gpu,
    /// A CPU, which HSA lists among the agents.
    Cpu,
    /// Anything else (a network card).
    Other,
    /// The source names no agent for the op.
    Unknown,
}

row! {
    /// An HSA device as one trace knows it. The same device seen by several processes of one host is one agent
    /// where the source identifies it.
    #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Agent {
        /// A GPU, unless the source says otherwise.
        #[serde(skip)]
        pub kind: AgentKind,
        /// The number to show and to filter by (`GPU 3`), unique among the GPUs of the trace.
        pub number: i64,
        /// The machine, where one trace holds several (RPD's packed ids, merged rocprofv3).
        pub node: Option<u32>,
        /// The process that listed it, where each process lists its own.
        #[serde(skip)]
        pub process: Option<ProcessId>,
        /// The id of the source (gpuId, KFD node id, agent handle).
        pub source_id: i64,
        /// Position among all agents of the machine (KFD node id), if known.
        pub absolute_index: Option<i64>,
        /// Position among the visible agents, if known.
        pub logical_index: Option<i64>,
        /// Position among the visible agents of its kind, if known.
        pub type_index: Option<i64>,
        /// The instruction set, e.g. `gfx942`.
        pub target: Option<String>,
        /// The name in the market, e.g. `AMD Instinct MI300X`.
        pub product: Option<String>,
        /// The unique id of the device, if known.
        pub uuid: Option<String>,
        /// All other fields of the source, as JSON text.
        pub details: Option<String>,
    }
}
