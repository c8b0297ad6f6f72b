//! Columns of optional values that take no more memory than the values.

use std::collections::BTreeSet;

use crate::column::Storage;
use crate::{CollectiveId, Column, ShapeId, SymbolId};

/// A type with a rare value, which marks rows without one.
pub trait Sentinel: Copy + Default + PartialEq {
    /// The value that rows without one store.
    const SENTINEL: Self;

    /// The value of a row that stores this, of a type that never has the sentinel as its value.
    #[inline]
    fn known(self) -> Option<Self> {
        (self != Self::SENTINEL).then_some(self)
    }
}

macro_rules! sentinels {
    ($($type:ty: $sentinel:expr;)*) => {
        $(impl Sentinel for $type {
            const SENTINEL: Self = $sentinel;
        })*
    };
}
sentinels! {
    i64: i64::MIN;
    u32: u32::MAX;
    ShapeId: Self(u32::MAX);
    SymbolId: Self(u32::MAX);
    CollectiveId: Self(u32::MAX);
}

/// One value per row, or none, in the memory of a [`Column`] of plain values: 8 bytes a row of times, 4 of ids. A side
/// table holds the rows whose value is the sentinel.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionalColumn<T> {
    stored: Column<T>,
    sentinels: Sentinels,
}

/// The rows that store the sentinel as their value.
#[derive(Debug, Clone, Default, PartialEq)]
struct Sentinels(BTreeSet<usize>);

impl Sentinels {
    /// The value of a row that stores `stored`.
    #[inline]
    fn decode<T: Sentinel>(&self, row: usize, stored: T) -> Option<T> {
        (stored != T::SENTINEL || (!self.0.is_empty() && self.contains(row))).then_some(stored)
    }

    /// Gives the value that a row stores for `value`.
    #[inline]
    fn encode<T: Sentinel>(&mut self, row: usize, value: Option<T>) -> T {
        if value == Some(T::SENTINEL) {
            self.insert(row);
        } else if !self.0.is_empty() {
            self.remove(row);
        }
        value.unwrap_or(T::SENTINEL)
    }

    // Calls, because inlined they would slow down the usual columns, which lack such rows.
    #[cold]
    #[inline(never)]
    fn contains(&self, row: usize) -> bool {
        self.0.contains(&row)
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, row: usize) {
        self.0.insert(row);
    }

    #[cold]
    #[inline(never)]
    fn remove(&mut self, row: usize) {
        self.0.remove(&row);
    }
}

impl<T: Sentinel> Default for OptionalColumn<T> {
    fn default() -> Self {
        Self::repeat(None, 0)
    }
}

impl<T: Sentinel> OptionalColumn<T> {
    /// `len` rows that all hold `value`.
    fn repeat(value: Option<T>, len: usize) -> Self {
        let sentinels = if value == Some(T::SENTINEL) { (0..len).collect() } else { BTreeSet::new() };
        let stored = Column::Uniform { value: value.unwrap_or(T::SENTINEL), len };
        Self { stored, sentinels: Sentinels(sentinels) }
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, new: Option<T>) {
        let stored = new.unwrap_or(T::SENTINEL);
        if stored == T::SENTINEL && new.is_some() {
            self.push_sentinel();
        } else {
            self.stored.push(stored);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_sentinel(&mut self) {
        self.sentinels.insert(self.len());
        self.stored.push(T::SENTINEL);
    }

    /// The value of row `row`.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        self.sentinels.decode(row, self.stored.get(row))
    }

    /// Replaces the value of row `row`.
    pub fn set(&mut self, row: usize, new: Option<T>) {
        self.stored.to_mut()[row] = self.sentinels.encode(row, new);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// The value of all rows, where there are rows and all have the same.
    pub fn uniform(&self) -> Option<Option<T>> {
        let value = self.stored.uniform()?;
        match self.sentinels.0.len() {
            0 => Some((value != T::SENTINEL).then_some(value)),
            rows => (rows == self.len()).then_some(Some(value)),
        }
    }

    /// All values in row order.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Replaces every value by what `map` makes of it.
    pub fn map(&mut self, map: impl Fn(Option<T>) -> Option<T>) {
        match self.uniform() {
            Some(value) => *self = Self::repeat(map(value), self.len()),
            None => {
                for (row, stored) in self.stored.to_mut().iter_mut().enumerate() {
                    *stored = self.sentinels.encode(row, map(self.sentinels.decode(row, *stored)));
                }
            }
        }
    }
}

impl<T: Sentinel> FromIterator<Option<T>> for OptionalColumn<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Self {
        let mut column = Self::default();
        values.into_iter().for_each(|value| column.push(value));
        column
    }
}

impl<T: Sentinel> Storage<Option<T>> for OptionalColumn<T> {
    type Stored = T;
    const IS_SPARSE: bool = true;

    #[inline(always)]
    fn stored(value: Option<T>) -> Option<T> {
        match value {
            None => Some(T::SENTINEL),
            Some(value) => value.known(),
        }
    }

    fn extend_stored(&mut self, stored: &[T]) {
        self.stored.extend_from_slice(stored);
    }

    fn extend_default(&mut self, rows: usize) {
        self.append(&mut Self::repeat(None, rows));
    }

