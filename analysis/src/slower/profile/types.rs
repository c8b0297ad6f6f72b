//! A run reduced to its kernels and GPUs.

use crate::base::activity::Activity;
use crate::idle::Cause;
use crate::slower::run::Run;
use crate::slower::run::mix::Mix;

/// The key by which calls are one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelKey {
    /// Calls of one name are one kernel.
    #[default]
    Name,
    /// The name and the launch shape.
    Launch,
}

/// One run, reduced to the input of a comparison.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Kernels that ran, by name, then by launch shape.
    pub kernels: Vec<Kernel>,
    /// GPUs that ran anything, by number.
    pub gpus: Vec<GpuProfile>,
    /// The rank that the others waited for in collectives, where there are several ranks and one stands out.
    pub straggler: Option<String>,
}

/// A kernel of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kernel {
    /// Name without descriptor suffix.
    pub name: String,
    /// The launch shape in words, with [`KernelKey::Launch`].
    pub launch: Option<String>,
    /// True for kernels that wait for other ranks.
    pub collective: bool,
    /// Durations, GPU after GPU in launch order, without the warm-up.
    pub run: Run,
    /// How many calls were left out as warm-up.
    pub warmup: u64,
    /// The launch shapes that it ran in, in words, sorted; empty where the trace does not say.
    pub shapes: Vec<String>,
    /// The launch shapes of the calls in `run`.
    pub mix: Mix,
    /// Waiting and transfer, where it is a collective that was matched on several ranks.
    pub waiting: Option<CollectiveWaits>,
    /// The kernels before and after its first call on the first GPU that ran it.
    pub neighbours: [Option<String>; 2],
}

/// A GPU of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuProfile {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// Union of all ops in ns.
    pub busy_ns: i64,
    /// Time in ns in which no op ran, by cause, as far as the host is known.
    pub idle: Vec<(Cause, i64)>,
    /// All ops, warm-up included, so that the decomposition of wall time is complete.
    pub work: Vec<ActivityTotal>,
}

/// The calls of one kernel or kind of copy on one GPU in one launch shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityTotal {
    /// The kernel or kind of copy.
    pub item: Activity,
    /// The launch shape in words, if known.
    pub shape: Option<String>,
    /// The number of calls.
    pub calls: u64,
    /// How long, in ns.
    pub total_ns: i64,
}

/// A collective's calls on several ranks, matched with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollectiveWaits {
    /// The transfers, one of each collective, group of ranks after group of ranks in launch order, without the warm-up.
    pub run: Run,
    /// The sample standard deviation of the transfers in ns.
    pub deviation_ns: f64,
    /// The launch shapes of the collectives in `run`.
    pub mix: Mix,
    /// How many calls were matched, without the warm-up: one of each member of each collective.
    pub calls: u64,
    /// The transfers of these calls in ns.
    pub transfer_ns: i64,
    /// The wait of these calls in ns: with the transfers, all of their time.
    pub wait_ns: i64,
}
