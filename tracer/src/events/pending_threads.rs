//! A list of new threads that no recorder knows yet: threads of the application add to it without a lock, and a recorder takes
//! all of it.

#![expect(unsafe_code, reason = "a list that several threads add to at once")]

use std::sync::atomic::{AtomicPtr, Ordering};

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

/// A stack that is added to one by one and taken as a whole.
pub struct PendingThreads<T>(AtomicPtr<Node<T>>);

impl<T: Send> PendingThreads<T> {
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    pub fn add(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value, next: std::ptr::null_mut() }));
        let mut first = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is not in the list yet, so nobody else has it.
            unsafe { (*node).next = first };
            match self.0.compare_exchange_weak(first, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Takes all values that were added since the last time.
    pub fn take(&self) -> Vec<T> {
        let mut values = Vec::new();
        if self.0.load(Ordering::Relaxed).is_null() {
            return values;
        }
        let mut node = self.0.swap(std::ptr::null_mut(), Ordering::Acquire);
        while !node.is_null() {
            // SAFETY: `add` has made the node, and only one thread takes a list.
            let taken = unsafe { Box::from_raw(node) };
            values.push(taken.value);
            node = taken.next;
        }
        values
    }

    /// Called in the child of a fork: leaks the values, which belong to threads that the child does not have.
    pub fn forget(&self) {
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

impl<T: Send> Default for PendingThreads<T> {
    fn default() -> Self {
        Self::new()
    }
}
