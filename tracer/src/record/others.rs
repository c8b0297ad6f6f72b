//! Copies and barriers as rows.

use calls::Source;
use rtl_write::{Op, OpKind, Target};

use super::Known;
use super::close::Close;
use super::session::Session;
use crate::counters::{Counters, Lost, Snapshot};
use crate::dispatch::QueueOrdinal;
use crate::others::{Copy, Other, What};

/// What is recorded beside dispatches: the word in the tags of the file, and the counts.
const KINDS: [(&str, CountersOf); 4] = [
    ("copies", |known| &known.copies),
    ("barriers", |known| &known.barriers),
    ("hip", |known| &known.calls[Source::Hip as usize]),
    ("hsa", |known| &known.calls[Source::Hsa as usize]),
];

/// Where calls begin among them.
const CALLS: usize = 2;

type CountersOf = fn(&Known) -> &Counters;

/// Copies, barriers and calls in a recording.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Rows that are not published yet, by kind.
    unpublished: [u64; KINDS.len()],
    /// The counts that are published.
    published: [Snapshot; KINDS.len()],
    /// Kept for its room.
    room: Vec<Other>,
}

impl Pending {
    /// Whether any were seen.
    pub(super) fn are_any(known: &Known) -> bool {
        KINDS.iter().any(|(_, counters)| counters(known).snapshot().seen > 0)
    }

    /// Whether the file does not say how many there are.
    pub(super) fn are_news(&self, known: &Known) -> bool {
        let now = KINDS.map(|(_, counters)| counters(known).snapshot());
        self.unpublished.iter().any(|&rows| rows > 0) || now != self.published
    }

    /// The rows that each publication replaces: nothing about kinds that were never seen.
    pub(super) fn closing(&mut self, known: &Known) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for (at, (kind, counters)) in KINDS.iter().enumerate() {
            let mut counts = counters(known).snapshot();
            counts.recorded += self.unpublished[at];
            if counts.seen > 0 {
                let lost = counts.lost.iter().map(|(why, count)| (why.tag(), count));
                let reasons = lost.chain(counts.skipped.iter().map(|(why, count)| (why.tag(), count)));
                rows.push((format!("{kind}_seen"), counts.seen.to_string()));
                rows.push((format!("{kind}_recorded"), counts.recorded.to_string()));
                rows.extend(reasons.map(|(tag, count)| (format!("{kind}_{tag}"), count.to_string())));
            }
            self.published[at] = counts;
        }
        rows
    }

    /// The rows are in the file now.
    pub(super) fn publish(&mut self, known: &Known) {
        for ((_, counters), rows) in KINDS.iter().zip(&mut self.unpublished) {
            counters(known).record(std::mem::take(rows));
        }
    }

    /// What is not in the file never will be.
    pub(super) fn lose(&mut self, why: Lost, known: &Known) {
        for ((_, counters), rows) in KINDS.iter().zip(&mut self.unpublished) {
            counters(known).lose(why, std::mem::take(rows));
        }
    }

    /// What was in the file is not.
    pub(super) fn lose_recorded(why: Lost, known: &Known) {
        KINDS.iter().for_each(|(_, counters)| counters(known).lose_recorded(why));
    }

    /// A call is in the recording, or it was not.
    pub(super) fn add_call(&mut self, source: Source, lost: Option<Lost>, known: &Known) {
        match lost {
            None => self.unpublished[CALLS + source as usize] += 1,
            Some(why) => known.calls[source as usize].lose(why, 1),
        }
    }

    /// Calls that have not returned do not any more.
    pub(super) fn give_up_calls(&self, known: &Known) {
        for (at, counters) in known.calls.iter().enumerate() {
            let missing = counters.snapshot().on_the_way().saturating_sub(self.unpublished[CALLS + at]);
            counters.lose(Lost::Unfinished, missing);
        }
    }

    /// What is still on its way never arrives.
    pub(super) fn lose_the_rest(why: Lost, known: &Known) {
        for (_, counters) in KINDS {
            counters(known).lose(why, counters(known).snapshot().on_the_way());
        }
    }
}

impl<T: Target + Close> Session<T> {
    /// Records the copies and barriers that have come, or counts them as lost.
    pub(super) fn add_others(&mut self) {
        let mut ops = std::mem::take(&mut self.others.room);
        self.known.others.take(&mut ops);
        for op in &ops {
            let kind = usize::from(matches!(op.what, What::Barrier { .. }));
            self.calls.link(Some(kind), op.correlation);
            if self.over.is_none()
                && let Err(error) = self.write_op(&row(op), queue(op), op.tid)
            {
                self.fail(&error);
            }
            match self.over {
                None => self.others.unpublished[kind] += 1,
                Some(why) => KINDS[kind].1(&self.known).lose(why, 1),
            }
        }
        ops.clear();
        self.others.room = ops;
    }
}

fn queue(op: &Other) -> Option<QueueOrdinal> {
    match op.what {
        What::Barrier { queue, .. } => Some(queue),
        What::Copy(_) => None,
    }
}

fn row(op: &Other) -> Op {
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
        let row = row(&Other { start: 5, end: 7, correlation: 1, enqueued: 0, range: 0, tid: 9, what });
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
