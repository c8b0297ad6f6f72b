//! A slice of values with shared ownership.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// A range of a shared vector: clones do not copy the values.
#[derive(Debug, Clone)]
pub struct SharedSlice<T> {
    whole: Arc<Vec<T>>,
    range: Range<usize>,
}

impl<T> SharedSlice<T> {
    /// The values of `whole` in `range`, which must lie in it.
    pub(crate) fn new(whole: &Arc<Vec<T>>, range: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), range }
    }
}

impl<T> From<Vec<T>> for SharedSlice<T> {
    fn from(values: Vec<T>) -> Self {
        let range = 0..values.len();
        Self { whole: Arc::new(values), range }
    }
}

impl<T> Deref for SharedSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.whole[self.range.clone()]
    }
}

impl<T: PartialEq> PartialEq for SharedSlice<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for SharedSlice<T> {}
