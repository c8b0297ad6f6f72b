use serde::{Deserialize, Serialize};

use super::row;
use crate::ProcessId;

row! {
    /// A process that wrote into the trace. Every trace has at least one, even if nothing is known of it.
    #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Process {
        /// The operating system's id.
        pub pid: Option<i64>,
        /// The pid of the process that started it.
        pub ppid: Option<i64>,
        /// The identity that rocprofv3 gives it.
        pub guid: Option<String>,
        /// Ids and correlation ids are unique within a space: all processes of one RPD file share one, those of
        /// a merged rocprofv3 file have one each.
        pub space: u32,
        /// The machine, where one trace holds several.
        pub node: Option<u32>,
        /// Host name.
        pub host: Option<String>,
        /// The machine's id, `/etc/machine-id`.
        pub machine_id: Option<String>,
        /// The id of the machine's boot: processes of one boot share CLOCK_BOOTTIME.
        pub boot_id: Option<String>,
        /// Index in the distributed job.
        pub rank: Option<u32>,
        /// Number of processes in the job.
        pub world: Option<u32>,
        /// Command line.
        pub command: Option<String>,
        /// Environment as JSON text.
        pub environment: Option<String>,
        /// First moment in ns, if stored.
        pub start: Option<i64>,
        /// Last moment in ns, if stored.
        pub end: Option<i64>,
    }
}

row! {
    /// A thread that the source names.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Thread {
        /// The process of the thread.
        pub process: ProcessId,
        /// The operating system's id.
        pub tid: i64,
        /// The name that the thread has given itself, if stored.
        pub name: Option<String>,
    }
}
