//! Counts of all kinds of rows, both published ones and those that wait for the next publication.

use std::ops::Range;

use crate::base::call_interface::Source;
use crate::base::counters::{Counters, Lost, Snapshot};
use crate::collect::copy_or_barrier::CopyOrBarrier;
use crate::collect::recorder_state::RecorderState;

/// The kinds of rows: the beginning of their tags in the file, and their counters.
const KINDS: [(&str, CountersOf); 7] = [
    ("", |known| &known.counters),
    ("ranges_", |known| &known.ranges),
    ("copies_", |known| &known.copies),
    ("barriers_", |known| &known.barriers),
    ("hip_", |known| &known.calls[Source::Hip as usize]),
    ("hsa_", |known| &known.calls[Source::Hsa as usize]),
    ("packets_", |known| &known.packets),
];

/// The places of the kinds: dispatches, ranges and markers, copies with barriers behind them, calls, and the end.
pub(super) const DISPATCHES: usize = 0;
pub(super) const RANGES: usize = 1;
pub(super) const OTHERS: usize = 2;
pub(super) const CALLS: usize = 4;
pub(super) const ALL: usize = KINDS.len();

type CountersOf = fn(&RecorderState) -> &Counters;

#[derive(Debug, Default)]
pub(super) struct PendingCounts {
    /// Rows that are not published yet, by kind.
    pub(super) unpublished: [u64; KINDS.len()],
    /// The counts that are published.
    published: [Snapshot; KINDS.len()],
    /// Empty between uses, kept for its capacity.
    pub(super) room: Vec<CopyOrBarrier>,
}

impl PendingCounts {
    /// True if an op of any kind was seen.
    pub(super) fn are_any(known: &RecorderState) -> bool {
        KINDS.iter().any(|(_, counters)| counters(known).snapshot().seen > 0)
    }

    /// True if the file would have nothing to report.
    pub(super) fn are_none(known: &RecorderState) -> bool {
        KINDS.iter().all(|(_, counters)| counters(known).snapshot() == Snapshot::default())
    }

    /// True if the file lacks rows or has older counts.
    pub(super) fn have_changed(&self, known: &RecorderState) -> bool {
        let now = KINDS.map(|(_, counters)| counters(known).snapshot());
        self.unpublished.iter().any(|&rows| rows > 0) || now != self.published
    }

    /// The rows that each publication replaces. Kinds that were never seen have none, except dispatches.
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

    /// Called when the rows are in the file.
    pub(super) fn publish(&mut self, known: &RecorderState) {
        for ((_, counters), rows) in KINDS.iter().zip(&mut self.unpublished) {
            counters(known).record(std::mem::take(rows));
        }
    }

    /// Counts unpublished rows as lost.
    pub(super) fn lose(&mut self, why: Lost, known: &RecorderState) {
        for ((_, counters), rows) in KINDS.iter().zip(&mut self.unpublished) {
            counters(known).lose(why, std::mem::take(rows));
        }
    }

    /// Counts rows that were in the file as lost.
    pub(super) fn lose_recorded(why: Lost, known: &RecorderState) {
        KINDS.iter().for_each(|(_, counters)| counters(known).lose_recorded(why));
    }

    /// Counts calls that have not returned, which are not recorded any more.
    pub(super) fn give_up_calls(&self, known: &RecorderState) {
        for (at, counters) in known.calls.iter().enumerate() {
            let missing = counters.snapshot().on_the_way().saturating_sub(self.unpublished[CALLS + at]);
            counters.lose(Lost::Unfinished, missing);
        }
    }

    /// Counts ops in flight as lost.
    pub(super) fn lose_the_rest(why: Lost, known: &RecorderState) {
        for (_, counters) in KINDS {
            counters(known).lose(why, counters(known).snapshot().on_the_way());
        }
    }
    pub(super) fn lose_one(kind: usize, why: Lost, known: &RecorderState) {
        KINDS[kind].1(known).lose(why, 1);
    }
}
