//! A cache of launch shapes by what a row stores of them.

use crate::ShapeId;

/// The number of places.
const PLACES: usize = 1 << 10;

/// Cached shapes by key, four for each value of a hash's highest bits: most rows repeat one of those, for the cost of a comparison or two.
#[derive(Debug)]
pub(super) struct RecentShapes<K>(Vec<[Option<Met<K>>; 4]>);

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
        let mut cached = self.0.get(place(hash))?.iter().flatten();
        cached.find(|(known, _)| is_same(known)).map(|&(_, shape)| shape)
    }

    /// Adds a shape in the place of the oldest one there.
    #[cold]
    pub(super) fn add(&mut self, hash: u64, key: K, shape: Option<ShapeId>) {
        self.0.resize_with(PLACES, Default::default);
        let cached = &mut self.0[place(hash)];
        cached.rotate_right(1);
        cached[0] = Some((key, shape));
    }
}

#[inline]
fn place(hash: u64) -> usize {
    (hash >> (64 - PLACES.ilog2())) as usize
}
