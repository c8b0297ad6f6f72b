//! Columns that take no memory while every row has the same value.

use std::collections::BTreeMap;

/// One value per row. While all rows have the same value it is stored once, so a column that a dialect lacks (all
/// `None`, all zero) takes no memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Column<T> {
    /// `len` rows that all hold `value`.
    Uniform {
        /// The value of every row.
        value: T,
        /// The number of rows.
        len: usize,
    },
    /// One value for each row.
    Values(Vec<T>),
}

impl<T: Copy + Default + PartialEq> Default for Column<T> {
    fn default() -> Self {
        Self::Uniform { value: T::default(), len: 0 }
    }
}

impl<T: Copy + Default + PartialEq> Column<T> {
    /// Appends a row.
    #[inline]
    pub fn push(&mut self, new: T) {
        match self {
            Self::Values(values) => values.push(new),
            Self::Uniform { value, len } if *value == new => *len += 1,
            Self::Uniform { value, len: len @ 0 } => {
                *value = new;
                *len = 1;
            }
            Self::Uniform { .. } => self.push_first_other(new),
        }
    }

    /// Appends rows.
    pub(crate) fn extend_from_slice(&mut self, new: &[T]) {
        match (&mut *self, new) {
            (_, []) => {}
            (Self::Values(values), _) => values.extend_from_slice(new),
            (Self::Uniform { value, len }, [first, ..])
                if (*len == 0 || *first == *value) && new.iter().all(|other| other == first) =>
            {
                *value = *first;
                *len += new.len();
            }
            _ => self.to_mut().extend_from_slice(new),
        }
    }

    /// Appends the first row with another value: a call, so that the usual case is short.
    #[cold]
    #[inline(never)]
    fn push_first_other(&mut self, new: T) {
        self.to_mut().push(new);
    }

    /// The value of row `row`.
    #[inline]
    pub fn get(&self, row: usize) -> T {
        match self {
            Self::Uniform { value, .. } => *value,
            Self::Values(values) => values[row],
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Uniform { len, .. } => *len,
            Self::Values(values) => values.len(),
        }
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of all rows, where there are rows and all have the same.
    pub fn uniform(&self) -> Option<T> {
        match self {
            Self::Uniform { value, len } if *len > 0 => Some(*value),
            _ => None,
        }
    }

    /// All values in row order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// True where `is_so` holds for every value; a uniform column asks it once.
    pub fn all(&self, mut is_so: impl FnMut(T) -> bool) -> bool {
        match self {
            Self::Uniform { value, len } => *len == 0 || is_so(*value),
            Self::Values(values) => values.iter().all(|&value| is_so(value)),
        }
    }

    /// Replaces every value by what `map` makes of it.
    pub fn map(&mut self, map: impl Fn(T) -> T) {
        match self {
            Self::Uniform { value, .. } => *value = map(*value),
            Self::Values(values) => values.iter_mut().for_each(|value| *value = map(*value)),
        }
    }

    /// The values as a vector with one entry per row, to change in place.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Self::Uniform { value, len } = self {
            *self = Self::Values(vec![*value; *len]);
        }
        match self {
            Self::Values(values) => values,
            Self::Uniform { .. } => unreachable!("made a vector just above"),
        }
    }
}

impl<T: Copy + Default + PartialEq> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Self::default();
        values.into_iter().for_each(|value| column.push(value));
        column
    }
}

/// Durations in ns, four bytes each. A side table holds those that do not fit: 4.29 s and more, negative, missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durations {
    short: Vec<u32>,
    other: BTreeMap<u32, Option<i64>>,
}

/// Marks a row whose value is in the side table.
pub(crate) const ESCAPE: u32 = u32::MAX;

impl Durations {
    /// Appends a row; `None` is an unknown end, a negative value an end before the start.
    #[inline]
    pub fn push(&mut self, duration: Option<i64>) {
        match duration.map(u32::try_from) {
            Some(Ok(short)) if short != ESCAPE => self.short.push(short),
            _ => {
                self.other.insert(self.short.len() as u32, duration);
                self.short.push(ESCAPE);
            }
        }
    }

