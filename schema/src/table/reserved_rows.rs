use std::collections::BTreeMap;
use std::mem::take;

use platform::large_pages;

use super::Dispatches;
use crate::{Column, Durations, Id, NameId, OptionalColumn, ShapeId, TrackId};

/// Memory for the columns of dispatches that most traces have, into which several threads copy rows. It takes no pages before these do.
#[derive(Debug)]
pub(crate) struct ReservedRows {
    names: Vec<u32>,
    tracks: Vec<u32>,
    starts: Vec<i64>,
    durations: Vec<u32>,
    ranges: Vec<Id>,
    shapes: Vec<u32>,
}

/// The rows of it that are free.
#[derive(Debug, Default)]
pub(crate) struct FreeRows<'a> {
    names: &'a mut [u32],
    tracks: &'a mut [u32],
    starts: &'a mut [i64],
    durations: &'a mut [u32],
    ranges: &'a mut [Id],
    shapes: &'a mut [u32],
    taken: Taken,
}

/// What is known of the taken rows besides their values.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    rows: usize,
    /// Durations that do not fit in four bytes.
    other: BTreeMap<u32, Option<i64>>,
    range: Sameness<Id>,
    shape: Sameness<u32>,
}

/// Whether the rows of a column differ: before they do, none is written.
#[derive(Debug, Default)]
struct Sameness<T> {
    /// The value of all rows, or of those before `end`.
    value: Option<T>,
    /// The first row that is written.
    end: Option<usize>,
}

/// The place of the rows of one part. A column is `None` where it is not to be written.
#[derive(Debug)]
pub(crate) struct TakenRows<'a> {
    names: &'a mut [u32],
    tracks: &'a mut [u32],
    starts: &'a mut [i64],
    durations: &'a mut [u32],
    ranges: Option<&'a mut [Id]>,
    shapes: Option<&'a mut [u32]>,
}

impl ReservedRows {
    /// Memory for `rows` rows at most.
    pub(crate) fn of(rows: usize) -> Self {
        Self {
            names: large_pages::wanted(vec![0; rows]),
            tracks: large_pages::wanted(vec![0; rows]),
            starts: large_pages::wanted(vec![0; rows]),
            durations: large_pages::wanted(vec![0; rows]),
            ranges: large_pages::wanted(vec![0; rows]),
            shapes: large_pages::wanted(vec![0; rows]),
        }
    }

    /// All rows.
    pub(crate) fn free(&mut self) -> FreeRows<'_> {
        let Self { names, tracks, starts, durations, ranges, shapes } = self;
        FreeRows { names, tracks, starts, durations, ranges, shapes, taken: Taken::default() }
    }

    /// Gives the taken rows to `dispatches`, which have their other columns.
    pub(crate) fn fill(mut self, taken: Taken, dispatches: &mut Dispatches) {
        let Taken { rows, other, range, shape } = taken;
        self.names.truncate(rows);
        self.tracks.truncate(rows);
        self.starts.truncate(rows);
        self.durations.truncate(rows);
        // Without a copy: the values have the layout of their ids.
        dispatches.name = self.names.into_iter().map(NameId).collect();
        dispatches.track = self.tracks.into_iter().map(TrackId).collect();
        dispatches.start = self.starts;
        dispatches.duration = Durations::of(self.durations, other);
        dispatches.range = range.column(self.ranges, rows);
        dispatches.shape = OptionalColumn::of(match shape.column(self.shapes, rows) {
            Column::Uniform { value, len } => Column::Uniform { value: ShapeId(value), len },
            Column::Values(values) => Column::Values(values.into_iter().map(ShapeId).collect()),
        });
    }
}

impl<'a> FreeRows<'a> {
    /// The place of the next rows, those of `part`, whose shapes have new ids; `None` where there is none.
    pub(crate) fn take(&mut self, part: &Dispatches, shapes: &[ShapeId]) -> Option<TakenRows<'a>> {
        let Taken { rows, other, range, shape } = &mut self.taken;
        let (first, added) = (*rows, part.len());
        let place = TakenRows {
            names: split(&mut self.names, added)?,
            tracks: split(&mut self.tracks, added)?,
            starts: split(&mut self.starts, added)?,
            durations: split(&mut self.durations, added)?,
            ranges: split(&mut self.ranges, added)
                .filter(|_| added > 0 && range.ends(first, part.range.uniform())),
            shapes: split(&mut self.shapes, added).filter(|_| {
                let value = part.shape.stored().uniform();
                added > 0 && shape.ends(first, value.map(|value| renumbered(value, shapes)))
            }),
        };
        other.extend(part.duration.other().map(|(row, duration)| (first as u32 + row, duration)));
        *rows += added;
        Some(place)
    }

    /// What [`ReservedRows::fill`] needs.
    pub(crate) fn taken(self) -> Taken {
        self.taken
    }
}

