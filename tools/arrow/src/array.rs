//! The rows of a batch as C structs.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use crate::{Batch, Column, Dictionary, Values};

/// The layout of C's `struct ArrowArray`.
#[repr(C)]
pub(crate) struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// The memory that an array points to, as its `private_data`.
struct Owned {
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
    dictionary: *mut Array,
    /// Keeps the buffers alive.
    _values: Kept,
}

enum Kept {
    Nothing,
    Column { _column: Column },
    Dictionary { _dictionary: Arc<Dictionary> },
}

impl Array {
    /// The struct of a batch, whose columns match their fields.
    pub(crate) fn new(batch: Batch) -> Self {
        let rows = batch.rows;
        let columns = batch.columns.into_iter().map(|column| Self::of_column(rows, column)).collect();
        Self::build(rows, 0, vec![ptr::null()], columns, None, Kept::Nothing)
    }

    fn of_column(rows: usize, column: Column) -> Self {
        let nulls = column.known.as_ref().map_or(0, |known| unknown(known, rows));
        // The readers of some versions take a bitmap without a null for one with nulls.
        let known = column.known.as_ref().filter(|_| nulls > 0).map_or(ptr::null(), |known| place(known));
        let (values, dictionary) = match &column.values {
            Values::Integers(values) => (place(values), None),
            Values::Floats(values) => (place(values), None),
            Values::Bools(values) => (place(values), None),
            Values::Texts(places, dictionary) => {
                (place(places), Some(Self::of_dictionary(Arc::clone(dictionary))))
            }
        };
        Self::build(
            rows,
            nulls,
            vec![known, values],
            Vec::new(),
            dictionary,
            Kept::Column { _column: column },
        )
    }

    fn of_dictionary(dictionary: Arc<Dictionary>) -> Self {
        let buffers = vec![ptr::null(), place(&dictionary.offsets), place(&dictionary.bytes)];
        let texts = dictionary.offsets.len().saturating_sub(1);
        Self::build(texts, 0, buffers, Vec::new(), None, Kept::Dictionary { _dictionary: dictionary })
    }

    fn build(
        rows: usize,
        nulls: usize,
        buffers: Vec<*const c_void>,
        children: Vec<Self>,
        dictionary: Option<Self>,
        values: Kept,
    ) -> Self {
        let boxed = |array| Box::into_raw(Box::new(array));
        let mut owned = Box::new(Owned {
            buffers,
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), boxed),
            _values: values,
        });
        Self {
            length: rows as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: owned.buffers.len() as i64,
            n_children: owned.children.len() as i64,
            buffers: owned.buffers.as_mut_ptr(),
            children: owned.children.as_mut_ptr(),
            dictionary: owned.dictionary,
            release: Some(release),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// A released array, which stands for the end of a stream.
    pub(crate) fn none() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it has not been released, and this is the last use of it.
            unsafe { release(self) }
        }
    }
}

fn place<T>(values: &[T]) -> *const c_void {
    values.as_ptr().cast()
}

/// How many of the first `rows` bits are 0.
fn unknown(known: &[u64], rows: usize) -> usize {
    let bits = |(word, bits): (usize, &u64)| {
        let used = rows.saturating_sub(word * 64).min(64);
        let mask = if used == 64 { u64::MAX } else { (1 << used) - 1 };
        used - (bits & mask).count_ones() as usize
    };
    known.iter().enumerate().map(bits).sum()
}

unsafe extern "C" fn release(array: *mut Array) {
    // SAFETY: a consumer passes the struct that it got, which lives.
    let array = unsafe { &mut *array };
    array.release = None;
    // SAFETY: `build` made it of a box, and what is released once is not released again.
    let owned = unsafe { Box::from_raw(array.private_data.cast::<Owned>()) };
    for part in owned.children.iter().copied().chain(Some(owned.dictionary)).filter(|part| !part.is_null()) {
        // SAFETY: `build` made it of a box; dropping it releases it unless a consumer has moved it out.
        drop(unsafe { Box::from_raw(part) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bits_of_rows_count() {
        assert_eq!(unknown(&[0b101], 3), 1);
        assert_eq!(unknown(&[u64::MAX, 0], 64), 0);
        assert_eq!(unknown(&[u64::MAX, 0], 66), 2);
    }
}