    #[inline(always)]
    fn push(&mut self, value: Option<T>) {
        Self::push(self, value);
    }

    #[inline(always)]
    fn value(&self, row: usize) -> Option<T> {
        self.get(row)
    }

    fn append(&mut self, other: &mut Self) {
        let Self { mut stored, sentinels } = std::mem::take(other);
        let offset = self.len();
        self.stored.append(&mut stored);
        self.sentinels.0.extend(sentinels.0.into_iter().map(|row| row + offset));
    }

    fn bytes(&self) -> usize {
        self.stored.bytes()
    }

    fn shrink(&mut self) {
        self.stored.shrink();
    }

    fn retain(&mut self, keep: &[bool]) {
        if self.sentinels.0.is_empty() {
            self.stored.retain(keep);
        } else {
            *self = self.iter().zip(keep).filter_map(|(value, &kept)| kept.then_some(value)).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn optional_values_take_the_memory_of_plain_ones() {
        let times: OptionalColumn<i64> = [Some(1), None, Some(i64::MAX)].into_iter().collect();
        assert_eq!((times.bytes(), times.uniform()), (3 * 8, None));
        let shapes: OptionalColumn<ShapeId> = [Some(ShapeId(0)), None].into_iter().collect();
        assert_eq!(shapes.bytes(), 2 * 4);
        let unknown: OptionalColumn<i64> = [None, None].into_iter().collect();
        assert_eq!((unknown.bytes(), unknown.uniform()), (0, Some(None)));
    }

    #[test]
    fn a_value_that_is_the_sentinel_is_not_taken_for_a_missing_one() {
        let extreme: OptionalColumn<i64> = [Some(i64::MIN), Some(i64::MIN)].into_iter().collect();
        assert_eq!(extreme.uniform(), Some(Some(i64::MIN)));
        let mut mixed: OptionalColumn<i64> = [None, Some(i64::MIN)].into_iter().collect();
        assert_eq!((mixed.uniform(), mixed.get(0), mixed.get(1)), (None, None, Some(i64::MIN)));
        mixed.set(1, None);
        assert_eq!(mixed.iter().collect::<Vec<_>>(), [None, None]);
    }

    /// A change of a column, of which rows count modulo its length.
    #[derive(Debug, Clone)]
    enum Change {
        Push(Option<i64>),
        Append(Vec<Option<i64>>),
        Extend(Vec<Option<i64>>),
        Set(usize, Option<i64>),
        /// The first value becomes the second one.
        Map(Option<i64>, Option<i64>),
        Retain(Vec<bool>),
    }

    /// Few distinct values, so that columns of one value, and with the sentinel, are common.
    fn value() -> impl Strategy<Value = Option<i64>> {
        prop::sample::select(vec![None, Some(i64::MIN), Some(i64::MIN + 1), Some(0), Some(i64::MAX)])
    }

    fn change() -> impl Strategy<Value = Change> {
        let similar = (value(), prop::collection::vec(value(), 0..3));
        prop_oneof![
            value().prop_map(Change::Push),
            similar.prop_map(|(first, others)| Change::Append([vec![first; 3], others].concat())),
            prop::collection::vec(value(), 0..4).prop_map(Change::Extend),
            (any::<usize>(), value()).prop_map(|(row, new)| Change::Set(row, new)),
            (value(), value()).prop_map(|(old, new)| Change::Map(old, new)),
            prop::collection::vec(any::<bool>(), 4).prop_map(Change::Retain),
        ]
    }

    proptest! {
        #[test]
        fn a_column_has_the_values_of_a_vector_with_the_same_changes(
            changes in prop::collection::vec(change(), 0..12),
        ) {
            let mut column = OptionalColumn::default();
            let mut expected: Vec<Option<i64>> = Vec::new();
            for change in changes {
                match change {
                    Change::Push(new) => {
                        column.push(new);
                        expected.push(new);
                    }
                    Change::Append(other) => {
                        column.append(&mut other.iter().copied().collect());
                        expected.extend(other);
                    }
                    Change::Extend(mut other) => {
                        other.retain(|value| *value != Some(i64::SENTINEL));
                        let stored = other.iter().filter_map(|&value| OptionalColumn::stored(value));
                        column.extend_stored(&stored.collect::<Vec<_>>());
                        expected.extend(other);
                    }
                    Change::Set(..) if expected.is_empty() => {}
                    Change::Set(row, new) => {
                        let row = row % expected.len();
                        column.set(row, new);
                        expected[row] = new;
                    }
                    Change::Map(old, new) => {
                        let map = |value| if value == old { new } else { value };
                        column.map(map);
                        expected.iter_mut().for_each(|value| *value = map(*value));
                    }
                    Change::Retain(pattern) => {
                        let keep: Vec<bool> = pattern.into_iter().cycle().take(expected.len()).collect();
                        column.retain(&keep);
                        Storage::retain(&mut expected, &keep);
                    }
                }
                prop_assert_eq!(column.len(), expected.len());
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), expected.clone());
                if let Some(value) = column.uniform() {
                    prop_assert!(expected.iter().all(|&other| other == value));
                }
            }
        }
    }
}
