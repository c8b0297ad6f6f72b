//! Threads whose rings no recorder reads yet. A list that threads add to without a lock, and that a recorder takes as a
//! whole.

#![expect(unsafe_code, reason = "a list that several threads add to at once")]

use std::sync::atomic::{AtomicPtr, Ordering};

use super::reader::Ring;

struct Node {
    ring: Ring,
    next: *mut Node,
}

static FIRST: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());

/// A ring that a recorder is to read.
pub fn add(ring: Ring) {
    let node = Box::into_raw(Box::new(Node { ring, next: std::ptr::null_mut() }));
    let mut first = FIRST.load(Ordering::Relaxed);
    loop {
        // SAFETY: the node is not in the list yet, so nobody else has it.
        unsafe { (*node).next = first };
        match FIRST.compare_exchange_weak(first, node, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

/// All rings that were added since the last time.
pub fn take() -> Vec<Ring> {
    let mut rings = Vec::new();
    if FIRST.load(Ordering::Relaxed).is_null() {
        return rings;
    }
    let mut node = FIRST.swap(std::ptr::null_mut(), Ordering::Acquire);
    while !node.is_null() {
        // SAFETY: `add` has made it, and who has taken the list is the only one who has it.
        let taken = unsafe { Box::from_raw(node) };
        rings.push(taken.ring);
        node = taken.next;
    }
    rings
}

/// In the child of a fork: the rings of threads that it does not have are nobody's.
pub fn forget() {
    FIRST.store(std::ptr::null_mut(), Ordering::Relaxed);
}
