//! The oldest dispatch of each queue, if it has been in flight for a long time: a kernel that hangs.

use rtl_schema::layout::tags::OPEN_DISPATCH;
use rtl_write::Target;

use super::close::Close;
use super::naming::KernelColumns;
use super::session::Session;
use crate::collect::dispatch::InFlight;

impl<T: Target + Close> Session<T> {
    /// The rows of these dispatches, whose kernels are named first.
    pub(super) fn open_dispatches(&mut self) -> rtl_schema::Result<Vec<(&'static str, String)>> {
        let mut rows = Vec::new();
        for open in &self.in_flight.now {
            let dispatch = &open.dispatch;
            let recording = self.file.register(dispatch.tid, Some(dispatch.queue), &self.known)?;
            let kernel = self.known.kernels.get(dispatch.kernel.0).unwrap_or_default();
            rows.push((OPEN_DISPATCH, row(open, self.naming.name(&kernel, recording)?)));
        }
        Ok(rows)
    }
}

fn row(InFlight { dispatch, since }: &InFlight, named: KernelColumns) -> String {
    let row = serde_json::json!({
        "pid": std::process::id(),
        "tid": dispatch.tid,
        "gpuId": dispatch.gpu,
        "queueId": dispatch.queue.0,
        "description_id": named.text.number(),
        "since": since,
        "enqueued": Some(dispatch.enqueued).filter(|&moment| moment != 0),
        "correlationId": dispatch.correlation,
        "roctxId": dispatch.range,
        "items": dispatch.grid,
        "workgroup": dispatch.workgroup,
        "lds": dispatch.lds,
        "scratch": dispatch.scratch,
    });
    row.to_string()
}

#[cfg(test)]
mod tests {
    use rtl_write::StringId;

    use super::*;
    use crate::collect::collector::oldest::MOST;
    use crate::collect::dispatch::{Dispatch, KernelId, QueueOrdinal};

    #[test]
    fn as_many_as_are_told_have_room_in_a_publication_beside_the_counts() {
        let dispatch = Dispatch {
            start: 0,
            end: 0,
            correlation: u64::MAX >> 1,
            enqueued: i64::MAX,
            range: u64::MAX >> 1,
            kernel: KernelId(u32::MAX - 1),
            queue: QueueOrdinal(u32::MAX),
            tid: u32::MAX,
            grid: [u32::MAX; 3],
            lds: u32::MAX,
            scratch: u32::MAX,
            workgroup: [u16::MAX; 3],
            gpu: u16::MAX,
        };
        let row = row(
            &InFlight { dispatch, since: i64::MAX },
            KernelColumns { text: StringId::EMPTY, symbol: None },
        );
        let bytes = MOST * (OPEN_DISPATCH.len() + row.len() + 20 + 16);
        assert!(bytes <= 7 << 10, "{bytes} of the 16 KiB that a publication has for all its rows");
    }
}
