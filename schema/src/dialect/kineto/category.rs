//! The meaning of an event's category.

use super::event::Event;
use super::scalar::bare;
use crate::table::SpanKind;

/// The kind of row that an event becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Kernel,
    Copy,
    Call,
    Operator,
    PythonFrame,
    Annotation,
    Memory,
    /// A range on a GPU, or work of the profiler.
    Span(SpanKind),
    /// From a call to the GPU.
    Arrow,
    /// The name of a thread.
    Thread,
    /// The name of a process.
    Process,
    /// The profiler's own span of the recording.
    Recording,
    /// An event without a table: counted.
    Other,
}

impl Category {
    /// The category of an event. Capital letters are those of PyTorch 1.8 to 1.12.
    #[inline]
    pub(super) fn of(event: &Event<'_>) -> Self {
        if event.phase == b"\"X\"" {
            match bare(event.category) {
                b"kernel" | b"Kernel" => Self::Kernel,
                b"gpu_memcpy" | b"gpu_memset" | b"Memcpy" | b"Memset" => Self::Copy,
                b"cuda_runtime" | b"cuda_driver" | b"hip_runtime" | b"hip_driver" | b"Runtime" => Self::Call,
                // PyTorch 1.8 to 1.12 call the steps of a run operators.
                b"cpu_op" | b"Operator" if event.name.starts_with(b"\"ProfilerStep#") => Self::Annotation,
                b"cpu_op" | b"Operator" => Self::Operator,
                b"python_function" => Self::PythonFrame,
                b"user_annotation" => Self::Annotation,
                b"gpu_user_annotation" => Self::Span(SpanKind::GpuRange),
                b"overhead" => Self::Span(SpanKind::Overhead),
                b"Trace" => Self::Recording,
                _ => Self::Other,
            }
        } else if event.category == b"\"ac2g\"" {
            Self::Arrow
        } else if event.name == b"\"[memory]\"" {
            Self::Memory
        } else if event.phase == b"\"M\"" && event.name == b"\"thread_name\"" {
            Self::Thread
        } else if event.phase == b"\"M\"" && event.name == b"\"process_name\"" {
            Self::Process
        } else {
            Self::Other
        }
    }
}