    /// The duration as stored: negative where the end is before the start, `None` where the end is missing.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        match self.short[row] {
            ESCAPE => self.other.get(&(row as u32)).copied().flatten(),
            short => Some(i64::from(short)),
        }
    }

    /// The duration if it is known and not negative.
    #[inline]
    pub fn valid(&self, row: usize) -> Option<i64> {
        self.get(row).filter(|&duration| duration >= 0)
    }

    /// True where every row is a known duration below 4.29 s, so that [`Self::short`] holds all of them.
    pub fn all_short(&self) -> bool {
        self.other.is_empty()
    }

    /// The rows that [`Self::short`] does not hold, in order: 4.29 s and more, negative, or missing.
    pub fn unusual(&self) -> impl Iterator<Item = (usize, Option<i64>)> {
        self.other.iter().map(|(&row, &duration)| (row as usize, duration))
    }

    /// The rows without an end, in order.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        self.unusual().filter_map(|(row, duration)| duration.is_none().then_some(row))
    }

    /// The four-byte values; rows that did not fit read `u32::MAX`.
    pub fn short(&self) -> &[u32] {
        &self.short
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.short.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.short.is_empty()
    }
}

impl FromIterator<Option<i64>> for Durations {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(values: I) -> Self {
        let mut durations = Self::default();
        values.into_iter().for_each(|value| durations.push(value));
        durations
    }
}

/// The operations of a table on each of its columns, whatever their storage.
pub(crate) trait Storage<T> {
    /// How usual values are stored.
    type Stored: std::marker::Copy + Default + PartialEq;
    /// True of storages that are short where all rows have the default value.
    const IS_SPARSE: bool;

    /// `None` of a value that only [`Self::push`] takes.
    fn stored(value: T) -> Option<Self::Stored>;
    /// Appends usual values.
    fn extend_stored(&mut self, stored: &[Self::Stored]);
    /// Appends rows with the default value to a sparse storage.
    fn extend_default(&mut self, rows: usize);
    /// Appends any value.
    fn push(&mut self, value: T);
    /// The value of row `row`.
    fn value(&self, row: usize) -> T;
    /// Moves all values of `other` to the end. They are not copied into a column without rows.
    fn append(&mut self, other: &mut Self);
    /// The memory of its values.
    fn bytes(&self) -> usize;
    /// Gives back the room for further rows.
    fn shrink(&mut self);
    /// Keeps the rows whose flag is true.
    fn retain(&mut self, keep: &[bool]);
}

impl<T: Copy + Default + PartialEq> Storage<T> for Column<T> {
    type Stored = T;
    const IS_SPARSE: bool = true;

    #[inline(always)]
    fn stored(value: T) -> Option<T> {
        Some(value)
    }

    fn extend_stored(&mut self, stored: &[T]) {
        self.extend_from_slice(stored);
    }

    fn extend_default(&mut self, rows: usize) {
        self.append(&mut Self::Uniform { value: T::default(), len: rows });
    }

    #[inline(always)]
    fn push(&mut self, value: T) {
        Self::push(self, value);
    }

    #[inline(always)]
    fn value(&self, row: usize) -> T {
        self.get(row)
    }

    fn append(&mut self, other: &mut Self) {
        match (&mut *self, std::mem::take(other)) {
            (own, other) if own.is_empty() => *own = other,
            (_, other) if other.is_empty() => {}
            (Self::Uniform { value: own, len }, Self::Uniform { value, len: rows }) if *own == value => {
                *len += rows;
            }
            (own, Self::Uniform { value, len: rows }) => {
                let values = own.to_mut();
                values.resize(values.len() + rows, value);
            }
            (own, Self::Values(other)) => own.to_mut().extend_from_slice(&other),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Uniform { .. } => 0,
            Self::Values(values) => size_of_val(values.as_slice()),
        }
    }

    fn shrink(&mut self) {
        if let Self::Values(values) = self {
            values.shrink_to_fit();
        }
    }

    fn retain(&mut self, keep: &[bool]) {
        match self {
            Self::Uniform { len, .. } => *len = keep.iter().filter(|&&kept| kept).count(),
            Self::Values(values) => Storage::retain(values, keep),
        }
    }
}

impl Storage<Option<i64>> for Durations {
    type Stored = u32;
    const IS_SPARSE: bool = false;

    #[inline(always)]
    fn stored(value: Option<i64>) -> Option<u32> {
        u32::try_from(value?).ok().filter(|&short| short != ESCAPE)
    }

