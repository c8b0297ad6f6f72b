//! Copies and barriers that have gathered for callbacks.

use super::{BATCH, CallbackSink, address, deliver};
use crate::base::abi::{self, HOST};
use crate::collect::copy_or_barrier::{Copy, CopyOrBarrier, What};

impl CallbackSink {
    pub(super) fn deliver_copies(&mut self) {
        self.deliver_names();
        let count = deliver(self.to.copies, &mut self.batches.copies, self.to.data);
        self.known.copies.record(count);
    }

    pub(super) fn deliver_barriers(&mut self) {
        self.deliver_names();
        let count = deliver(self.to.barriers, &mut self.batches.barriers, self.to.data);
        self.known.barriers.record(count);
    }

    pub(super) fn add_copy_or_barrier(&mut self, op: &CopyOrBarrier) {
        if let Some(why) = self.over {
            let counters = match op.what {
                What::Copy(_) => &self.known.copies,
                What::Barrier { .. } => &self.known.barriers,
            };
            return counters.lose(why, 1);
        }
        self.register(op.tid);
        let &CopyOrBarrier { start, end, enqueued, correlation: correlation_id, range: range_id, tid, what } =
            op;
        match what {
            What::Copy(Copy { bytes, source, destination }) => {
                let agent = |gpu: Option<u16>| gpu.map_or(HOST, i32::from);
                let (source, destination) = (agent(source), agent(destination));
                self.batches.copies.push(abi::Copy {
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
                });
                if self.batches.copies.len() >= BATCH {
                    self.deliver_copies();
                }
            }
            What::Barrier { queue, gpu } => {
                self.batches.barriers.push(abi::Barrier {
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
                });
                if self.batches.barriers.len() >= BATCH {
                    self.deliver_barriers();
                }
            }
        }
    }
}
