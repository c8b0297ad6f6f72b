//! Facts that follow from the header of a record, and keys of several columns, which are compared as they are stored.

use super::fast_header::{Value, WORD, ZERO};
use super::fast_rows::FastRow;
use super::row::Row;
use crate::hash::spread;

/// Something of each record header, found once: the types of all values follow from it.
#[derive(Debug)]
pub(crate) struct ByHeader<T> {
    /// The number of a header and its fact, by the place of the header.
    known: Vec<(u64, T)>,
}

impl<T> Default for ByHeader<T> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<T: Copy + Default> ByHeader<T> {
    /// The result of `look` for the first row of a header; `None` where the header is not remembered.
    #[inline]
    pub(crate) fn get(&mut self, row: &Row<'_>, look: impl FnOnce(&Row<'_>) -> T) -> Option<&T> {
        let (place, number) = row.record()?.header?;
        if self.known.get(place).is_none_or(|&(known, _)| known != number) {
            self.add(place, number, look(row));
        }
        self.known.get(place).map(|(_, found)| found)
    }

    #[cold]
    fn add(&mut self, place: usize, number: u64, found: T) {
        self.known.resize(self.known.len().max(place + 1), (0, T::default()));
        self.known[place] = (number, found);
    }
}

/// The bytes of eight types of four bits, and of a length.
const TYPES: usize = 5;

/// Where the rows of a header have the values of several columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredColumns {
    /// The types of all columns, and how long the first run is: equal types may lie side by side or apart. In bytes, so that the facts of a
    /// header need no alignment.
    types: [u8; TYPES],
    /// Values that lie side by side.
    runs: [Value; 2],
}

/// The types and the stored bytes of several columns of a row. Equal keys are equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredKey {
    types: u64,
    words: [u64; 2],
}

impl StoredColumns {
    /// The columns at up to eight positions of a scan. `None` where a value is no integer or NULL, or the values are too long, too
    /// scattered or too far behind.
    pub(crate) fn of<const N: usize>(row: &Row<'_>, columns: [usize; N]) -> Option<Self> {
        let record = row.record()?;
        let mut types = 0_u64;
        let mut stored = [(0, 0); N];
        for (place, column) in stored.iter_mut().zip(columns) {
            let serial = record.serial(column);
            // Others than integers and NULL.
            if matches!(serial, 7 | 10..) {
                return None;
            }
            types = types << 4 | u64::from(serial);
            *place = record.bytes_of(column);
        }
        stored.sort_unstable();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (begin, end) in stored.into_iter().filter(|(begin, end)| begin < end) {
            match runs.last_mut().filter(|run| run.1 == begin) {
                Some(run) => run.1 = end,
                None => runs.push((begin, end)),
            }
        }
        let mut values = [ZERO; 2];
        if runs.len() > values.len() {
            return None;
        }
        for (value, (begin, end)) in values.iter_mut().zip(runs) {
            let unused = u8::try_from(WORD.checked_sub(end - begin)?).ok()?;
            *value = Value { begin: begin.try_into().ok()?, unused: 8 * unused };
        }
        types |= u64::from(values[0].unused) << 32;
        Some(Self { types: *types.to_le_bytes().first_chunk()?, runs: values })
    }

    /// The key of a row of this header.
    #[inline]
    pub(crate) fn key(&self, row: &Row<'_>) -> Option<StoredKey> {
        let record = row.record()?;
        Some(self.key_of(|run| {
            let bits = u64::BITS - u32::from(run.unused);
            let end = usize::from(run.begin) + bits as usize / 8;
            if run == ZERO { 0 } else { record.word(end) & (u64::MAX >> run.unused) }
        }))
    }

    /// The key of a fast row of this header.
    #[inline(always)]
    pub(crate) fn fast_key<const N: usize, F>(&self, row: &FastRow<'_, N, F>) -> StoredKey {
        self.key_of(|run| row.bits(run))
    }

    /// The key of a row by the bits of its runs.
    #[inline(always)]
    fn key_of(&self, bits: impl Fn(Value) -> u64) -> StoredKey {
        let mut types = [0; WORD];
        types[..TYPES].copy_from_slice(&self.types);
        StoredKey { types: u64::from_le_bytes(types), words: self.runs.map(bits) }
    }
}

/// Where the rows of a header have a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredText {
    begin: u8,
    end: u8,
}

impl StoredText {
    /// The text or the bytes at a position of a scan. `None` where there are none, or they are too far behind for fast rows.
    pub(crate) fn of(row: &Row<'_>, column: usize) -> Option<Self> {
        let record = row.record()?;
        let (begin, end) = record.bytes_of(column);
        let place = Self { begin: begin.try_into().ok()?, end: end.try_into().ok()? };
        (record.serial(column) >= 12).then_some(place)
    }

