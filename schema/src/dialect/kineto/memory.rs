//! Rows of the memory of devices, and spans beside the recorded events.

use super::event::Event;
use super::rows::Rows;
use super::scalar::{number, unsigned, whole};
use crate::table::{MemoryEvent, Span, SpanKind};
use crate::{AgentId, ProblemKind, ProcessId};

impl Rows {
    /// The agent of a range on a GPU is a position of a place until its document ends.
    pub(super) fn span(&mut self, event: &Event<'_>, kind: SpanKind, start: i64, duration: Option<i64>) {
        let is_on_gpu = kind == SpanKind::GpuRange;
        // The cost of recording operators is told beside them.
        if !self.select.secondary && (is_on_gpu || !self.select.operators) {
            return;
        }
        let agent = is_on_gpu.then(|| self.open.sources.place_of_process(event));
        let stated = [event.arguments.annotated_stream, event.arguments.stream, event.tid];
        let stream = stated.into_iter().find(|stated| !stated.is_empty()).and_then(number);
        let span = Span {
            id: self.id(),
            kind,
            process: ProcessId::default(),
            agent,
            stream: stream.filter(|_| is_on_gpu),
            name: self.name(event.name),
            start,
            duration,
        };
        self.tables.spans.push(span);
    }

    pub(super) fn memory(&mut self, event: &Event<'_>, time: i64) {
        let process = self.process(event);
        if !self.select.memory {
            return;
        }
        let arguments = &event.arguments;
        let Some(bytes) = whole(arguments.bytes) else {
            self.tables.problems.add(ProblemKind::BadValue, "[memory].Bytes", self.events);
            return;
        };
        // The number of the GPU, in the place of its agent; the type of the host is 0.
        let is_host = whole(arguments.device_type) == Some(0);
        let agent = unsigned(arguments.device_id).filter(|_| !is_host).map(AgentId);
        let size = |raw| whole(raw).map(|size| size as u64);
        self.tables.memory_events.push(MemoryEvent {
            id: self.id(),
            process,
            tid: event.thread(),
            agent,
            time,
            address: size(arguments.address),
            bytes,
            allocated: size(arguments.allocated),
            reserved: size(arguments.reserved),
        });
    }
}
