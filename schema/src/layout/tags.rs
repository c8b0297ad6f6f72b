//! Tags of `rocpd_metadata`. Values are text; the tags of objects have one row per object, its value as JSON.

/// The version of the native layout.
pub const RTL_SCHEMA: &str = "rtl_schema";
/// The version of the source's schema; in native files for rocm-trace-lite's tools.
pub const SCHEMA_VERSION: &str = "schema_version";
/// The name of the tool that recorded the trace.
pub const TOOL: &str = "tool";
/// The version of the tool that recorded the trace.
pub const TOOL_VERSION: &str = "tool_version";
/// The mode in which the tool recorded, which says what it left out.
pub const MODE: &str = "mode";
/// The process id, of a file with one process.
pub const PID: &str = "pid";
/// The parent's process id.
pub const PPID: &str = "ppid";
/// The name of the host that was traced.
pub const HOST: &str = "host";
/// The machine's id, `/etc/machine-id`.
pub const MACHINE_ID: &str = "machine_id";
/// The id of the machine's boot.
pub const BOOT_ID: &str = "boot_id";
/// The rank in the distributed job.
pub const RANK: &str = "rank";
/// The number of processes of the distributed job.
pub const WORLD_SIZE: &str = "world_size";
/// The command line of the process that was traced.
pub const COMMAND: &str = "command";
/// The start of the recording in ns.
pub const START_NS: &str = "start_ns";
/// The end of the recording in ns.
pub const END_NS: &str = "end_ns";
/// Object: a GPU, with the number that ops give it.
pub const GPU: &str = "gpu";
/// Object: an agent other than a GPU.
pub const AGENT: &str = "agent";
/// Object: a process, of a file with several or one that has more to keep than tags.
pub const PROCESS: &str = "process";
/// Object: a named thread.
pub const THREAD: &str = "thread";
/// Object: a queue whose number in the file is not the source's.
pub const QUEUE: &str = "queue";
/// Object: a kernel as it was loaded.
pub const KERNEL: &str = "kernel";
/// Object: a call that its thread had not returned from at the last write.
pub const OPEN_CALL: &str = "open_call";
/// Object: the oldest dispatch of a queue that was in flight at the last write.
pub const OPEN_DISPATCH: &str = "open_dispatch";
/// Object: CPU time and memory of the recorder itself.
pub const TRACING_COST: &str = "tracing_cost";
/// `1` where the recorder ended properly, `0` until then.
pub const COMPLETE: &str = "complete";

/// A row of a trace in JSON that is broken before its end.
pub(crate) const MALFORMED: &str = "broken_json";
/// The id that the processes of one run share.
pub const RUN_ID: &str = "run_id";
/// Object: how a merge moved a clock.
pub const CLOCK: &str = "clock";
/// The dialect that a file was converted from.
pub const SOURCE_DIALECT: &str = "source_dialect";
/// The schema version that a file was converted from.
pub const SOURCE_SCHEMA_VERSION: &str = "source_schema_version";
/// Prefix of the source's own tags.
pub const SOURCE_PREFIX: &str = "source:";
/// Prefix of the counts of lost rows, by reason.
pub const LOST_PREFIX: &str = "lost:";
/// The factor that separates the machines in packed GPU ids (RPD).
pub const GPU_STRIDE: &str = "gpu_stride";
/// The factor that separates the machines in packed pids and tids (RPD).
pub const PID_STRIDE: &str = "pid_stride";
/// RPD files that rtl wrote: the origin of `rocpd_kernelapi`, see [`LAUNCHES_EXECUTED`].
pub const LAUNCHES: &str = "rtl_launches";
/// Value of [`LAUNCHES`]: work-items, all LDS and scratch as executed, and GPUs numbered as those of ops.
pub const LAUNCHES_EXECUTED: &str = "executed";