impl<T: Copy + PartialEq + Default> Sameness<T> {
    /// Whether the rows from `first` on, which may all have one value, have to be written.
    fn ends(&mut self, first: usize, value: Option<T>) -> bool {
        let known = *self.value.get_or_insert(value.unwrap_or_default());
        if self.end.is_none() && value != Some(known) {
            self.end = Some(first);
        }
        self.end.is_some()
    }

    /// The column of the rows that were written.
    fn column(self, mut values: Vec<T>, rows: usize) -> Column<T> {
        let value = self.value.unwrap_or_default();
        let Some(end) = self.end else { return Column::Uniform { value, len: rows } };
        values.truncate(rows);
        values[..end].fill(value);
        Column::Values(values)
    }
}

impl TakenRows<'_> {
    /// Copies the rows of the part, whose tracks and shapes have new ids, and removes them from it.
    pub(crate) fn copy(self, part: &mut Dispatches, tracks: &[TrackId], shapes: &[ShapeId]) {
        self.names.iter_mut().zip(&part.name).for_each(|(to, name)| *to = name.0);
        self.tracks.iter_mut().zip(&part.track).for_each(|(to, track)| *to = tracks[track.index()].0);
        self.starts.copy_from_slice(&part.start);
        self.durations.copy_from_slice(part.duration.short());
        if let Some(ranges) = self.ranges {
            match &part.range {
                Column::Uniform { value, .. } => ranges.fill(*value),
                Column::Values(values) => ranges.copy_from_slice(values),
            }
        }
        if let Some(to) = self.shapes {
            match part.shape.stored() {
                Column::Uniform { value, .. } => to.fill(renumbered(*value, shapes)),
                Column::Values(values) => {
                    to.iter_mut().zip(values).for_each(|(to, shape)| *to = renumbered(*shape, shapes));
                }
            }
        }
        part.clear_reserved();
    }
}

/// The new id of a stored shape; those without a place in `ids`, and the sentinel, keep theirs.
#[inline]
fn renumbered(shape: ShapeId, ids: &[ShapeId]) -> u32 {
    ids.get(shape.index()).copied().unwrap_or(shape).0
}

/// Takes the first `rows` values off a slice that is as long.
fn split<'a, T>(slice: &mut &'a mut [T], rows: usize) -> Option<&'a mut [T]> {
    let (first, rest) = take(slice).split_at_mut_checked(rows)?;
    *slice = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Dispatch;

    /// Few values, so that columns of one value are common.
    fn row() -> impl Strategy<Value = Dispatch> {
        let duration = prop::sample::select(vec![Some(7), Some(5_000_000_000), Some(-3), None]);
        let shape = prop::sample::select(vec![None, None, None, Some(ShapeId(0)), Some(ShapeId(1))]);
        (0_u32..5, 0_u32..2, 0_i64..9, duration, prop::sample::select(vec![0, 0, 0, 6]), shape).prop_map(
            |(name, track, start, duration, range, shape)| Dispatch {
                name: NameId(name),
                track: TrackId(track),
                start,
                duration,
                range,
                shape,
                tid: Some(start),
                ..Dispatch::default()
            },
        )
    }

    proptest! {
        #[test]
        fn rows_that_parts_copy_in_any_order_are_those_of_the_parts_in_theirs(
            rows in prop::collection::vec(prop::collection::vec(row(), 0..4), 0..6),
            range in prop::sample::select(vec![None, Some(0), Some(6)]),
            rotation in 0_usize..6,
        ) {
            let rows: Vec<Vec<Dispatch>> = rows
                .into_iter()
                .map(|rows| rows.into_iter().map(|row| Dispatch { range: range.unwrap_or(row.range), ..row }).collect())
                .collect();
            let (tracks, shapes) = ([TrackId(7), TrackId(3)], [ShapeId(4), ShapeId(2)]);
            let mut parts: Vec<Dispatches> = rows.iter().map(|rows| rows.iter().copied().collect()).collect();
            let mut reserved = ReservedRows::of(rows.iter().map(Vec::len).sum());
            let mut found = Dispatches::default();
            let mut free = reserved.free();
            let places: Vec<_> = parts.iter().map(|part| free.take(part, &shapes).unwrap()).collect();
            prop_assert!(free.take(&[Dispatch::default()].into_iter().collect(), &shapes).is_none());
            parts.iter_mut().for_each(|part| found.append_others(part));
            let mut copies: Vec<_> = places.into_iter().zip(&mut parts).collect();
            copies.rotate_left(rotation.min(rows.len()));
            for (place, part) in copies {
                place.copy(part, &tracks, &shapes);
                prop_assert!(part.is_empty());
            }
            let taken = free.taken();
            reserved.fill(taken, &mut found);
            let renumbered = |row: Dispatch| Dispatch {
                track: tracks[row.track.index()],
                shape: row.shape.map(|shape| shapes[shape.index()]),
                ..row
            };
            let rows: Vec<_> = rows.into_iter().flatten().map(renumbered).collect();
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), rows.clone());
            let same = rows.iter().all(|row| row.range == rows[0].range);
            prop_assert_eq!(found.range.uniform().is_some(), same && !rows.is_empty());
        }
    }
}
