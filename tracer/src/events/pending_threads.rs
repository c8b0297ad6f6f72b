//! What threads of the application have begun and no recorder knows yet: a list that they add to without a lock, and that a
//! recorder takes as a whole.

#![expect(unsafe_code, reason = "a list that several threads add to at once")]

use std::sync::atomic::{AtomicPtr, Ordering};

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

/// Such a list.
pub struct PendingThreads<T>(AtomicPtr<Node<T>>);

impl<T: Send> PendingThreads<T> {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Adds what a recorder is to look after.
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

    /// All that were added since the last time.
    pub fn take(&self) -> Vec<T> {
        let mut values = Vec::new();
        if self.0.load(Ordering::Relaxed).is_null() {
            return values;
        }
        let mut node = self.0.swap(std::ptr::null_mut(), Ordering::Acquire);
        while !node.is_null() {
            // SAFETY: `add` has made it, and who has taken the list is the only one who has it.
            let taken = unsafe { Box::from_raw(node) };
            values.push(taken.value);
            node = taken.next;
        }
        values
    }

    /// In the child of a fork: what belongs to threads that it does not have is nobody's.
    pub fn forget(&self) {
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

impl<T: Send> Default for PendingThreads<T> {
    fn default() -> Self {
        Self::new()
    }
}
