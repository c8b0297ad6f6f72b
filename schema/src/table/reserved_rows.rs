use std::collections::BTreeMap;
use std::mem::take;

use super::Dispatches;
use crate::{Durations, NameId, TrackId};

/// Memory for the names, tracks and times of dispatches, into which several threads copy rows. It takes no pages before these do.
#[derive(Debug)]
pub(crate) struct ReservedRows {
    names: Vec<u32>,
    tracks: Vec<u32>,
    starts: Vec<i64>,
    durations: Vec<u32>,
}

/// The rows of it that are free.
#[derive(Debug, Default)]
pub(crate) struct FreeRows<'a> {
    slices: RowSlices<'a>,
    taken: usize,
    /// Durations of taken rows that do not fit in four bytes.
    other: BTreeMap<u32, Option<i64>>,
}

#[derive(Debug, Default)]
struct RowSlices<'a> {
    names: &'a mut [u32],
    tracks: &'a mut [u32],
    starts: &'a mut [i64],
    durations: &'a mut [u32],
}

/// The place of the rows of one part.
#[derive(Debug)]
pub(crate) struct TakenRows<'a>(RowSlices<'a>);

impl ReservedRows {
    /// Memory for `rows` rows at most.
    pub(crate) fn of(rows: usize) -> Self {
        Self { names: vec![0; rows], tracks: vec![0; rows], starts: vec![0; rows], durations: vec![0; rows] }
    }

    /// All rows.
    pub(crate) fn free(&mut self) -> FreeRows<'_> {
        let Self { names, tracks, starts, durations } = self;
        FreeRows { slices: RowSlices { names, tracks, starts, durations }, ..FreeRows::default() }
    }

    /// Gives the taken rows to `dispatches`, which have their other columns.
    pub(crate) fn fill(
        self,
        (rows, other): (usize, BTreeMap<u32, Option<i64>>),
        dispatches: &mut Dispatches,
    ) {
        let Self { mut names, mut tracks, mut starts, mut durations } = self;
        names.truncate(rows);
        tracks.truncate(rows);
        starts.truncate(rows);
        durations.truncate(rows);
        // Without a copy: the values have the layout of their ids.
        dispatches.name = names.into_iter().map(NameId).collect();
        dispatches.track = tracks.into_iter().map(TrackId).collect();
        dispatches.start = starts;
        dispatches.duration = Durations::of(durations, other);
    }
}

impl<'a> FreeRows<'a> {
    /// The place of the next rows, those of `part`; `None` where there is none.
    pub(crate) fn take(&mut self, part: &Dispatches) -> Option<TakenRows<'a>> {
        let rows = part.len();
        let RowSlices { names, tracks, starts, durations } = take(&mut self.slices);
        let (names, other_names) = names.split_at_mut_checked(rows)?;
        let (tracks, other_tracks) = tracks.split_at_mut_checked(rows)?;
        let (starts, other_starts) = starts.split_at_mut_checked(rows)?;
        let (durations, other_durations) = durations.split_at_mut_checked(rows)?;
        self.slices = RowSlices {
            names: other_names,
            tracks: other_tracks,
            starts: other_starts,
            durations: other_durations,
        };
        let first = self.taken as u32;
        self.other.extend(part.duration.other().map(|(row, duration)| (first + row, duration)));
        self.taken += rows;
        Some(TakenRows(RowSlices { names, tracks, starts, durations }))
    }

    /// The number of rows that were taken, and their durations that do not fit in four bytes.
    pub(crate) fn taken(self) -> (usize, BTreeMap<u32, Option<i64>>) {
        (self.taken, self.other)
    }
}

impl TakenRows<'_> {
    /// Copies the rows of the part, whose tracks have new ids, and removes them from it.
    pub(crate) fn copy(self, part: &mut Dispatches, ids: &[TrackId]) {
        let RowSlices { names, tracks, starts, durations } = self.0;
        names.iter_mut().zip(&part.name).for_each(|(to, name)| *to = name.0);
        tracks.iter_mut().zip(&part.track).for_each(|(to, track)| *to = ids[track.index()].0);
        starts.copy_from_slice(&part.start);
        durations.copy_from_slice(part.duration.short());
        part.clear_times();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Dispatch;

    #[test]
    fn rows_copied_by_parts_in_any_order_are_those_of_the_parts_in_theirs() {
        let row = |row: i64| Dispatch {
            name: NameId(row as u32 % 5),
            track: TrackId(row as u32 % 2),
            start: row * 10,
            duration: (row % 3 > 0).then_some(row * 1_000_000_000),
            tid: Some(row),
            ..Dispatch::default()
        };
        let mut parts = [0..3, 3..3, 3..10].map(|rows| rows.map(row).collect::<Dispatches>());
        let ids = [TrackId(7), TrackId(3)];
        let mut reserved = ReservedRows::of(10);
        let mut found = Dispatches::default();
        let mut free = reserved.free();
        let places: Vec<_> = parts.iter().map(|part| free.take(part).unwrap()).collect();
        assert!(free.take(&(0..1).map(row).collect()).is_none());
        for part in &mut parts {
            found.append_others(part, &[]);
        }
        for (place, part) in places.into_iter().zip(&mut parts).rev() {
            place.copy(part, &ids);
            assert!(part.is_empty());
        }
        let taken = free.taken();
        reserved.fill(taken, &mut found);
        let renumbered = |row: Dispatch| Dispatch { track: ids[row.track.index()], ..row };
        assert_eq!(found, (0..10).map(row).map(renumbered).collect());
    }
}