    /// The text of a fast row of this header.
    #[inline(always)]
    pub(crate) fn get<'a, const N: usize, F>(&self, row: &FastRow<'a, N, F>) -> &'a [u8] {
        row.bytes(self.begin.into(), self.end.into())
    }
}

impl StoredKey {
    /// The key of no row.
    pub(crate) const NONE: Self = Self { types: u64::MAX, words: [0; 2] };

    /// A number whose upper bits differ for most keys.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        let [first, second] = self.words;
        spread(first ^ second.rotate_left(27) ^ self.types.rotate_left(49))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::{AddRows, Database, FastColumns, IntegerColumn, Readers};

    /// The keys of rows, and how many of these were fast.
    #[derive(Default)]
    struct Keys(Vec<Option<StoredKey>>, usize);

    impl AddRows<1> for Keys {
        type Facts = Option<StoredColumns>;

        fn facts(&self, row: &Row<'_>) -> Option<Self::Facts> {
            Some(StoredColumns::of(row, [1, 2, 3]))
        }

        fn add_fast<'a>(&mut self, rows: impl Iterator<Item = FastRow<'a, 1, Self::Facts>>) -> bool {
            let before = self.0.len();
            self.0.extend(rows.map(|row| row.facts().map(|columns| columns.fast_key(&row))));
            self.1 += self.0.len() - before;
            true
        }

        fn add(&mut self, row: &Row<'_>) {
            self.0.push(StoredColumns::of(row, [1, 2, 3]).and_then(|columns| columns.key(row)));
        }
    }

    #[test]
    fn fast_rows_have_the_keys_of_other_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "create table t (sign integer, a integer, b integer, other integer, c integer, rest text)",
            )
            .unwrap();
        for row in 0..60_i64 {
            let (a, b, c) = (row % 5 * 77, (row % 3 > 0).then_some(row % 7 * 99_999), row % 2 * 300 + 2);
            connection
                .execute("insert into t values (7, ?1, ?2, 5, ?3, printf('%40s', ''))", (a, b, c))
                .unwrap();
        }
        drop(connection);
        let database = Database::open(&path, &path).unwrap();
        let columns = ["sign", "a", "b", "c"];
        let mut expected = Keys::default();
        database.scan("t", &columns, |row| expected.add(row)).unwrap();
        let _snapshot = database.snapshot().unwrap();
        let found = database.find_leaves("t", &columns).unwrap();
        let leaves = database.pieces("t", &columns, found.as_ref(), usize::MAX).leaves().unwrap();
        let readers = Readers::of(FastColumns { integers: [IntegerColumn::Integer(0)] });
        let mut keys = Keys::default();
        leaves
            .shares()
            .into_iter()
            .for_each(|share| _ = leaves.scan_fast(share, &readers, &mut keys).unwrap());
        assert_eq!((keys.0, keys.1 > 20), (expected.0, true));
    }

    fn value() -> impl Strategy<Value = Option<i64>> {
        let number = prop_oneof![0_i64..3, -2_i64..300, Just(70_000), Just(1 << 40)];
        prop_oneof![Just(None), number.prop_map(Some)]
    }

    proptest! {
        #[test]
        fn keys_are_equal_where_values_are(rows in prop::collection::vec([value(), value(), value()], 2..40)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("rows.db");
            // Only headers of records that are not short are remembered.
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection.execute_batch("create table t (a integer, b integer, other integer, c integer, rest text)").unwrap();
            for row in &rows {
                connection.execute("insert into t values (?1, ?2, 5, ?3, printf('%40s', ''))", *row).unwrap();
            }
            drop(connection);
            let database = Database::open(&path, &path).unwrap();
            let mut headers = ByHeader::default();
            let mut found = Vec::new();
            let look = |row: &Row<'_>| StoredColumns::of(row, [2, 0, 1, usize::MAX]);
            let add = |row: &Row<'_>| found.push(headers.get(row, look).unwrap().and_then(|columns| columns.key(row)));
            database.scan("t", &["b", "c", "a"], add).unwrap();
            prop_assert_eq!(found.len(), rows.len());
            for (one, [a, b, c]) in found.iter().zip(&rows) {
                // Eight bytes are enough for two values below 2^31.
                prop_assert!(one.is_some() || [a, b].contains(&&Some(1 << 40)));
                for (other, [other_a, other_b, other_c]) in found.iter().zip(&rows) {
                    let are_equal = [a, b, c] == [other_a, other_b, other_c];
                    prop_assert!(one.is_none() || other.is_none() || (one == other) == are_equal);
                }
            }
        }
    }
}