    fn extend_stored(&mut self, stored: &[u32]) {
        self.short.extend_from_slice(stored);
    }

    fn extend_default(&mut self, rows: usize) {
        (0..rows).for_each(|_| self.push(None));
    }

    #[inline(always)]
    fn push(&mut self, value: Option<i64>) {
        Self::push(self, value);
    }

    #[inline(always)]
    fn value(&self, row: usize) -> Option<i64> {
        self.get(row)
    }

    fn append(&mut self, other: &mut Self) {
        let offset = self.short.len() as u32;
        Storage::append(&mut self.short, &mut other.short);
        let other = std::mem::take(&mut other.other);
        self.other.extend(other.into_iter().map(|(row, value)| (row + offset, value)));
    }

    fn bytes(&self) -> usize {
        size_of_val(self.short.as_slice())
    }

    fn shrink(&mut self) {
        self.short.shrink_to_fit();
    }

    fn retain(&mut self, keep: &[bool]) {
        let kept = (0..self.len()).filter(|&row| keep[row]).map(|row| self.get(row)).collect();
        *self = kept;
    }
}

impl<T: Copy + Default + PartialEq> Storage<T> for Vec<T> {
    type Stored = T;
    const IS_SPARSE: bool = false;

    #[inline(always)]
    fn stored(value: T) -> Option<T> {
        Some(value)
    }

    fn extend_stored(&mut self, stored: &[T]) {
        self.extend_from_slice(stored);
    }

    fn extend_default(&mut self, rows: usize) {
        self.resize(self.len() + rows, T::default());
    }

    #[inline(always)]
    fn push(&mut self, value: T) {
        Self::push(self, value);
    }

    #[inline(always)]
    fn value(&self, row: usize) -> T {
        self[row]
    }

    fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            std::mem::swap(self, other);
        } else {
            Self::append(self, other);
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.as_slice())
    }

    fn shrink(&mut self) {
        self.shrink_to_fit();
    }

    fn retain(&mut self, keep: &[bool]) {
        let mut flags = keep.iter();
        Self::retain(self, |_| *flags.next().unwrap_or(&false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_stays_one_value_until_a_row_differs() {
        let mut column = Column::default();
        column.push(7);
        column.push(7);
        assert_eq!(column.uniform(), Some(7));
        column.push(8);
        assert_eq!(column, Column::Values(vec![7, 7, 8]));
    }

    #[test]
    fn extending_is_pushing_several_rows() {
        for first in [vec![], vec![0], vec![5], vec![5, 5], vec![5, 0]] {
            for then in [vec![], vec![0], vec![5, 5], vec![5, 6], vec![6, 6]] {
                let mut extended: Column<i64> = first.iter().copied().collect();
                let mut pushed = extended.clone();
                extended.extend_from_slice(&then);
                then.iter().for_each(|&value| pushed.push(value));
                assert_eq!(extended, pushed, "{first:?} {then:?}");
            }
        }
    }

    #[test]
    fn appending_and_retaining_keep_the_rows_in_order() {
        let mut column: Column<i64> = [1, 1].into_iter().collect();
        let mut other: Column<i64> = [2, 3].into_iter().collect();
        other.map(|value| value * 10);
        column.append(&mut other);
        assert_eq!((column.iter().collect::<Vec<_>>(), other.len()), (vec![1, 1, 20, 30], 0));
        column.retain(&[false, true, true, false]);
        assert_eq!(column.iter().collect::<Vec<_>>(), [1, 20]);
    }

    #[test]
    fn a_column_of_one_value_stays_one_when_no_rows_are_appended() {
        let mut column: Column<i64> = [9, 9].into_iter().collect();
        column.append(&mut Column::default());
        assert_eq!(column.uniform(), Some(9));
    }

    #[test]
    fn durations_keep_long_negative_and_missing_ones() {
        let values =
            [Some(0), Some(5_000_000_000), Some(-3), None, Some(i64::from(u32::MAX)), Some(4_294_967_294)];
        let mut durations: Durations = values.into_iter().collect();
        durations.append(&mut values.into_iter().collect());
        let read: Vec<_> = (0..durations.len()).map(|row| durations.get(row)).collect();
        assert_eq!(read, [values, values].concat());
        assert_eq!(durations.valid(2), None);
    }
}
