//! A cache of launch shapes by what a row stores of them.

use crate::{Sentinel, ShapeId};

/// The least number of slots, and the number with which the cache begins anew: a megabyte.
const SLOTS: [usize; 2] = [1 << 6, 1 << 14];

/// The columns that make a shape, as a row stores them.
pub(super) trait ShapeKey: Copy + Eq {
    /// A key that no row stores.
    const FREE: Self;

    /// A number whose upper bits differ for most keys.
    fn hash(&self) -> u64;
}

/// Shapes by key, at most half of the slots taken: most rows repeat one that was met, for the cost of a comparison or two.
#[derive(Debug)]
pub(super) struct RecentShapes<K> {
    /// A power of two. A key is behind the place of its hash, with no free slot between.
    slots: Vec<(K, ShapeId)>,
    taken: usize,
}

impl<K> Default for RecentShapes<K> {
    fn default() -> Self {
        Self { slots: Vec::new(), taken: 0 }
    }
}

impl<K: ShapeKey> RecentShapes<K> {
    /// The shape that a key makes, as columns store it, where it is cached.
    #[inline]
    pub(super) fn find(&self, key: &K) -> Option<ShapeId> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = place(key.hash());
        loop {
            let (known, shape) = self.slots[at & last];
            if known == *key {
                return Some(shape);
            }
            if known == K::FREE {
                return None;
            }
            at += 1;
        }
    }

    /// Adds a key that is not cached, and the shape as columns store it.
    #[cold]
    pub(super) fn add(&mut self, key: K, shape: ShapeId) {
        let [least, most] = SLOTS;
        if self.taken * 2 >= self.slots.len() {
            let slots = (2 * self.slots.len()).max(least);
            let known = std::mem::take(self);
            self.slots.resize(slots.min(most), (K::FREE, ShapeId::SENTINEL));
            if slots <= most {
                let met = known.slots.into_iter().filter(|(key, _)| *key != K::FREE);
                met.for_each(|(key, shape)| self.insert(key, shape));
            }
        }
        self.insert(key, shape);
    }

    fn insert(&mut self, key: K, shape: ShapeId) {
        let last = self.slots.len() - 1;
        let mut at = place(key.hash());
        while self.slots[at & last].0 != K::FREE {
            at += 1;
        }
        self.slots[at & last] = (key, shape);
        self.taken += 1;
    }
}

#[inline]
fn place(hash: u64) -> usize {
    (hash >> (u64::BITS - SLOTS[1].ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    impl ShapeKey for u64 {
        const FREE: Self = Self::MAX;

        fn hash(&self) -> u64 {
            // Many keys in one place.
            (self / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        }
    }

    #[test]
    fn shapes_are_found_by_their_keys_until_there_are_too_many() {
        let mut recent = RecentShapes::default();
        assert_eq!(recent.find(&0), None);
        let shape = |key: u64| if key % 3 == 1 { ShapeId(key as u32) } else { ShapeId::SENTINEL };
        let most = SLOTS[1] as u64 / 2;
        for key in 0..most {
            recent.add(key, shape(key));
        }
        assert!((0..most).all(|key| recent.find(&key) == Some(shape(key))));
        assert_eq!(recent.find(&most), None);
        recent.add(most, ShapeId::SENTINEL);
        assert_eq!((recent.find(&most), recent.find(&1)), (Some(ShapeId::SENTINEL), None));
    }
}
