use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// A value of which few distinct ones exist among the rows of a trace.
pub trait Distinct: Copy + Eq + Hash {
    /// The value's place in a cache of recent values. Values that rows alternate between should differ in it.
    #[inline]
    fn slot(&self) -> usize {
        0
    }
}

impl Distinct for i64 {}
impl Distinct for Option<i64> {}

/// Distinct values, each stored once: rows have ids, which are positions.
#[derive(Debug, Clone, Default)]
pub struct Interned<T, I> {
    rows: Vec<T>,
    index: FxHashMap<T, I>,
    recent: [Option<I>; 32],
}

impl<T: Distinct, I: Copy + From<u32> + Into<u32>> Interned<T, I> {
    /// The id of `value`, which is added when it is new.
    #[inline]
    pub fn intern(&mut self, value: T) -> I {
        let slot = value.slot() % self.recent.len();
        if let Some(id) = self.recent[slot]
            && self.get(id) == value
        {
            return id;
        }
        let next = self.rows.len() as u32;
        let id = *self.index.entry(value).or_insert(I::from(next));
        if id.into() == next {
            self.rows.push(value);
        }
        self.recent[slot] = Some(id);
        id
    }

    /// The value behind `id`.
    #[inline]
    pub fn get(&self, id: I) -> T {
        self.rows[id.into() as usize]
    }

    /// All values, in the order of first appearance; an id is the position.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// Adds the values of `other`; the result maps its ids to those of `self`.
    pub fn append(&mut self, other: &Self) -> Vec<I> {
        other.rows.iter().map(|&value| self.intern(value)).collect()
    }
}

/// The values of a part of the rows, on top of those that parts before it have brought. These keep their ids; the ids of others
/// follow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overlay<T, I> {
    base: Arc<Interned<T, I>>,
    new: Interned<T, I>,
}

impl<T: Distinct, I: Copy + From<u32> + Into<u32>> Overlay<T, I> {
    /// The id of `value`, which is added when it is new.
    #[inline]
    pub(crate) fn intern(&mut self, value: T) -> I {
        match self.base.index.get(&value) {
            Some(&id) => id,
            None => I::from(self.base.rows.len() as u32 + self.new.intern(value).into()),
        }
    }

    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.base.rows.is_empty() && self.new.rows.is_empty()
    }

    /// Adds the new values to `all`, which begins with the base; the result maps the ids of this part to those of `all`.
    pub(crate) fn join(&self, all: &mut Interned<T, I>) -> Vec<I> {
        let base = (0..self.base.rows.len() as u32).map(I::from);
        base.chain(self.new.rows.iter().map(|&value| all.intern(value))).collect()
    }
}

/// The values that parts of the rows begin with. Each part then adds few: it saves the thread that joins them from looking up all.
#[derive(Debug, Default)]
pub(crate) struct Snapshot<T, I>(Mutex<Arc<Interned<T, I>>>);

impl<T: Distinct, I: Copy> Snapshot<T, I> {
    /// More values are not copied.
    const MOST: usize = 1 << 14;

    /// The values of a part that begins.
    pub(crate) fn overlay(&self) -> Overlay<T, I>
    where
        Interned<T, I>: Default,
    {
        let base = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Overlay { base, new: Interned::default() }
    }

    /// Parts begin with what `all` has now, if that is many more than before.
    pub(crate) fn update(&self, all: &Interned<T, I>)
    where
        Interned<T, I>: Clone,
    {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, now) = (known.rows.len(), all.rows.len());
        if now > before + before / 8 && now <= Self::MOST {
            *known = Arc::new(all.clone());
        }
    }
}

impl<T: PartialEq, I> PartialEq for Interned<T, I> {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::AgentId;

    proptest! {
        #[test]
        fn parts_that_know_some_values_give_the_same_ids_as_one_row_after_the_other(
            parts in prop::collection::vec(prop::collection::vec(0_i64..40, 0..30), 0..12),
            late in prop::collection::vec(any::<bool>(), 12),
        ) {
            let mut expected = Interned::<i64, AgentId>::default();
            let mut found = expected.clone();
            let known = Snapshot::default();
            // A part may begin before those in front of it have joined.
            let mut begun: Vec<Overlay<i64, AgentId>> = Vec::new();
            for (at, rows) in parts.iter().enumerate() {
                if begun.is_empty() {
                    let together = 1 + late[at..].iter().take_while(|&&late| late).count();
                    begun.extend((0..together).map(|_| known.overlay()));
                }
                let mut part = begun.remove(0);
                let ids: Vec<AgentId> = rows.iter().map(|&row| part.intern(row)).collect();
                let joined = part.join(&mut found);
                known.update(&found);
                let ids: Vec<AgentId> = ids.into_iter().map(|id| joined[id.index()]).collect();
                prop_assert_eq!(ids, rows.iter().map(|&row| expected.intern(row)).collect::<Vec<_>>());
            }
            prop_assert_eq!(found, expected);
        }
    }
}
