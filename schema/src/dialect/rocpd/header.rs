//! The metadata of a file and the ways in which its layout differs from others. The readers of the dialects fill it; ops and calls are
//! read by it.

use rustc_hash::FxHashMap;

use super::Names;
use crate::table::{ApiCall, Dispatch, Shape};
use crate::{Id, NameId, ProcessId, Strings, SymbolId, Tables};

/// The differences between the layouts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variant {
    /// Annotations are calls named `UserMarker` with the text as argument (RPD), not ops.
    pub(crate) markers_are_calls: bool,
    /// An op with an empty description is named by its type (RPD's copies).
    pub(crate) ops_named_by_type: bool,
    /// An op belongs to the process of its call (RPD), not to one of its own.
    pub(crate) cause_by_link: bool,
    /// The texts of arguments have a table of their own (RPD 3).
    pub(crate) args_in_ustring: bool,
    /// `completionSignal` holds the queue and the launch shape (rocm-trace-lite).
    pub(crate) signal_is_shape: bool,
    /// Ops have typed columns for their launch (rtl).
    pub(crate) typed_ops: bool,
    /// The contents of `rocpd_kernelapi` and `rocpd_copyapi`.
    pub(crate) launches: LaunchRows,
    /// The factor that separates the machines in packed GPU ids (RPD's `gpu_stride`).
    pub(crate) gpu_stride: Option<i64>,
    /// The factor that separates the machines in packed pids and tids.
    pub(crate) pid_stride: Option<i64>,
}

impl Variant {
    /// The name of an op by its description and its type. Of what rtl converted, only copies go by their type.
    #[inline]
    pub(super) fn name(
        &self,
        description: NameId,
        op_type: NameId,
        is_copy: bool,
        strings: &Strings,
    ) -> NameId {
        let by_type = self.ops_named_by_type && description.is_some() && strings.get(description).is_empty();
        match by_type {
            true if self.launches == LaunchRows::Converted && !is_copy => NameId::NONE,
            true => op_type,
            false => description,
        }
    }
}

/// The contents of `rocpd_kernelapi` and `rocpd_copyapi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LaunchRows {
    /// Arguments of the call: the unit of the grid depends on the function, LDS is the dynamic part only, copy kinds
    /// are hipMemcpyKind (RPD on roctracer, rocm-trace-lite).
    #[default]
    Arguments,
    /// Values as executed: a grid of work-items, the whole LDS and scratch, and copy kinds that are string
    /// ids; one row even where a graph launch executes many (RPD on rocprofiler-sdk).
    Executed,
    /// Launches as executed, copies as in arguments, with their GPUs (RPD files that rtl wrote).
    Converted,
    /// A grid of work-groups for every function (rtl).
    Groups,
}

/// Rows that others refer to, as far as the metadata holds them.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// Processes by values of pid columns that are not their pids.
    pub(crate) processes: Vec<(i64, ProcessId)>,
    /// The process of rows without a pid, where the source names it.
    pub(crate) process: Option<ProcessId>,
    /// The gpuId of each agent of the tables.
    pub(crate) agents: Vec<i64>,
    /// Number and hardware address of queues, by gpuId and queueId.
    pub(crate) queues: FxHashMap<(i64, i64), (i64, Option<u64>)>,
    pub(crate) symbols: Symbols,
    /// Calls without a row, because their process was killed in them.
    pub(crate) open_calls: Vec<ApiCall>,
    /// Dispatches without a row, because the recording ended before they did.
    pub(crate) open_dispatches: Vec<OpenDispatch>,
}

/// A dispatch that was in flight at the end of the recording.
#[derive(Debug)]
pub(crate) struct OpenDispatch {
    pub(crate) gpu: i64,
    pub(crate) queue: i64,
    pub(crate) process: ProcessId,
    pub(crate) shape: Option<Shape>,
    /// The other columns of the dispatch.
    pub(crate) row: Dispatch,
}

/// Loaded kernels by the id and by the name that ops carry.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub(crate) by_id: FxHashMap<(ProcessId, Id), SymbolId>,
    /// The first kernel of each name.
    pub(crate) by_name: FxHashMap<(ProcessId, NameId), SymbolId>,
}

/// The metadata and strings of a file, read before its rows.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) variant: Variant,
    pub(crate) names: Names,
    pub(crate) references: References,
    /// Tables filled from the metadata.
    pub(crate) tables: Tables,
}
