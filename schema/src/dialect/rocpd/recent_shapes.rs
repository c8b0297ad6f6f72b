//! A cache of launch shapes by what a row stores of them.

use crate::ShapeId;

/// The number of cached pairs.
const PAIRS: usize = 1 << 10;

/// Cached shapes by key, two for each value of a hash's highest bits: most rows repeat one of those, for the cost of a comparison or two.
#[derive(Debug)]
pub(super) struct RecentShapes<K>(Vec<[Option<Met<K>>; 2]>);

/// What is stored of a shape, and the shape, if it makes one.
type Met<K> = (K, Option<ShapeId>);

impl<K> Default for RecentShapes<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K> RecentShapes<K> {
    /// The shape of a key with this hash, if it is cached.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_same: impl Fn(&K) -> bool) -> Option<Option<ShapeId>> {
        let mut pair = self.0.get(place(hash))?.iter().flatten();
        pair.find(|(known, _)| is_same(known)).map(|&(_, shape)| shape)
    }

    /// Adds a shape in the place of the older one of its pair.
    #[cold]
    pub(super) fn add(&mut self, hash: u64, key: K, shape: Option<ShapeId>) {
        self.0.resize_with(PAIRS, || [None, None]);
        let pair = &mut self.0[place(hash)];
        pair.swap(0, 1);
        pair[0] = Some((key, shape));
    }
}

#[inline]
fn place(hash: u64) -> usize {
    (hash >> (64 - PAIRS.ilog2())) as usize
}
