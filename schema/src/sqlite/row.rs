//! A row of a scan, whether we or the library read it.

use std::borrow::Cow;

use rusqlite::types::ValueRef;

use super::record::Record;

/// One row of a scan: its rowid and the selected columns, by position.
#[derive(Debug)]
pub struct Row<'a> {
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Record(Record<'a>),
    Library(i64, &'a rusqlite::Row<'a>),
}

impl<'a> Row<'a> {
    #[inline]
    pub(super) fn of_record(record: Record<'a>) -> Self {
        Self { source: Source::Record(record) }
    }

    pub(super) fn of_library(id: i64, row: &'a rusqlite::Row<'a>) -> Self {
        Self { source: Source::Library(id, row) }
    }

    /// The rowid; rows of views and of tables without one are numbered from 1.
    #[inline]
    pub fn id(&self) -> i64 {
        match &self.source {
            Source::Record(record) => record.id,
            Source::Library(id, _) => *id,
        }
    }

    /// Column `at` as an integer: integers, whole reals and text that spells an integer; `None` for
    /// NULL and for anything else (RPD stores `''` in integer columns).
    #[inline]
    pub fn int(&self, at: usize) -> Option<i64> {
        if let Source::Record(record) = &self.source
            && let Some(value) = record.integer(at)
        {
            return value;
        }
        self.as_int(at)
    }

    /// Column `at` as an integer that is not negative and fits.
    #[inline]
    pub fn unsigned<T: TryFrom<i64>>(&self, at: usize) -> Option<T> {
        self.int(at).and_then(|value| T::try_from(value).ok())
    }

    fn as_int(&self, at: usize) -> Option<i64> {
        match self.value(at) {
            ValueRef::Integer(value) => Some(value),
            ValueRef::Real(value) if value.fract() == 0.0 && value.abs() < 9e18 => Some(value as i64),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// Column `at` as a real number.
    pub fn real(&self, at: usize) -> Option<f64> {
        match self.value(at) {
            ValueRef::Integer(value) => Some(value as f64),
            ValueRef::Real(value) => Some(value),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// Column `at` as text, numbers spelled out; bytes that are no UTF-8 are replaced.
    pub fn text(&self, at: usize) -> Option<Cow<'_, str>> {
        match self.value(at) {
            ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text)),
            ValueRef::Integer(value) => Some(Cow::Owned(value.to_string())),
            ValueRef::Real(value) => Some(Cow::Owned(value.to_string())),
            ValueRef::Null => None,
        }
    }

    /// The bytes of column `at`, if it is text or a blob.
    #[inline]
    pub fn bytes(&self, at: usize) -> Option<&[u8]> {
        match self.value(at) {
            ValueRef::Text(text) | ValueRef::Blob(text) => Some(text),
            _ => None,
        }
    }

    /// True if column `at` is NULL.
    pub fn is_null(&self, at: usize) -> bool {
        self.value(at) == ValueRef::Null
    }

    /// The row as it is stored, if it was not read by the library.
    #[inline]
    pub(super) fn record(&self) -> Option<&Record<'a>> {
        match &self.source {
            Source::Record(record) => Some(record),
            Source::Library(..) => None,
        }
    }

    fn value(&self, at: usize) -> ValueRef<'_> {
        match &self.source {
            Source::Record(record) => record.value(at),
            Source::Library(_, row) => row.get_ref(at + 1).unwrap_or(ValueRef::Null),
        }
    }
}

/// Lists the columns of a scan in `$columns`, with a variable for the position of each: `scanned!(columns: id, start)`.
macro_rules! scanned {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    ($columns:ident: $($field:ident $(= $name:literal)?),+) => {
        let $columns = [$($crate::sqlite::scanned!(@name $field $($name)?)),+];
        let [$($field),+] = std::array::from_fn(|at| at);
    };
}
pub(crate) use scanned;
