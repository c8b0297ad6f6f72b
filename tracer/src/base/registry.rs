//! Lists of kernels and queues, which are referred to by their numbers.

use std::sync::{Arc, Mutex};

use crate::base::try_lock::lock;

/// The element with this number in a list that grows as needed.
#[inline]
pub fn place<T>(list: &mut Vec<Option<T>>, number: usize) -> &mut Option<T> {
    if list.len() <= number {
        list.resize_with(number + 1, || None);
    }
    &mut list[number]
}

/// An append-only list. A number stays valid as long as the process lives, even when the queue or code object is gone, because
/// its dispatches may still be in flight.
#[derive(Debug)]
pub struct Registry<T> {
    entries: Mutex<Vec<Arc<T>>>,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { entries: Mutex::new(Vec::new()) }
    }
}

impl<T> Registry<T> {
    /// Returns the number of the new entry: 0, 1, 2, ...
    pub fn add(&self, entry: T) -> u32 {
        let mut entries = lock(&self.entries);
        let number = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        entries.push(Arc::new(entry));
        number
    }

    #[must_use]
    pub fn get(&self, number: u32) -> Option<Arc<T>> {
        lock(&self.entries).get(number as usize).cloned()
    }

    /// All entries from this number on: those that a reader which knows `number` entries has not seen yet.
    #[must_use]
    pub fn since(&self, number: u32) -> Vec<Arc<T>> {
        lock(&self.entries).get(number as usize..).unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_meaning_and_a_reader_sees_only_what_is_new() {
        let registry = Registry::default();
        assert_eq!((registry.add("first"), registry.add("second")), (0, 1));
        assert_eq!(registry.get(1).as_deref(), Some(&"second"));
        assert_eq!(registry.get(2), None);
        assert_eq!(registry.since(1), [Arc::new("second")]);
        assert!(registry.since(2).is_empty() && registry.since(9).is_empty());
    }
}
