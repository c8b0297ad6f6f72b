//! A table by address that is read and changed without a lock, because hooks use it while the process ends.
//!
//! Entries stay in memory as long as the table. An entry that is no longer used serves the next key of its bucket.

#![expect(unsafe_code, reason = "entries are reached by pointers that threads exchange")]

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

const BUCKETS: usize = 256;

/// Keys of entries that no lookup finds: a free one serves the next key of its bucket, a hidden one does not.
const FREE: u64 = 0;
const HIDDEN: u64 = 1;

/// Values by address.
pub struct Lookup<T: 'static> {
    buckets: [AtomicPtr<Entry<T>>; BUCKETS],
}

pub struct Entry<T: 'static> {
    key: AtomicU64,
    next: Option<&'static Self>,
    /// While the entry is filled, this may be the value of an earlier key.
    pub value: T,
}

impl<T> Default for Lookup<T> {
    fn default() -> Self {
        Self { buckets: [const { AtomicPtr::new(std::ptr::null_mut()) }; BUCKETS] }
    }
}

impl<T: Default + Sync> Lookup<T> {
    #[inline]
    pub fn get(&self, key: u64) -> Option<&'static Entry<T>> {
        if key <= HIDDEN { None } else { self.find(key, |entry| entry.key.load(Ordering::Acquire) == key) }
    }

    /// Adds an entry with this key, in place of one that has it, after `fill` has made its value.
    pub fn add(&self, key: u64, fill: impl FnOnce(&T)) -> &'static Entry<T> {
        debug_assert!(key > HIDDEN);
        let take = |entry: &Entry<T>, from| {
            entry.key.compare_exchange(from, HIDDEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let reused =
            self.find(key, |entry| take(entry, key)).or_else(|| self.find(key, |entry| take(entry, FREE)));
        let entry = reused.unwrap_or_else(|| self.push(key));
        fill(&entry.value);
        entry.show(key);
        entry
    }

    fn push(&self, key: u64) -> &'static Entry<T> {
        let bucket = &self.buckets[bucket(key)];
        let mut new = Box::new(Entry { key: AtomicU64::new(HIDDEN), next: None, value: T::default() });
        let mut first = bucket.load(Ordering::Acquire);
        loop {
            // SAFETY: the pointer is null or to an entry, which is never freed.
            new.next = unsafe { first.as_ref() };
            let pointer = Box::into_raw(new);
            match bucket.compare_exchange(first, pointer, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: the entry is never freed, and from here on only its atomics change.
                Ok(_) => return unsafe { &*pointer },
                Err(now) => first = now,
            }
            // SAFETY: the pointer is the one that `into_raw` returned, which no other thread knows yet.
            new = unsafe { Box::from_raw(pointer) };
        }
    }

    #[inline]
    fn find(&self, key: u64, mut is_it: impl FnMut(&Entry<T>) -> bool) -> Option<&'static Entry<T>> {
        // SAFETY: the pointer is null or to an entry, which is never freed.
        let mut entry = unsafe { self.buckets[bucket(key)].load(Ordering::Acquire).as_ref() };
        while let Some(found) = entry {
            if is_it(found) {
                return Some(found);
            }
            entry = found.next;
        }
        None
    }
}

impl<T> Entry<T> {
    /// Hides the entry from lookups, and keeps it for its key.
    pub fn hide(&self) {
        self.key.store(HIDDEN, Ordering::Release);
    }

    /// Makes lookups of this key find the entry, whose bucket is that of the key.
    pub fn show(&self, key: u64) {
        self.key.store(key, Ordering::Release);
    }

    /// Hides the entry from lookups, and frees it for another key.
    pub fn free(&self) {
        self.key.store(FREE, Ordering::Release);
    }
}

/// Takes the high bits of a product, which are the best mixed ones.
#[inline]
fn bucket(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: u64 = if cfg!(miri) { 300 } else { 2000 };

    fn value(table: &Lookup<AtomicU64>, key: u64) -> Option<u64> {
        table.get(key).map(|entry| entry.value.load(Ordering::Relaxed))
    }

    fn add(table: &Lookup<AtomicU64>, key: u64, value: u64) -> &'static Entry<AtomicU64> {
        table.add(key, |of_entry| of_entry.store(value, Ordering::Relaxed))
    }

    #[test]
    fn entries_are_found_until_they_are_hidden_or_free() {
        let table = Lookup::default();
        for key in 2..KEYS {
            add(&table, key, key * 10);
        }
        assert!((2..KEYS).all(|key| value(&table, key) == Some(key * 10)));
        table.get(7).unwrap().hide();
        table.get(8).unwrap().free();
        assert_eq!((value(&table, 7), value(&table, 8), value(&table, 9)), (None, None, Some(90)));
        assert_eq!((value(&table, 0), value(&table, 1), value(&table, KEYS)), (None, None, None));
    }

    #[test]
    fn a_free_entry_serves_the_next_key_and_a_hidden_one_does_not() {
        let table = Lookup::default();
        let first = add(&table, 4096, 1);
        assert!(std::ptr::eq(first, add(&table, 4096, 2)), "one entry a key");
        first.hide();
        let second = add(&table, 4096, 3);
        assert!(!std::ptr::eq(first, second));
        first.free();
        second.free();
        assert!(std::ptr::eq(second, add(&table, 4096, 4)));
        assert_eq!(value(&table, 4096), Some(4));
    }

    #[test]
    fn threads_add_and_free_at_the_same_time() {
        let table: &'static Lookup<AtomicU64> = Box::leak(Box::default());
        let threads = (0..4_u64).map(|thread| {
            std::thread::spawn(move || {
                for round in 0..KEYS {
                    let key = 4096 + thread + 4 * (round % 300);
                    let entry = add(table, key, key);
                    assert!(std::ptr::eq(table.get(key).unwrap(), entry));
                    assert_eq!(value(table, key), Some(key));
                    entry.free();
                }
            })
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
        assert!((4096..6000).all(|key| table.get(key).is_none()));
    }
}
