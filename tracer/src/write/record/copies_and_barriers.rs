//! Copies and barriers as rows, and the counts of all kinds of rows.

use std::ops::Range;

use crate::base::call_interface::Source;
use rtl_write::{Op, OpKind, Target};

use super::close::Close;
use super::session::Session;
use crate::base::counters::{Counters, Lost, Snapshot};
use crate::collect::copy_or_barrier::{Copy, CopyOrBarrier, What};
use crate::collect::recorder_state::RecorderState;

/// What is recorded: how the tags of the file begin, and the counts.
const KINDS: [(&str, CountersOf); 7] = [
    ("", |known| &known.counters),
    ("ranges_", |known| &known.ranges),
    ("copies_", |known| &known.copies),
    ("barriers_", |known| &known.barriers),
    ("hip_", |known| &known.calls[Source::Hip as usize]),
    ("hsa_", |known| &known.calls[Source::Hsa as usize]),
    ("packets_", |known| &known.packets),
];

/// Where dispatches are among them, ranges and markers, copies with barriers behind them, calls, and the end.
pub(super) const DISPATCHES: usize = 0;
pub(super) const RANGES: usize = 1;
pub(super) const OTHERS: usize = 2;
pub(super) const CALLS: usize = 4;
pub(super) const ALL: usize = KINDS.len();

type CountersOf = fn(&RecorderState) -> &Counters;

/// What a recording has of each kind.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Rows that are not published yet, by kind.
    pub(super) unpublished: [u64; KINDS.len()],
    /// The counts that are published.
    published: [Snapshot; KINDS.len()],
    /// Kept for its room.
    room: Vec<CopyOrBarrier>,
}

impl Pending {
    /// Whether any were seen.
    pub(super) fn are_any(known: &RecorderState) -> bool {
        KINDS.iter().any(|(_, counters)| counters(known).snapshot().seen > 0)
    }

    /// Whether the file is about nothing at all.
    pub(super) fn are_none(known: &RecorderState) -> bool {
        KINDS.iter().all(|(_, counters)| counters(known).snapshot() == Snapshot::default())
    }

    /// Whether the file does not say how many there are.
    pub(super) fn have_changed(&self, known: &RecorderState) -> bool {
        let now = KINDS.map(|(_, counters)| counters(known).snapshot());
        self.unpublished.iter().any(|&rows| rows > 0) || now != self.published
    }

    /// The rows that each publication replaces: nothing about kinds that were never seen, but for dispatches.
    pub(super) fn closing(&mut self, kinds: Range<usize>, known: &RecorderState) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for at in kinds {
            let (kind, counters) = KINDS[at];
            let mut counts = counters(known).snapshot();
            counts.recorded += self.unpublished[at];
            let is_seen = counts.seen > 0 || at == DISPATCHES;
            let totals = [
                ("seen", counts.seen, is_seen),
                ("recorded", counts.recorded, is_seen || counts.recorded > 0),
                ("unnamed", counts.unnamed, counts.unnamed > 0),
            ];
            let totals = totals.into_iter().filter(|row| row.2).map(|(tag, count, _)| (tag, count));
            let lost = counts.lost.iter().map(|&(why, count)| (why.tag(), count));
            let skipped = counts.skipped.iter().map(|&(why, count)| (why.tag(), count));
            let all = totals.chain(lost).chain(skipped);
            rows.extend(all.map(|(tag, count)| (format!("{kind}{tag}"), count.to_string())));
            self.published[at] = counts;
        }
        rows
    }

    /// The rows are in the file now.
    pub(super) fn publish(&mut self, known: &RecorderState) {
        for ((_, counters), rows) in KINDS.iter().zip(&mut self.unpublished) {
            counters(known).record(std::mem::take(rows));
        }
    }

    /// What is not in the file never will be.
    pub(super) fn lose(&mut self, why: Lost, known: &RecorderState) {
        for ((_, counters), rows) in KINDS.iter().zip(&mut self.unpublished) {
            counters(known).lose(why, std::mem::take(rows));
        }
    }

    /// What was in the file is not.
    pub(super) fn lose_recorded(why: Lost, known: &RecorderState) {
        KINDS.iter().for_each(|(_, counters)| counters(known).lose_recorded(why));
    }

    /// Calls that have not returned do not any more.
    pub(super) fn give_up_calls(&self, known: &RecorderState) {
        for (at, counters) in known.calls.iter().enumerate() {
            let missing = counters.snapshot().on_the_way().saturating_sub(self.unpublished[CALLS + at]);
            counters.lose(Lost::Unfinished, missing);
        }
    }

    /// What is still on its way never arrives.
    pub(super) fn lose_the_rest(why: Lost, known: &RecorderState) {
        for (_, counters) in KINDS {
            counters(known).lose(why, counters(known).snapshot().on_the_way());
        }
    }
}

