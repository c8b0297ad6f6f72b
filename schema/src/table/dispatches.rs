use super::{Barrier, Copy as CopyOp, DetailColumns, Details};
use crate::column_set::columns;
use crate::{CollectiveId, Column, Durations, Id, NameId, OptionalColumn, ShapeId, SymbolId, TrackId};

columns! {
    /// One kernel launch executed by a GPU.
    row Dispatch;
    /// All kernel launches of a trace, in the order of the source.
    table Dispatches;
    columns {
        /// Id of the source, when selected; breaks ties between equal starts.
        id: Id => Column<Id>,
        /// Kernel name as stored; [`crate::identity`] gives the part that identifies the kernel.
        name: NameId => Vec<NameId>,
        /// Track on which it ran.
        track: TrackId => Vec<TrackId>,
        /// Start in ns.
        start: i64 => Vec<i64>,
        /// End minus start in ns: negative as stored, `None` where the end is missing.
        duration: Option<i64> => Durations,
        /// Launching thread.
        tid: Option<i64> => OptionalColumn<i64>,
        /// Correlation id, shared with the launching call; 0 is unknown.
        correlation: Id => Column<Id>,
        /// Id of the innermost range at the launch (roctxId); 0 is none.
        range: Id => Column<Id>,
        /// Launch shape, LDS and scratch, if known.
        shape: Option<ShapeId> => OptionalColumn<ShapeId>,
        /// Loaded kernel with its register counts, if known.
        symbol: Option<SymbolId> => OptionalColumn<SymbolId>,
        /// True for a dispatch of a graph launch (RPD's `Task`).
        graph: bool => Column<bool>,
        /// The columns that our own formats pass on.
        details: Details => DetailColumns,
        /// The collective that it executes, as the framework states it.
        collective: Option<CollectiveId> => OptionalColumn<CollectiveId>,
    }
    extra {}
}

/// The fields that a copy shares with dispatches.
impl From<&CopyOp> for Dispatch {
    fn from(copy: &CopyOp) -> Self {
        let &CopyOp {
            id,
            name,
            track,
            start,
            duration,
            direction: _,
            bytes: _,
            source: _,
            destination: _,
            source_address: _,
            destination_address: _,
            tid,
            correlation,
            range,
            details,
        } = copy;
        Self { id, name, track, start, duration, tid, correlation, range, details, ..Self::default() }
    }
}

/// The fields that a barrier shares with dispatches.
impl From<&Barrier> for Dispatch {
    fn from(barrier: &Barrier) -> Self {
        let &Barrier { id, name, track, start, duration, correlation, details } = barrier;
        Self { id, name, track, start, duration, correlation, details, ..Self::default() }
    }
}

impl Dispatches {
    /// Moves all rows of `other` to the end; tracks and shapes are renumbered by two tables from old to new ids.
    pub fn append(&mut self, other: &mut Self, tracks: &[TrackId], shapes: &[ShapeId]) {
        other.renumber_tracks(tracks);
        other.renumber_shapes(shapes);
        self.append_columns(other);
    }

    fn renumber_shapes(&mut self, shapes: &[ShapeId]) {
        if !is_identity(shapes) {
            self.shape.map(|shape| shape.map(|shape| shapes[shape.index()]));
        }
    }

    /// Renumbers the tracks by a table from old to new ids.
    pub(crate) fn renumber_tracks(&mut self, tracks: &[TrackId]) {
        if !is_identity(tracks) {
            self.track.iter_mut().for_each(|track| *track = tracks[track.index()]);
        }
    }

    /// Keeps the rows whose flag is true.
    pub fn retain(&mut self, keep: &[bool]) {
        self.retain_columns(keep);
    }
}

fn is_identity<I: Copy + Into<u32>>(ids: &[I]) -> bool {
    ids.iter().enumerate().all(|(at, &id)| id.into() as usize == at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_appended_as_their_rows_one_after_the_other() {
        // Several threads copy many rows; the second part makes a column of one value one of several.
        let part = |rows: i64, start: i64| -> Dispatches {
            let row = |row: i64| Dispatch {
                track: TrackId((row % 2) as u32),
                start: start + row,
                duration: (row % 7 > 0).then_some(row * 5_000_000),
                shape: (start > 0).then_some(ShapeId((row % 3) as u32)),
                range: 9,
                ..Dispatch::default()
            };
            (0..rows).map(row).collect()
        };
        let parts = || [part(3, 0), part(0, 5), part(120_000, 10), part(130_000, 20)];
        let (tracks, shapes) = ([TrackId(1), TrackId(0)], [ShapeId(0), ShapeId(2), ShapeId(1)]);
        let renumbered = |row: Dispatch| Dispatch {
            track: tracks[row.track.index()],
            shape: row.shape.map(|shape| shapes[shape.index()]),
            ..row
        };
        let rows = parts().into_iter().flat_map(|part| part.iter().map(renumbered).collect::<Vec<_>>());
        let expected: Dispatches = rows.collect();
        let mut found = Dispatches::default();
        for mut part in parts() {
            found.append(&mut part, &tracks, &shapes);
            assert!(part.is_empty());
        }
        assert_eq!(found, expected);
        let first = Dispatch {
            start: 10,
            track: TrackId(1),
            shape: Some(ShapeId(0)),
            range: 9,
            ..Dispatch::default()
        };
        assert_eq!([found.get(3), found.get(120_003)], [first, Dispatch { start: 20, ..first }]);
    }
}
