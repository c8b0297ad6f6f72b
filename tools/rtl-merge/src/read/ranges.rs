//! The ids of ranges that each process of a trace has.

use rtl_schema::{Id, ProcessId, Tables};

/// By [`ProcessId`].
#[derive(Debug, Clone, Default)]
pub(crate) struct RangeExtents(pub(crate) Vec<Extent>);

/// The range ids that rows have or are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The least and the greatest one.
    ends: Option<(Id, Id)>,
    /// How many ranges have one.
    ranges: u64,
}

impl Extent {
    #[inline]
    fn add(&mut self, id: Id) {
        if id != 0 {
            self.ends = Some(self.ends.map_or((id, id), |(first, last)| (first.min(id), last.max(id))));
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        let (first, last) = other.ends.unwrap_or_default();
        self.add(first);
        self.add(last);
        self.ranges += other.ranges;
    }

    /// The ends and the number of ids from one to the other, where ranges have at least half of these.
    pub(crate) fn dense(&self) -> Option<(Id, Id, i64)> {
        let (first, last) = self.ends?;
        let ids = last.checked_sub(first)?.checked_add(1)?;
        (ids as u64 <= 2 * self.ranges).then_some((first, last, ids))
    }
}

impl RangeExtents {
    pub(crate) fn add(&mut self, chunk: &Tables) {
        for range in chunk.ranges.iter().filter(|range| range.id != 0) {
            let extent = self.extent(range.process);
            extent.add(range.id);
            extent.ranges += 1;
        }
        let (tracks, dispatches) = (&chunk.tracks, &chunk.dispatches);
        for copy in &chunk.copies {
            self.extent(tracks.get(copy.track).process).add(copy.range);
        }
        if dispatches.range.uniform() == Some(0) {
            return;
        }
        // Most dispatches are in the range of the one before.
        let mut last = None;
        for (&track, range) in dispatches.track.iter().zip(dispatches.range.iter()) {
            if last != Some((track, range)) {
                self.extent(tracks.get(track).process).add(range);
                last = Some((track, range));
            }
        }
    }

    fn extent(&mut self, process: ProcessId) -> &mut Extent {
        let at = process.index();
        if self.0.len() <= at {
            self.0.resize(at + 1, Extent::default());
        }
        &mut self.0[at]
    }
}
