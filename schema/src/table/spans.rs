use super::row;
use crate::{AgentId, Id, NameId, ProcessId};

/// The kind of a state that holds over a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SpanKind {
    /// A range of the host on a stream of a GPU: from the start of the first op that was launched within it to the end of
    /// the last one.
    #[default]
    GpuRange,
    /// Work of the profiler itself.
    Overhead,
}

impl SpanKind {
    /// The name in rtl's files.
    pub fn label(self) -> &'static str {
        match self {
            Self::GpuRange => "gpu_range",
            Self::Overhead => "overhead",
        }
    }

    /// The kind of that name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::GpuRange, Self::Overhead].into_iter().find(|kind| kind.label() == name)
    }
}

row! {
    /// A span that a profiler states beside the events that it recorded: no work, and no call.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Span {
        /// The id of the source.
        pub id: Id,
        /// The kind of state.
        pub kind: SpanKind,
        /// The process that was profiled.
        pub process: ProcessId,
        /// The GPU of a range on it.
        pub agent: Option<AgentId>,
        /// The HIP or CUDA stream of a range on a GPU.
        pub stream: Option<i64>,
        /// The name of the range, or of the work of the profiler.
        pub name: NameId,
        /// Start in ns.
        pub start: i64,
        /// End minus start in ns.
        pub duration: Option<i64>,
    }
}

/// All spans of a trace, in the order of the source.
pub type Spans = Vec<Span>;
