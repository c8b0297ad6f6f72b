//! Collects copies and barriers for callbacks.

use super::{CallbackSink, address};
use crate::base::abi::{self, HOST};
use crate::collect::copy_or_barrier::{Copy, CopyOrBarrier, CopyOrBarrierKind};

impl CallbackSink {
    pub(super) fn add_copy_or_barrier(&mut self, op: &CopyOrBarrier) {
        if let Some(why) = self.over {
            let counters = match op.what {
                CopyOrBarrierKind::Copy(_) => &self.known.copies,
                CopyOrBarrierKind::Barrier { .. } => &self.known.barriers,
            };
            return counters.lose(why, 1);
        }
        self.register(op.tid);
        let &CopyOrBarrier { start, end, enqueued, correlation: correlation_id, range: range_id, tid, what } =
            op;
        match what {
            CopyOrBarrierKind::Copy(Copy { bytes, source, destination }) => {
                let agent = |gpu: Option<u16>| gpu.map_or(HOST, i32::from);
                let (source, destination) = (agent(source), agent(destination));
                let copy = abi::Copy {
                    start,
                    end,
                    enqueued,
                    correlation_id,
                    range_id,
                    bytes,
                    source,
                    destination,
                    tid,
                    reserved: 0,
                };
                self.gather(copy, |batches| &mut batches.copies);
            }
            CopyOrBarrierKind::Barrier { queue, gpu } => {
                let barrier = abi::Barrier {
                    start,
                    end,
                    enqueued,
                    correlation_id,
                    range_id,
                    queue: address(&mut self.queues, queue, &self.known),
                    gpu: gpu.into(),
                    queue_id: queue.0,
                    tid,
                    reserved: 0,
                };
                self.gather(barrier, |batches| &mut batches.barriers);
            }
        }
    }
}