impl<T: Target + Close> Session<T> {
    /// What is of this kind is in the recording, or nothing more is.
    pub(super) fn count(&mut self, kind: usize) {
        match self.over {
            None => self.pending.unpublished[kind] += 1,
            Some(why) => KINDS[kind].1(&self.known).lose(why, 1),
        }
    }

    /// RecordSink the copies and barriers that have come, or counts them as lost.
    pub(super) fn add_copies_and_barriers(&mut self) {
        let mut ops = std::mem::take(&mut self.pending.room);
        self.known.copies_and_barriers.take(&mut ops);
        for op in &ops {
            let kind = usize::from(matches!(op.what, What::Barrier { .. }));
            self.calls.link(Some(kind), op.correlation);
            if self.over.is_none()
                && let Err(error) = self.write_copy_or_barrier(op)
            {
                self.fail(&error);
            }
            self.count(OTHERS + kind);
        }
        ops.clear();
        self.pending.room = ops;
    }

    fn write_copy_or_barrier(&mut self, op: &CopyOrBarrier) -> rtl_schema::Result<()> {
        let queue = match op.what {
            What::Barrier { queue, .. } => Some(queue),
            What::Copy(_) => None,
        };
        self.file.register(op.tid, queue, &self.known)?.push_op(&row(op))?;
        Ok(())
    }
}

fn row(op: &CopyOrBarrier) -> Op {
    let common = Op {
        start: op.start,
        end: Some(op.end),
        range: op.range as i64,
        tid: Some(i64::from(op.tid)),
        correlation: op.correlation as i64,
        enqueued: Some(op.enqueued).filter(|&moment| moment != 0),
        ..Op::default()
    };
    match op.what {
        What::Barrier { queue, gpu } => {
            Op { kind: OpKind::Barrier, gpu: Some(i64::from(gpu)), queue: Some(i64::from(queue.0)), ..common }
        }
        What::Copy(Copy { bytes, source, destination }) => {
            let (kind, own, peer) = match (source, destination) {
                (None, None) => (OpKind::CopyHostToHost, None, None),
                (None, own) => (OpKind::CopyHostToDevice, own, None),
                (own, None) => (OpKind::CopyDeviceToHost, own, None),
                (peer, own) => (OpKind::CopyDeviceToDevice, own, peer),
            };
            Op { kind, gpu: own.map(i64::from), peer: peer.map(i64::from), bytes: Some(bytes), ..common }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(source: Option<u16>, destination: Option<u16>) -> (OpKind, Option<i64>, Option<i64>) {
        let what = What::Copy(Copy { bytes: 64, source, destination });
        let row =
            row(&CopyOrBarrier { start: 5, end: 7, correlation: 1, enqueued: 0, range: 0, tid: 9, what });
        assert_eq!((row.start, row.end, row.bytes), (5, Some(7), Some(64)));
        (row.kind, row.gpu, row.peer)
    }

    #[test]
    fn a_copy_is_on_the_gpu_that_it_goes_to_or_else_comes_from() {
        assert_eq!(copy(None, Some(1)), (OpKind::CopyHostToDevice, Some(1), None));
        assert_eq!(copy(Some(1), None), (OpKind::CopyDeviceToHost, Some(1), None));
        assert_eq!(copy(Some(0), Some(1)), (OpKind::CopyDeviceToDevice, Some(1), Some(0)));
        assert_eq!(copy(Some(1), Some(1)), (OpKind::CopyDeviceToDevice, Some(1), Some(1)));
        assert_eq!(copy(None, None), (OpKind::CopyHostToHost, None, None));
    }
}
