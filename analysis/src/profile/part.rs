//! A part of values that several own together.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// Consecutive values. All parts of a whole share its memory.
#[derive(Debug, Clone)]
pub struct Part<T> {
    whole: Arc<Vec<T>>,
    range: Range<usize>,
}

impl<T> Part<T> {
    /// The values of `whole` in `range`, which must lie in it.
    pub(super) fn of(whole: &Arc<Vec<T>>, range: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), range }
    }
}

impl<T> From<Vec<T>> for Part<T> {
    fn from(values: Vec<T>) -> Self {
        let range = 0..values.len();
        Self { whole: Arc::new(values), range }
    }
}

impl<T> Deref for Part<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.whole[self.range.clone()]
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Part<T> {}
