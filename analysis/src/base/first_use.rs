//! Keys numbered in the order of their first use.

use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// A map whose entries have positions.
pub(crate) type FirstUseMap<K, V> = IndexMap<K, V, FxBuildHasher>;

/// A set whose values have positions.
pub(crate) type FirstUseSet<K> = IndexSet<K, FxBuildHasher>;

/// The position of the entry with this key, which is added where it is missing.
pub(crate) fn position_of<K: Hash + Eq, V: Default>(map: &mut FirstUseMap<K, V>, key: K) -> usize {
    let entry = map.entry(key);
    let position = entry.index();
    entry.or_default();
    position
}

/// The distinct values, and for each value its position among them.
pub(crate) fn distinct<K: Hash + Eq>(values: impl Iterator<Item = K>) -> (FirstUseSet<K>, Vec<usize>) {
    let mut distinct = FirstUseSet::default();
    let positions = values.map(|value| distinct.insert_full(value).0).collect();
    (distinct, positions)
}
