//! Columns that cost nothing while every row says the same.

use std::collections::BTreeMap;

/// One value per row. As long as all rows hold the same value it is stored once, so that a column which
/// a dialect does not have (all `None`, all zero) takes no memory.
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
            Self::Uniform { .. } => self.spread().push(new),
        }
    }

    /// Appends `rows` rows of the default value.
    pub fn pad(&mut self, rows: usize) {
        match self {
            Self::Values(values) => values.resize(values.len() + rows, T::default()),
            Self::Uniform { value, len } if *len == 0 || *value == T::default() => {
                *value = T::default();
                *len += rows;
            }
            Self::Uniform { .. } if rows == 0 => {}
            Self::Uniform { .. } => {
                self.spread();
                self.pad(rows);
            }
        }
    }

    /// The value of row `row`.
    #[inline]
    pub fn get(&self, row: usize) -> T {
        match self {
            Self::Uniform { value, .. } => *value,
            Self::Values(values) => values[row],
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Uniform { len, .. } => *len,
            Self::Values(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one value that all rows hold, if they do and there are rows.
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

    /// Appends all rows of `other`, each through `map`.
    pub fn append_with(&mut self, other: Self, map: impl Fn(T) -> T) {
        match other {
            Self::Uniform { value, len } => {
                let value = map(value);
                match self {
                    Self::Uniform { value: mine, len: rows } if *mine == value || *rows == 0 => {
                        *mine = value;
                        *rows += len;
                    }
                    _ => {
                        let values = self.spread();
                        values.resize(values.len() + len, value);
                    }
                }
            }
            Self::Values(theirs) => {
                let values = self.spread();
                values.reserve(theirs.len());
                values.extend(theirs.into_iter().map(map));
            }
        }
    }

    /// Keeps the rows for which `keep` says true.
    pub fn retain(&mut self, keep: &[bool]) {
        match self {
            Self::Uniform { len, .. } => *len = keep.iter().filter(|&&kept| kept).count(),
            Self::Values(values) => {
                let mut flags = keep.iter();
                values.retain(|_| *flags.next().unwrap_or(&false));
            }
        }
    }

    /// The values as a vector, one for each row, to be changed in place.
    pub fn spread(&mut self) -> &mut Vec<T> {
        if let Self::Uniform { value, len } = self {
            *self = Self::Values(vec![*value; *len]);
        }
        match self {
            Self::Values(values) => values,
            Self::Uniform { .. } => unreachable!("spread just above"),
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

/// Durations in nanoseconds, four bytes each; those that do not fit (4.29 s and more, negative, missing)
/// stand in a side table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durations {
    short: Vec<u32>,
    other: BTreeMap<u32, Option<i64>>,
}

/// Marks a row whose value stands in the side table.
const ESCAPE: u32 = u32::MAX;

impl Durations {
    /// Appends a row; `None` is an op whose end is unknown, a negative value one that ended before it started.
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

    /// The duration as the source has it: negative where it ends before it starts, `None` where the end is missing.
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

    /// Whether every row is a known duration below 4.29 s, so that [`Self::short`] is the whole truth.
    pub fn all_short(&self) -> bool {
        self.other.is_empty()
    }

    /// The four-byte values; rows that did not fit read `u32::MAX`.
    pub fn short(&self) -> &[u32] {
        &self.short
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.short.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.short.is_empty()
    }

    /// Appends all rows of `other`.
    pub fn append(&mut self, other: Self) {
        let offset = self.short.len() as u32;
        self.short.extend_from_slice(&other.short);
        self.other.extend(other.other.into_iter().map(|(row, value)| (row + offset, value)));
    }

    /// Keeps the rows for which `keep` says true.
    pub fn retain(&mut self, keep: &[bool]) {
        let kept = (0..self.len()).filter(|&row| keep[row]).map(|row| self.get(row)).collect();
        *self = kept;
    }
}

impl FromIterator<Option<i64>> for Durations {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(values: I) -> Self {
        let mut durations = Self::default();
        values.into_iter().for_each(|value| durations.push(value));
        durations
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
    fn padding_is_pushing_defaults() {
        for values in [vec![], vec![0], vec![5], vec![5, 0, 5]] {
            let mut padded: Column<i64> = values.iter().copied().collect();
            let mut pushed = padded.clone();
            for rows in [0, 2] {
                padded.pad(rows);
                (0..rows).for_each(|_| pushed.push(0));
                assert_eq!(padded.iter().collect::<Vec<_>>(), pushed.iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn appending_and_retaining_keep_the_rows_in_order() {
        let mut column: Column<i64> = [1, 1].into_iter().collect();
        column.append_with([2, 3].into_iter().collect(), |value| value * 10);
        assert_eq!(column.iter().collect::<Vec<_>>(), [1, 1, 20, 30]);
        column.retain(&[false, true, true, false]);
        assert_eq!(column.iter().collect::<Vec<_>>(), [1, 20]);
    }

    #[test]
    fn durations_keep_long_negative_and_missing_ones() {
        let values =
            [Some(0), Some(5_000_000_000), Some(-3), None, Some(i64::from(u32::MAX)), Some(4_294_967_294)];
        let mut durations: Durations = values.into_iter().collect();
        durations.append(values.into_iter().collect());
        let read: Vec<_> = (0..durations.len()).map(|row| durations.get(row)).collect();
        assert_eq!(read, [values, values].concat());
        assert_eq!(durations.valid(2), None);
    }
}
